"""What released files answer, in sentences."""
