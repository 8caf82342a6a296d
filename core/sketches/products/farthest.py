"""How far one record moves sums of products, in L1 and in squared L2 norm.

Let q coordinates be numbers y_i in [-1, 1] and c columns be categories. In units of U², a record adds to its table v

    1;  y_i;  y_i y_j (i < j);  y_i²;  and for each column's category: 1, y_i, and 1 with each other column's category.

There are P = 1 + q + c + C(q+c, 2) + q entries that may differ from zero, each at most 1 in size, and all of size 1 for
a record in a corner of the bounds.

**Add or remove one.** L1 = L2² = P, reached by every record in a corner.

**Replace one** by a record v' with numbers y'. Let m of the columns have the same category in both.

*L2².* Apart from the squares y_i², every entry of v is linear in y_i for fixed others. Their part of |v - v'|² is
therefore a quadratic in y_i whose leading coefficient is a sum of squares, so convex, and alike in y'_i; so its largest
value is at some corner. The squares add (y_i² - y'_i²)² <= 1 each. Where there is a column of categories this is not
needed: the whole of |v - v'|² has the second derivative 2 A + 12 y_i² - 4 y'_i² in y_i, where A counts, among others,
the entries y_i and y_i with that category, so A >= 2 and it is convex; the largest value is at a corner, where squares
are all 1 and do not differ.

At corners |v|² = |v'|² = P. Of the numbers let k have opposite signs, and let t = 1 + q - 2k + m, the inner product of
(1, numbers, categories). The sum of z_i z'_i z_j z'_j over all i <= j is (t² + 1 + q + m)/2, m of which are squares of
categories, which are not in the table. So <v, v'> = (t² + 1 + q - m)/2, and |v - v'|² = 2P - (t² + 1 + q - m), whose
largest value over k and m is found by trying all.

*L1.* Every entry but the squares is linear in y_i, so its |difference| is convex and the sum is largest at a corner;
squares add 1 each at most. At a corner the entries differ by: 2 for each of k numbers; 2 for each of k(q-k) pairs of
numbers of which one has changed its sign; 2 for each of c-m columns with another category, and for each of the
C(c,2) - C(m,2) pairs of columns of which one has; and in the c q blocks of category and number by 2 where the category
has changed, and by 2 where it has not and the number has.

A replaced record may also be left out, or one come in for it that was left out, which moves what removing it does; P is
never more than the other bounds but for the smallest of tables, so the larger of the two is taken.
"""

from __future__ import annotations

import math

from ...privacy.neighbours import Neighbours, Sensitivity
from .layout import Layout


def farthest(layout: Layout, neighbours: Neighbours, unit: int) -> Sensitivity:
    """The sensitivity of a table whose entries are products of two whole numbers of at most ``unit`` each.

    The numbers between -unit and unit are rounded ones, of which everything that was said of y_i holds.
    """
    q, c = layout.numbers, layout.labels
    entries = 1 + 2 * q + c + math.comb(q + c, 2)
    l1 = l2_squared = entries
    if neighbours is Neighbours.REPLACE_ONE:
        cases = [(k, m) for k in range(q + 1) for m in range(c + 1)]
        l1 = max(l1, q + max(_moved(q, c, k, m) for k, m in cases))
        apart = max(2 * entries - ((1 + q - 2 * k + m) ** 2 + 1 + q - m) for k, m in cases)
        l2_squared = max(l2_squared, apart + (0 if c else q))
    area = unit**2
    longest = math.isqrt(l2_squared * area**2 - 1) + 1
    return Sensitivity(l1 * area, l2_squared * area**2, block=layout.size, blocks_l2=longest)


def _moved(q: int, c: int, k: int, m: int) -> int:
    """The L1 norm between corners where k numbers and all but m categories differ."""
    numbers = k + k * (q - k)
    labels = c - m + math.comb(c, 2) - math.comb(m, 2)
    return 2 * (numbers + labels + (c - m) * q + m * k)
