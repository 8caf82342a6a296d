"""Choices among private scores and counts: the exponential mechanism, noisy maxima, thresholds, quantiles."""
