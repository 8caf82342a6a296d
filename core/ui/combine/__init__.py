"""The page Combine: the plan of a round, an owner's part in it, and the release of all shares."""
