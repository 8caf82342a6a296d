"""What pages about released files share: opening and keeping them, asking them, and taking answers along."""
