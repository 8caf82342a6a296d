"""The only part of the library that knows Streamlit: frame, session state and shared widgets."""
