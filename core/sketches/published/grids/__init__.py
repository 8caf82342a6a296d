"""Rivals that count people in the cells of a public grid."""
