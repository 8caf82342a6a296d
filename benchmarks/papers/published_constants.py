"""What promises with wrong published constants really keep: the epsilon that is said, and the one that holds.

Three are in the papers that `training` and `regressions` are of. None is private as it says, and none takes part there
as it was published.

* **DP-SGD** (S&P 2019, and the code beside it): noise of deviation 4 L √(T log(1/δ))/(n ε) on the mean slope of 50 of n
  records, in each of T steps. That closed form leaves out how few records a step has. Counted here is the least that
  privacy loss distributions allow for one record added or removed and Poisson samples of the same rate; the paper
  replaces records, and loses more. n and δ = 1/n² are those of Adult.
* **Huber's SVM** (the same): its hinge of width 2h = 0.2 curves by L²/(2h) = 5 L², where the constants have L². The
  part of ε that pays for the change of volume is five times what was set aside for it, by the paper's own inequality.
* **Sufficient statistics** (AdaSSP's appendix): two sums with Gaussian noise of √log(4/δ)/ε times their sensitivity
  each.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism
from scipy.optimize import brentq

from core.privacy.integer_shifts import gaussian_delta

from .pictures import Claim, Picture, Section, lines_figure, of_repetitions
from .work import DONE, EPSILONS, Record, Settings, Work

NAME = "constants"
MEMORY = 1 << 30
BATCH, STEPS = 50, (100, 1_000)
"""Records a step, and the fewest and most steps of the paper's search."""
RECORDS, DELTA = 36_178, 1e-6
"""Adult's training part, and the δ of the sums."""
FINEST = 1e-4
"""How finely losses are counted, in those of one deviation."""
CURVATURE = 5.0
"""β of Huber's hinge over that of the constants."""


def sampled_descent(epsilon: float, steps: int) -> float:
    """What DP-SGD's closed form keeps at least where it says epsilon."""
    delta = RECORDS**-2.0
    noise = 4.0 * BATCH * math.sqrt(steps * math.log(1.0 / delta)) / (RECORDS * epsilon)
    loss = from_gaussian_mechanism(
        noise,
        sampling_prob=BATCH / RECORDS,
        pessimistic_estimate=False,
        use_connect_dots=False,
        value_discretization_interval=FINEST / noise,
    )
    return float(loss.self_compose(steps).get_epsilon_for_delta(delta))


def hinge(epsilon: float) -> float:
    """What the hyper-parameter-free SVM keeps by the paper's own proof where it says epsilon."""
    first = 0.99 * epsilon
    share = max(min(0.88671 + 0.0186607 / epsilon**0.372906, 0.99), 1.0 - 1.0 / epsilon + 0.001)
    return epsilon + (CURVATURE - 1.0) * (1.0 - share) * first


def two_sums(epsilon: float) -> float:
    """What two sums keep where they say (epsilon, 10⁻⁶)."""
    length = math.sqrt(2.0 / math.log(4.0 / DELTA)) * epsilon
    return float(brentq(lambda kept: gaussian_delta(kept, length) - DELTA, 0.0, 100.0 * epsilon))


WAYS: dict[str, tuple[str, Callable[[float], float]]] = {
    **{
        f"dp-sgd-{steps}": (f"DP-SGD, {steps:,} steps", lambda said, steps=steps: sampled_descent(said, steps))
        for steps in STEPS
    },
    "svm": ("Huber's SVM", hinge),
    "ssp": ("Sufficient statistics", two_sums),
}
"""Title, and what is kept where an epsilon is said, by key."""


def first(settings: Settings) -> list[Work]:
    """Every promise once, as nothing is drawn."""
    return [
        Work(NAME, "promises", method, None, epsilon, "0", 0, False, settings.quick)
        for method in WAYS
        for epsilon in settings.epsilons(EPSILONS)
    ]


def measure(work: Work, settings: Settings) -> dict:
    """The epsilon that is kept."""
    return {"kept": WAYS[work.method][1](float(work.epsilon))}


def section(settings: Settings, records: list[Record]) -> Section:
    """A curve for each, and what is said and kept at ε = 1."""
    kept: dict[str, dict[float, list[float]]] = {}
    for one in records:
        if one.outcome == DONE:
            kept.setdefault(one.work.method, {})[float(one.work.epsilon)] = [one.found["kept"]]
    lines = [of_repetitions(key, WAYS[key][0], found) for key, found in kept.items()]
    titles = {key: title for key, (title, _) in WAYS.items()}
    figure = lines_figure({"": lines}, titles, "ε that is said", "ε that holds", percent=False)
    caption = "What holds where an ε is said; both are the same for a promise that is kept. NOT PRIVATE as they say."
    return Section(
        "Promises with wrong constants",
        "Practical private convex optimisation (S&P 2019), AdaSSP (UAI 2018)",
        (
            "The papers' DP-SGD, SVM and sums, with the constants that were published. Nothing is trained here.",
            "Of DP-SGD this is the least that holds, for one record added or removed; the paper replaces records.",
        ),
        tuple(_claims(kept)),
        (Picture(caption, figure),),
    )


def _claims(kept: dict[str, dict[float, list[float]]]) -> list[Claim]:
    claims = []
    for key, found in kept.items():
        figures = ", ".join(f"{said:g}: {now:.3g}" for said, (now,) in sorted(found.items()))
        holds = all(now <= said for said, (now,) in found.items())
        claims.append(Claim(f"{WAYS[key][0]} keeps the ε that it says.", holds, f"Said and kept: {figures}."))
    return claims
