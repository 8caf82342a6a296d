"""The real mechanisms on public or made-up records: comparisons of methods, and the lessons of the app."""
