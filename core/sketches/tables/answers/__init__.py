"""What a release of tables says: two kinds of answers, which are never mixed.

`TableAnswers` gives unbiased answers with intervals, for conclusions: counts, tables, shares, means, sums, quantiles,
and how strongly columns hang together. Each is a pandas frame with the columns `estimate`, `low` and `high` (and
`standard_error`) beside its keys.

`TableGuess` gives the best guess: counts that are not negative and agree with each other, of any columns, those
that were not measured together included. It errs less in small cells, and has no interval.
`GuessedAnswers` puts the guess about such columns between the bounds that the measured tables set.
"""

from .guessed_answers import GuessedAnswers
from .table_answers import TableAnswers, TableGuess

__all__ = ["GuessedAnswers", "TableAnswers", "TableGuess"]
