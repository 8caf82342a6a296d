"""Heavy hitters: texts that many people have, found among far too many to ask about each."""
