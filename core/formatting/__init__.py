"""Numbers and phrases as people read them, and foreign text where it must stay text; every room reads these."""
