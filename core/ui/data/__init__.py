"""The page Data: where records come from, and what is declared public about them."""
