"""Models that are trained under a promise: files of plain numbers that predict a column from others."""
