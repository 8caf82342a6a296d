"""Where records come from: files, databases, object stores and tables in memory, as streams of record batches.

Nothing of the values leaves a source but the batches themselves: no count, no range, no value in an error message.
"""

from .source import ColumnInfo, Source, Upload
from .source_opening import FileReading, open_source

__all__ = ["ColumnInfo", "FileReading", "Source", "Upload", "open_source"]
