"""Questions that a released file answers by itself, at no further cost in privacy."""
