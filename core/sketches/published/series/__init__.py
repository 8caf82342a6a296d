"""Rivals that describe the whole curve by waves or polynomials, whose strengths get noise."""
