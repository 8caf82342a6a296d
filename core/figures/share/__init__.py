"""What is published of a release: one HTML file that people ask without Python, and papers for registries."""
