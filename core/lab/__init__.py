"""The real mechanisms on public or made-up records: comparisons of methods, and the lessons of the app.

Errors are measured against the truth here, which is only ever done to data that is public. The source of randomness is
seeded, so that whoever repeats a comparison or a lesson sees the same, and a release made so says that it is not
private. `textbook_laplace` alone draws noise of its own, to show what is wrong with it; nothing below can reach it.
"""
