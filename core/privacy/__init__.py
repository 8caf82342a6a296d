"""What is promised, what it costs, and the only place where noise is drawn."""
