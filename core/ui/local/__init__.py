"""The page Local reports: make a poll, be one person, be the collector."""
