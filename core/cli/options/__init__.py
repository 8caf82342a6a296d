"""The options that several commands share: what is declared about the data, what is promised, and who pays.

Each group is a frozen dataclass; `grouped` turns its fields into options, and its methods turn what was typed into the
values of the library. Nothing heavy is imported before a method is called, so that help appears at once.
"""
