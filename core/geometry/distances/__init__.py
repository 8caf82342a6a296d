"""Sums of distances along one coordinate: profiles, linear splines, and the strategies that release them."""
