"""Every claim of accuracy beside every library that installs, on data that nobody here chose."""
