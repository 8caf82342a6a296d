"""What every page is made with: the list of pages, the look, marks, charts, and the visitor's session."""
