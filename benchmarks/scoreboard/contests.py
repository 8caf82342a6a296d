"""What is asked in the scoreboard: our first answer, what others are given, and how far an answer is from the truth.

Nothing is tuned to a set: ours is what a stranger gets who says what is public and leaves all else as it is. Errors are
of records that are there (models: of a held-out third), the smaller the better.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from core import Budget, Categorical, Domain, Moments, Numeric, private_quantiles, recommend, release, train
from core.analysis.centres import find_centres
from core.geometry import kernels
from core.lab.comparison_plan import METHODS
from core.lab.comparison_trials import PublicData, of_points, released, run_trial
from core.local.oracle_choice import outlooks, recommended
from core.local.post_processing import norm_sub, processed
from core.models.training_task import Task
from core.privacy.calibration import largest_rho
from core.releases.forecast.recommendation import Closeness, Distances
from core.sources import open_source

from .cut_contests import REAL, pairs, samples
from .fetched_sets import FetchedSet
from .rounds import Contest, Draw, Round, Told

FINE = 1 << 20
VALUES, PEOPLE = 64, 5_000
BANDWIDTH = 0.1
"""Of kernel sums, as a share of the bounds."""


def promised(budget: Budget) -> dict[str, object]:
    """The promise in everybody's words."""
    epsilon, delta = float(budget.epsilon), float(budget.delta)
    return {"epsilon": epsilon, "delta": delta, "rho": largest_rho(epsilon, delta) if delta else None}


def domain_of(fetched: FetchedSet, names: list[str] | None = None, **how: object) -> Domain:
    """The public facts about some columns, or all."""
    numbers = [Numeric(name, *ends, step=1 if fetched.whole(name) else 0) for name, ends in fetched.numbers.items()]
    columns = [*numbers, *(Categorical(name, known) for name, known in fetched.categories.items())]
    return Domain(tuple(column for column in columns if names is None or column.name in names), **how)


def _numbers(fetched: FetchedSet) -> np.ndarray:
    return fetched.records[list(fetched.numbers)].to_numpy(float)


def _queries(fetched: FetchedSet, contest: str) -> dict[str, object]:
    whole = [fetched.whole(name) for name in fetched.numbers]
    return {"contest": contest, "bounds": list(fetched.numbers.values()), "whole": whole, "most": 100_000}


def medians(fetched: FetchedSet) -> Round:
    """Of all columns of numbers, for one price."""
    values = np.sort(_numbers(fetched), axis=0)

    def rank_error(answer: np.ndarray) -> float:
        off = []
        for column, told in zip(values.T, answer, strict=True):
            least, most = (np.searchsorted(column, told, side) / len(column) for side in ("left", "right"))
            off.append(max(least - 0.5, 0.5 - most, 0.0))
        return float(np.mean(off))

    def ours(budget: Budget, draw: int) -> tuple[float, None]:
        domain = domain_of(fetched, list(fetched.numbers))
        bought = private_quantiles(fetched.records, domain, budget)
        return rank_error(np.array([one.value for one in bought])), None

    given = {"numbers": _numbers(fetched)}
    return Round({"frostglass": ours}, given, _queries(fetched, "medians"), rank_error)


def means(fetched: FetchedSet) -> Round:
    """Of all columns of numbers, for one price."""
    exact = _numbers(fetched).mean(axis=0)
    ranges = np.array([high - low for low, high in fetched.numbers.values()])

    def off(answer: np.ndarray) -> float:
        return float(np.mean(np.abs(np.asarray(answer) - exact) / ranges))

    def ours(budget: Budget, draw: int) -> tuple[float, None]:
        domain = domain_of(fetched, list(fetched.numbers), scale="box")
        told = find_centres(release(Moments(domain), fetched.records, budget))[0].position
        return off(np.array([float(told[name]) for name in fetched.numbers])), None

    return Round({"frostglass": ours}, {"numbers": _numbers(fetched)}, _queries(fetched, "means"), off)


