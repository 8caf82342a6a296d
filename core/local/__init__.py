"""Local reports: every person's own device randomises their answer, and the collector sees reports only.

Nobody is trusted. Each report is ε-private by itself, whatever the collector does with it, so nothing here is paid for
in a ledger: the promise is made to the person who reports, on the device where the answer is.
"""
