"""Serving the app to others: who they are, what they may do, and what was done. Nothing in here knows Streamlit."""