def classes(fetched: FetchedSet) -> Round:
    """The last column of categories from all others."""
    label = list(fetched.categories)[-1]
    known = np.array(fetched.categories[label])
    return _models(fetched, "classes", label, lambda told, true: np.asarray(told) != true, lambda codes: known[codes])


def numbers(fetched: FetchedSet) -> Round:
    """The last column of numbers from all others."""
    label = list(fetched.numbers)[-1]
    low, high = fetched.numbers[label]
    values = fetched.records[label].to_numpy(float)
    spread = values[~fetched.training].var()

    def wrong(told: np.ndarray, true: np.ndarray) -> np.ndarray:
        return (np.asarray(told, float) - true) ** 2 / spread

    return _models(fetched, "numbers", label, wrong, lambda units: low + (np.asarray(units) + 1) / 2 * (high - low))


def _models(fetched: FetchedSet, contest: str, label: str, wrong: Callable, named: Callable) -> Round:
    domain = domain_of(fetched)
    learnt, held = (fetched.records[part].reset_index(drop=True) for part in (fetched.training, ~fetched.training))
    truth = held[label].to_numpy()
    task = Task(domain, label)
    encoded = [
        task.encoded(np.concatenate([domain.encode(batch) for batch in open_source(part).batches(domain)]), FINE)
        for part in (learnt, held)
    ]
    points, asked = (part[0][:, 1:] / FINE for part in encoded)
    goals = encoded[0][1] if contest == "classes" else encoded[0][1] / FINE

    def ours(budget: Budget, draw: int) -> tuple[float, None]:
        model = train(learnt, label, domain, budget, records=len(learnt))
        told = model.predict(held.drop(columns=label))["predicted"].to_numpy()
        return float(wrong(told, truth).mean()), None

    def boosted(budget: Budget, draw: int) -> tuple[float, None]:
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

        kind = HistGradientBoostingClassifier if contest == "classes" else HistGradientBoostingRegressor
        told = kind(random_state=draw).fit(points, goals).predict(asked)
        return float(wrong(named(told), truth).mean()), None

    def error(told: np.ndarray) -> float:
        return float(wrong(named(np.asarray(told, int if contest == "classes" else float)), truth).mean())

    flags = [bool(set(np.unique(column)) <= {0.0, 1.0}) for column in points.T]
    facts = {"contest": contest, "reach": float(task.reach), "flags": flags}
    given = {"points": points, "goals": goals, "asked": asked}
    return Round({"frostglass": ours, "boosting without privacy": boosted}, given, facts, error)


def densities(fetched: FetchedSet) -> Round:
    """Sums of a Gaussian kernel over the first two columns of numbers, at held-out records."""
    return _sums(fetched, Closeness(kernels.Gaussian(BANDWIDTH)), 2)


def distances(fetched: FetchedSet) -> Round:
    """Sums of L1 distances over the first three columns of numbers, at held-out records."""
    return _sums(fetched, Distances("l1"), 3)


def _sums(fetched: FetchedSet, question: Closeness | Distances, columns: int) -> Round:
    names = list(fetched.numbers)[:columns]
    domain = domain_of(fetched, names, scale="box")
    ends = np.array([fetched.numbers[name] for name in names])
    points = (fetched.records[names].to_numpy(float) - ends[:, 0]) / (ends[:, 1] - ends[:, 0])
    data = of_points(fetched.name, domain, question, points)

    def ours(budget: Budget, draw: int) -> tuple[float, Told]:
        name, promised = _first(fetched, question, domain, budget, len(data.records))
        told = released(data, METHODS[name], None, budget, draw).answer_points(data.queries)
        off = np.abs(told.estimate - data.truth)
        over = float(np.sqrt(np.mean(off**2))) / promised
        inside = float(np.mean((told.low <= data.truth) & (data.truth <= told.high)))
        return float(np.mean(off / data.truth)), Told(over, inside)

    def by(name: str) -> Draw:
        return lambda budget, draw: (run_trial(data, METHODS[name], None, budget, draw).relative_error, None)

    rivals = [name for name in METHODS if METHODS[name].card.rival and _can(METHODS[name], data)]
    return Round({"frostglass": ours, **{name: by(name) for name in rivals}})


