"""Replay: a release is made twice, of two neighbours, with one tape of draws, and compared exactly."""
