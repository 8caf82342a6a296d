"""Sums of the products of all columns, which every regression of any of them on others is read off."""
