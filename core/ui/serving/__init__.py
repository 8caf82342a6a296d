"""How the app is started and how others reach it: who they are, what they may do, and what stewards approve."""
