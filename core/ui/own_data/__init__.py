"""What pages about one's own data share: picking it, choosing the privacy of a release, and who pays for it."""
