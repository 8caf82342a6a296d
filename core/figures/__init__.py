"""Pure functions from answers to Plotly figures."""
