"""Linear sketches: a public integer map of a record, summed, noised once, decoded for ever."""
