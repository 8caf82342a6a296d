"""Kernels, hashes, projections and distances: public mathematics that knows nothing of data or privacy."""
