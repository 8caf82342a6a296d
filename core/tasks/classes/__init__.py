"""Questions to a release that tells classes apart."""
