"""The Train page: a model of one's own records, trained once under a promise, or opened from a file."""
