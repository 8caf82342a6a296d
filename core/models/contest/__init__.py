"""Which classifier? Several compete for a column of classes under one promise; the best on held-out records is kept."""
