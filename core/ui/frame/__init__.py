"""What surrounds every page: its settings, navigation, look, marks, and the visitor's session."""
