"""This computer: threads, tables of counters in memory or mapped, compiled code, and checks of what strangers give."""
