"""The headings under which help shows the options."""

DATA, SKETCH, PROMISE, GUESS, PAYER = "The data, in public", "The sketch", "The promise", "Public guesses", "The budget"
CLOSENESS, DISTANCE, SIZE = "Closeness", "Distance", "Size and seed"
CLASSES, REDUCTION, SETS = "One table a class", "Many dimensions", "Sets"
TABLES = "Tables of counts"
