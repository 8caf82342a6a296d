"""How far two attributes are from independent, as a score for private choices: PrivBayes' R, in counts.

For a joint table c of n records with row sums r and column sums q,

    f(c) = sum over cells of |c - r q / n|  =  2 n R,

R being the paper's score, half the L1 distance between the joint distribution and the product of its own marginals
(Zhang et al. 2017). The paper scores R itself, whose sensitivity 3/n + 2/n² supposes that n is public. f moves by a
constant, so it serves where n is private too:

* one record more: f moves by at most 4 n / (n + 1) < 4. With e the new record's cell, and r e, q e for its column with
  the old row sums and its row with the old column sums, the table c - r q / n changes by
  e n / (n + 1) + r q / (n (n + 1)) - (r e + q e) / (n + 1), whose four terms have L1 norms n / (n + 1) each. A record
  in a row and a column of its own, next to records that are all in one cell, reaches it.
* one record replaced: f moves by less than 6. f / (2 n) is the distance in total variation of the joint distribution
  and the product; the joint distribution moves by 1/n and the product by 1 - (1 - 1/n)² at most, so f moves by 6 - 2/n.
  That is 2 n times 3/n - 1/n², where the paper has 3/n + 2/n². Tables of three by three come as close to 6 as one likes
  as n grows. Where one of the two records is left out, f moves by less than 4, as above.

Whole numbers: the score is floor(SCALE f). As |a - b| <= D for a whole number D gives |floor a - floor b| <= D,
rounding costs nothing.
"""

from __future__ import annotations

import numpy as np

from ....privacy.neighbours import Neighbours

SCALE = 1 << 8
"""Parts of a record in which scores are counted."""
LARGEST_PRODUCT = 1 << 61


def dependence(joint: np.ndarray) -> int:
    """floor(SCALE f) of a joint table of counts, exact.

    Parameters
    ----------
    joint : np.ndarray
        int64 (rows, columns), not negative; one axis is an attribute, the other all combinations of its parents.
    """
    records = int(joint.sum())
    if records == 0:
        return 0
    if 2 * records * records >= LARGEST_PRODUCT:
        joint = joint.astype(object)  # Python's whole numbers, which have no end
    products = joint.sum(axis=1)[:, None] * joint.sum(axis=0)[None, :]
    return SCALE * int(np.abs(records * joint - products).sum()) // records


def dependence_sensitivity(neighbours: Neighbours) -> int:
    """How far one record moves `dependence`; the proof is at the top."""
    return SCALE * (4 if neighbours is Neighbours.ADD_REMOVE else 6)
