"""How good a release will be, from public facts alone, and which mechanism to choose."""