def _can(method: object, data: PublicData) -> bool:
    budgets = (Budget(1), Budget(1, "1e-6"))
    return any(method.refusal(data.domain, data.question, budget) is None for budget in budgets)


@lru_cache(maxsize=64)
def _first(fetched: FetchedSet, question: object, domain: Domain, budget: Budget, records: int) -> tuple[str, float]:
    best = recommend(domain, records, budget, question)[0]
    return best.name, best.outlook.standard_error


def reports(fetched: FetchedSet) -> Round:
    """How many give each of 64 answers, by a report of everybody; the answers are the first number in equal bins."""
    name = next(iter(fetched.numbers))
    low, high = fetched.numbers[name]
    share = (fetched.records[name].to_numpy(float)[:PEOPLE] - low) / (high - low)
    answers = np.clip((share * VALUES).astype(int), 0, VALUES - 1)
    exact = np.bincount(answers, minlength=VALUES)

    def off(told: np.ndarray) -> float:
        return float(np.sqrt(np.mean((told - exact) ** 2)) / len(answers))

    def ours(budget: Budget, draw: int) -> tuple[float, None]:
        one = recommended(outlooks(VALUES, len(answers), budget.epsilon)).oracle
        told = one.estimate(one.aggregate(one.privatise(answers)))
        error = np.full(VALUES, np.sqrt(one.typical_variance(len(answers))))
        return off(processed(told, len(answers), "shrunk", error)), None

    def theirs(told: np.ndarray) -> float:  # made to add up, which takes nothing from them
        return off(norm_sub(np.asarray(told, float), len(answers), np.zeros(VALUES)))

    return Round({"frostglass": ours}, {"answers": answers}, {"contest": "reports", "values": VALUES}, theirs)


QUERIES = {"OpenDP": "opendp", "Tumult": "tumult", "diffprivlib": "diffprivlib"}
MODELS = {"diffprivlib models": "diffprivlib", "DP-EBM": "ebm"}
ORACLES = ("pure-ldp de", "pure-ldp oue", "pure-ldp olh", "pure-ldp hr", "multi-freq-ldpy grr", "multi-freq-ldpy oue")
RECORDS = {"SmartNoise mst": "smartnoise", "SmartNoise aim": "smartnoise"}
ONE_EPSILON = frozenset({"diffprivlib", "diffprivlib models"})
SLOW = frozenset({"Tumult", "AIM (mbi)", "SmartNoise aim"})
NO_PROMISE = frozenset({"boosting without privacy", REAL})
CONTESTS = (
    Contest("medians", "mean error of ranks", medians, QUERIES, ONE_EPSILON, slow=SLOW),
    Contest("means", "mean error as a share of the range", means, QUERIES, ONE_EPSILON, slow=SLOW),
    Contest(
        "pairs",
        "mean total variation distance of all pairs",
        pairs,
        RECORDS,
        loose=frozenset({*RECORDS, "AIM (mbi)"}),
        slow=SLOW,
    ),
    Contest(
        "samples",
        "share wrong of a held-out third, by models of made-up records",
        samples,
        RECORDS,
        loose=frozenset(RECORDS),
        without=NO_PROMISE,
        slow=SLOW,
    ),
    Contest(
        "classes", "share wrong of a held-out third", classes, MODELS, ONE_EPSILON, frozenset({"DP-EBM"}), NO_PROMISE
    ),
    Contest(
        "numbers",
        "squared error on a held-out third, as a share of the variance",
        numbers,
        MODELS,
        ONE_EPSILON,
        frozenset({"DP-EBM"}),
        NO_PROMISE,
    ),
    Contest("densities", "mean relative error", densities),
    Contest("distances", "mean relative error", distances),
    Contest(
        "local reports",
        "root mean square error of shares that add up",
        reports,
        dict.fromkeys(ORACLES, "ldp"),
        frozenset(ORACLES),
        deltas=False,
    ),
)
