"""How one value is reported, of a list (frequency oracles) or of any text (sketches), and how reports become counts."""
