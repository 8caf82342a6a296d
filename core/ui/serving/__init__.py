"""The app as others reach it: what stands between the network and Streamlit, and how it is started."""
