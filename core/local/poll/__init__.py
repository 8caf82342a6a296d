"""Polls of a class: students answer on their phones, whose browsers flip the coins, and only reports travel."""
