"""Which program made a release."""

VERSION = "0.1.0"
SOFTWARE = f"Frostglass {VERSION}"
