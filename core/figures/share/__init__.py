"""One HTML file of a release that people ask without Python and without a network."""
