"""Tables of counts with optimal noise: any set of small tables of the columns, measured by what each adds to others."""
