"""Per-class tables as one privacy unit: a sketch for every class of a labelled table, released under one promise.

Records of different classes go to different slabs of one table. A person who is added or removed touches one slab
only, so every class gets the whole budget (parallel composition, McSherry 2009); a person who is replaced may move from
one slab to another, which the sensitivity below accounts for. All slabs share the public random numbers of one inner
sketch: then their sum is that sketch of all records, classes are compared by the same hashes, and errors that they have
in common cancel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, cast

import numpy as np
import pyarrow as pa

from ..domain import Categorical, Cyclic, Domain
from ..domain.item_sets import Encoded
from ..errors import RequestError
from ..formatting.numbers import listed
from ..geometry.kernels import Bandwidth
from ..privacy.budget import Budget, Neighbours, Sensitivity
from ..runtime.counter_tables import Counters, Integers, sum_of_slabs
from ..runtime.parameters import Several, Text, check_choice, check_integer, parameter
from .answers import Answers
from .linear import Counts, LinearSketch, Rows, rows_of
from .mechanism_spec import MechanismSpec
from .part import InnerKind, Slabs, of_inner
from .registry import card_of, sketch_from_parameters

MOST_NAMED = 64  # Classifiers that a file names as those it was chosen among.


@dataclass(frozen=True)
class Classes(Slabs):
    """One slab of counters a class, each filled by the same sketch with the records of its class.

    RequestError when the label is not a column of categories, the inner sketch is of another domain or has classes
    itself, or the rule is none of its rules.

    Parameters
    ----------
    domain : Domain
        The public facts about the records, the class among them.
    label : str
        The name of a column of categories, the public list of K classes.
    inner : LinearSketch
        Any sketch on `domain` without that column.
    rule : str | None
        The rule of decision that it is to be read by, where one was chosen; None for the usual one.
    among : tuple[str, ...]
        What it was chosen among on held-out records, under the promise of the file; nothing where it was not chosen.
    """

    domain: Domain
    label: str = parameter(Text("The name of the column of classes"))
    inner: LinearSketch = parameter(InnerKind("The sketch of one class", LinearSketch))
    rule: str | None = parameter(Text("The rule of decision"), None)
    among: tuple[str, ...] = parameter(Several("What was chosen from", Text("A classifier"), 0, MOST_NAMED), ())
    name: ClassVar[str] = "classes"
    described: ClassVar[str] = "sketch of classes"
    apart: ClassVar[str] = "label"

    def _check(self) -> None:
        if not isinstance(self.domain, Domain):
            raise RequestError("Classes are made of a domain, the name of its column of classes, and a sketch.")
        column = next((column for column in self.domain.columns if column.name == self.label), None)
        if not isinstance(column, Categorical) or isinstance(column, Cyclic):
            raise RequestError("The label must be a column of categories of the domain: the public list of classes.")
        if self.inner.count_shape:
            raise RequestError("The sketch of one class cannot have classes itself.")
        if self.inner.domain != self.domain.without(self.label):
            raise RequestError("The sketch of one class must be of the domain without the column of classes.")
        if self.rule is not None:
            check_choice(self.rule, "The rule", self.inner.class_rules)

    @classmethod
    def of(cls, domain: Domain, label: str, inner: LinearSketch) -> Self:
        """Classes that are read by the rule that suits new tables; files say theirs, and older ones keep the first."""
        return cls(domain, label, inner, inner.read_by)

    @property
    def label_column(self) -> Categorical:
        return cast(Categorical, self.domain.columns[self.domain.names.index(self.label)])

    @property
    def categories(self) -> tuple[str, ...]:
        """The K classes, in the order of the slabs."""
        return self.label_column.categories

    @property
    def count_share(self) -> Fraction:  # type: ignore[override]
        return self.inner.class_count_share

    earlier: ClassVar[Mapping[str, Any]] = {"rule": None, "among": []}
    reads_mapped = of_inner("reads_mapped")
    answers = of_inner("answers")
    largest_entry = of_inner("largest_entry")
    counter_type = of_inner("counter_type")
    distance_norm = of_inner("distance_norm")
    open_bandwidth = of_inner("open_bandwidth")
    bandwidths = of_inner("bandwidths")

    @property
    def count_shape(self) -> tuple[int, ...]:
        return (len(self.categories),)

    def sized_for(self, budget: Budget, records: float) -> Self:
        return self.with_inner(self.inner.sized_for(budget, records / len(self.categories)))

    @property
    def one_answer(self) -> tuple[LinearSketch, float]:
        return self.inner, 1.0 / len(self.categories)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.categories

    @property
    def class_column(self) -> str:
        return self.label

    @property
    def class_rules(self) -> tuple[str, ...]:
        rules = self.inner.class_rules
        return rules if self.rule is None else (self.rule, *(rule for rule in rules if rule != self.rule))

    def smoothed(self, bandwidth: Bandwidth) -> Classes:
        return replace(self, inner=self.inner.smoothed(bandwidth))

    def suited(self, table: Counters, records: Counts, counter_variance: float) -> Classes:
        """With the bandwidth that suits all classes together, as they are compared with each other."""
        everyone, of_all = sum_of_slabs(table), counter_variance * len(self.categories)
        return replace(self, inner=self.inner.suited(everyone, float(np.sum(records)), of_all))

    def with_rows(self, rows: int, groups: int | None = None, seed: int | None = None) -> Self:
        """The same with that many rows a class, where the inner sketch is one of rows; see `GroupedSketch`."""
        return self.with_inner(self.inner.with_rows(rows, groups, seed))

    def index_of(self, which: object) -> int:
        """The slab of a class, named or numbered; RequestError where there is none."""
        if isinstance(which, str):
            if which not in self.categories:
                raise RequestError(f"There is no class {which!r}; the classes are {', '.join(self.categories)}.")
            return self.categories.index(which)
        return check_integer(which, "The number of a class", 0, len(self.categories) - 1)

    def encode(self, batch: pa.RecordBatch) -> Encoded:
        """Rows where the inner sketch takes them and no record is left out, so that vectors are never copied."""
        rows = rows_of(self.inner.domain, batch) if self.inner.takes_rows else None
        if rows is not None and batch.schema.get_field_index(self.label_column.field) >= 0:
            codes, _ = self.label_column.coded(batch.column(self.label_column.field))
            if (codes >= 0).all():
                return Rows(rows.coordinates, codes.astype(np.int64))
        return super().encode(batch)

    def add(self, table: np.ndarray, points: np.ndarray | Rows) -> None:
        if isinstance(points, Rows):
            self.inner.add_rows(table, points)
            return
        codes = self.codes(points)
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(self.categories)))
        unlabelled = self.unlabelled(points)
        for slab, part in zip(table, np.split(order, ends[:-1]), strict=True):
            if len(part):
                self.inner.add(slab, np.asfortranarray(unlabelled[part]))

    def count(self, points: np.ndarray | Rows) -> np.ndarray:
        codes = points.slabs if isinstance(points, Rows) else self.codes(points)
        return np.bincount(codes, minlength=len(self.categories)).astype(np.int64)

    def record_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One record touches one slab; a replaced one leaves a slab and enters the same or another.

        Let a record move the inner sketch by L1 <= a and L2 squared <= b when added or removed, and by L2 squared <= c
        when replaced.

        Add or remove: one slab moves as the inner sketch does, so a and b; reached wherever the inner sketch reaches
        them. Blocks of counters (rows of a RACE) are those of all slabs together, and move as they do in one.

        Replace: what the old record added goes, what the new one adds comes, at most a each, so L1 <= 2a; in any block
        that moves by a / parts at most, by twice that. A record that changes nothing but its class, from one slab to
        another, reaches it. In the squared L2 norm, two slabs are orthogonal: 2b for a record that changes its class,
        reached likewise; c for one that does not. The larger of both holds for all. A record that is replaced by one
        that is left out, moves less. Shifts are -1, 0 and 1 if they are so in either case.

        Several records a person, in one class or in many: norms of sums are at most sums of norms, which
        `Sensitivity.scaled` states, and equal records of one class reach it.
        """
        added = self.inner.record_sensitivity(Neighbours.ADD_REMOVE)
        if neighbours is Neighbours.ADD_REMOVE:
            return added
        replaced = self.inner.record_sensitivity(Neighbours.REPLACE_ONE)
        return Sensitivity(
            2 * added.l1,
            max(2 * added.l2_squared, replaced.l2_squared),
            parts=added.parts,
            unit_shifts=added.unit_shifts and replaced.unit_shifts,
            block=added.block,
            blocks_l2=None if added.blocks_l2 is None else 2 * added.blocks_l2,
        )

    def record_count_sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        """One count moves by 1 for an added or removed record, two do for one replaced by one of another class."""
        moved = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(moved, moved, unit_shifts=True)

    def exact(self, queries: np.ndarray, records: np.ndarray) -> np.ndarray:
        return self.inner.exact(queries, self.unlabelled(records))

    def answer(
        self, table: Counters, records: Counts, points: Encoded, counter_variance: float, level: float
    ) -> Answers:
        """Sums over the records of all classes: the slabs add up to the inner sketch of all, with the noise of each."""
        noise = len(self.categories) * counter_variance
        return self.inner.answer(sum_of_slabs(table), float(np.sum(records)), points, noise, level)

    def noise_variance(self, counter_variance: float, points: np.ndarray | None = None) -> float | np.ndarray:
        return self.inner.noise_variance(len(self.categories) * counter_variance, points)

    @classmethod
    def from_parameters(cls, domain: Domain, parameters: object) -> Self:
        facts = cls.read(parameters)
        label, inner = facts["label"], facts["inner"]
        if inner["mechanism"] == cls.name:
            raise RequestError("The sketch of one class cannot have classes itself.")
        made = sketch_from_parameters(inner["mechanism"], domain.without(label), inner["parameters"])
        return cls(domain, label, made, facts["rule"], facts["among"])

    @cached_property
    def _labelled(self) -> np.ndarray:
        """Which coordinates of an encoded record say its class, bool (dimensions,)."""
        return np.repeat([name == self.label for name in self.domain.names], [c.width for c in self.domain.columns])

    def codes(self, points: np.ndarray) -> np.ndarray:
        """The class of each encoded record, int64 (n,): its one coordinate that is raised."""
        codes: Integers = points[:, self._labelled].argmax(axis=1)
        return codes

    def unlabelled(self, points: np.ndarray) -> np.ndarray:
        """Encoded records without their class, (n, dimensions of `inner.domain`)."""
        return points[:, ~self._labelled]


CARD = MechanismSpec(
    "classes",
    "A table a class",
    "McSherry 2009",
    "Records of every class are summed apart, and every class has the whole budget.",
    sketch=Classes,
    command=False,
    holds=lambda sketch: (
        f"a table for each of {len(sketch.categories):,} classes, with {card_of(sketch.inner).holds(sketch.inner)} each"
        + (f", chosen on held-out records among {listed(sketch.among)}" if sketch.among else "")
    ),
)
