"""What other libraries answer: run by the Python of their own environment, which needs nothing of ours.

    PYTHON rival.py NAME given.npz facts.json SECONDS

`given.npz` has the records of one set as arrays, `facts.json` what is public about them, the promise and the draws that
are wanted. A line of JSON is printed for each draw as soon as it is made; after so many seconds no other is begun.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

warnings.filterwarnings("ignore")
Given = Any
"""Arrays by name."""
Facts = dict[str, Any]
CANDIDATES = 1001
"""Between the bounds of a column, of which OpenDP chooses a quantile."""


def places(low: float, high: float, whole: bool) -> np.ndarray:
    """Candidates between two bounds: all whole numbers where there are no others, and not too many of them."""
    if whole and high - low < CANDIDATES:
        return np.arange(low, high + 1)
    return np.linspace(low, high, CANDIDATES)


def opendp_queries(given: Given, facts: Facts) -> Callable[[int], list[float]]:
    """Means or medians of all columns, by a context that splits its budget evenly."""
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    columns = {f"c{place}": column for place, column in enumerate(given["numbers"].T)}
    loss = {"rho": facts["rho"]} if facts["delta"] else {"epsilon": facts["epsilon"]}

    def answer(draw: int) -> list[float]:
        context = dp.Context.compositor(
            data=pl.LazyFrame(columns),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(**loss),
            split_evenly_over=len(columns),
            margins=[dp.polars.Margin(max_length=facts["most"])],
        )
        found = []
        for name, (low, high) in zip(columns, facts["bounds"], strict=True):
            column = pl.col(name).fill_null(0.0).fill_nan(0.0)
            if facts["contest"] == "means":
                asked = column.dp.mean((float(low), float(high)))
            else:
                asked = column.dp.quantile(0.5, places(low, high, facts["whole"][len(found)]).tolist())
            found.append(float(context.query().select(asked).release().collect().item()))
        return found

    return answer


def rounded(found: list[float], facts: Facts) -> list[float]:
    """Medians of columns of whole numbers as whole numbers, which helps them."""
    if facts["contest"] == "means":
        return found
    return [float(round(one)) if whole else one for one, whole in zip(found, facts["whole"], strict=True)]


def tumult_queries(given: Given, facts: Facts) -> Callable[[int], list[float]]:
    """The same by sessions of Tumult Analytics."""
    import os

    import pandas as pd

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, PureDPBudget, QueryBuilder, RhoZCDPBudget, Session

    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    numbers = given["numbers"].astype(float)
    frame = spark.createDataFrame(pd.DataFrame(numbers, columns=[f"c{place}" for place in range(numbers.shape[1])]))
    kind, total = (RhoZCDPBudget, facts["rho"]) if facts["delta"] else (PureDPBudget, facts["epsilon"])

    def answer(draw: int) -> list[float]:
        session = Session.from_dataframe(kind(total), "people", frame, protected_change=AddOneRow())
        found = []
        for place, (low, high) in enumerate(facts["bounds"]):
            query = QueryBuilder("people")
            ends = f"c{place}", float(low), float(high)
            asked = query.average(*ends) if facts["contest"] == "means" else query.median(*ends)
            found.append(float(session.evaluate(asked, kind(total / len(facts["bounds"]))).toPandas().iloc[0, 0]))
        return rounded(found, facts)

    return answer


def diffprivlib_queries(given: Given, facts: Facts) -> Callable[[int], list[float]]:
    """The same by functions that keep an epsilon alone, of one record replaced."""
    from diffprivlib import tools

    ask = tools.mean if facts["contest"] == "means" else tools.median
    share = facts["epsilon"] / len(facts["bounds"])
    columns = list(zip(given["numbers"].T, facts["bounds"], strict=True))
    return lambda draw: rounded([float(ask(one, epsilon=share, bounds=tuple(ends))) for one, ends in columns], facts)


def diffprivlib_models(given: Given, facts: Facts) -> Callable[[int], list[float]]:
    """Logistic or linear regression of points in the cube."""
    from diffprivlib.models import LinearRegression, LogisticRegression

    points, goals, asked = given["points"], given["goals"], given["asked"]
    if facts["contest"] == "classes":

        def classes(draw: int) -> list[float]:
            model = LogisticRegression(epsilon=facts["epsilon"], data_norm=facts["reach"], random_state=draw)
            return model.fit(points, goals).predict(asked).tolist()

        return classes
    ends = -np.ones(points.shape[1]), np.ones(points.shape[1])

    def numbers(draw: int) -> list[float]:
        model = LinearRegression(epsilon=facts["epsilon"], bounds_X=ends, bounds_y=(-1, 1), random_state=draw)
        return np.clip(model.fit(points, goals).predict(asked), -1, 1).tolist()

    return numbers


def ebm_models(given: Given, facts: Facts) -> Callable[[int], list[float]]:
    """Additive models by boosting under (epsilon, delta), with the bounds given and all else as it comes.

    A model tells two classes apart; of several, one is made for each against all others.
    """
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    points, goals, asked = given["points"], given["goals"], given["asked"]
    several = facts["contest"] == "classes" and goals.max() > 1
    public = {
        "epsilon": each_of(int(goals.max()) + 1, facts["epsilon"], facts["delta"]) if several else facts["epsilon"],
        "delta": facts["delta"],
        "feature_types": ["nominal" if kind else "continuous" for kind in facts["flags"]],
        "privacy_bounds": {place: (-1.0, 1.0) for place, kind in enumerate(facts["flags"]) if not kind},
        "n_jobs": 1,
    }

    def answer(draw: int) -> list[float]:
        if several:
            rivals = [DPExplainableBoostingClassifier(random_state=draw, **public) for _ in range(int(goals.max()) + 1)]
            fitted = [one.fit(points, (goals == place).astype(int)) for place, one in enumerate(rivals)]
            return np.argmax([one.predict_proba(asked)[:, 1] for one in fitted], axis=0).tolist()
        if facts["contest"] == "classes":
            model = DPExplainableBoostingClassifier(random_state=draw, **public)
            return model.fit(points, goals).predict(asked).tolist()
        model = DPExplainableBoostingRegressor(
            random_state=draw, privacy_target_min=-1.0, privacy_target_max=1.0, **public
        )
        return np.clip(model.fit(points, goals).predict(asked), -1, 1).tolist()

    return answer


def each_of(models: int, epsilon: float, delta: float) -> float:
    """The epsilon of each of some models at the same delta that keep a promise together.

    By Gaussian differential privacy, as DP-EBM adds up itself, whose means are a root of the number of models apart.
    """
    from scipy.optimize import brentq
    from scipy.stats import norm

    def lost(mean: float, said: float) -> float:
        return norm.cdf(mean / 2 - said / mean) - np.exp(said) * norm.cdf(-mean / 2 - said / mean) - delta

    whole = brentq(lambda mean: lost(mean, epsilon), 1e-4, 100)
    return float(brentq(lambda said: lost(whole / models**0.5, said), 1e-6, epsilon))


def smartnoise_records(given: Given, facts: Facts, method: str) -> Callable[[int], list[float]]:
    """Synthetic records by SmartNoise."""
    import pandas as pd
    from snsynth import Synthesizer

    frame = pd.DataFrame(given["cells"].T, columns=[f"c{place}" for place in range(len(given["cells"]))])

    def answer(draw: int) -> list[float]:
        made = Synthesizer.create(method, epsilon=facts["epsilon"], delta=facts["delta"], verbose=False)
        sampled = made.fit_sample(frame, categorical_columns=list(frame), preprocessor_eps=0.0)
        return sampled.to_numpy(int).T.ravel().tolist()

    return answer


def pure_ldp_oracle(given: Given, facts: Facts, method: str) -> Callable[[int], list[float]]:
    """Counts of listed answers from reports of each person."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    e, d = facts["epsilon"], facts["values"]

    def answer(draw: int) -> list[float]:
        if method == "hr":
            server = HadamardResponseServer(e, d)
            client = HadamardResponseClient(e, d, server.get_hash_funcs())
        else:
            client, server = {
                "de": lambda: (DEClient(e, d), DEServer(e, d)),
                "oue": lambda: (UEClient(e, d, use_oue=True), UEServer(e, d, use_oue=True)),
                "olh": lambda: (LHClient(e, d, use_olh=True), LHServer(e, d, use_olh=True)),
            }[method]()
        for value in given["answers"].tolist():
            server.aggregate(client.privatise(value + 1))
        return [float(one) for one in server.estimate_all(range(1, d + 1), suppress_warnings=True)]

    return answer


def multi_freq_oracle(given: Given, facts: Facts, method: str) -> Callable[[int], list[float]]:
    """The same by multi-freq-ldpy."""
    if method == "grr":
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI as Aggregator
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client as Client

        extra = ()
    else:
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI as Aggregator
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client as Client

        extra = (True,)
    e, d = facts["epsilon"], facts["values"]

    def answer(draw: int) -> list[float]:
        reports = [Client(int(value), d, e, *extra) for value in given["answers"]]
        return (np.asarray(Aggregator(reports, *(() if extra else (d,)), e, *extra)) * len(reports)).tolist()

    return answer


RIVALS: dict[str, Callable[..., Callable[[int], list[float]]]] = {
    "OpenDP": opendp_queries,
    "Tumult": tumult_queries,
    "diffprivlib": diffprivlib_queries,
    "diffprivlib models": diffprivlib_models,
    "DP-EBM": ebm_models,
    "SmartNoise mst": lambda given, facts: smartnoise_records(given, facts, "mst"),
    "SmartNoise aim": lambda given, facts: smartnoise_records(given, facts, "aim"),
    "pure-ldp de": lambda given, facts: pure_ldp_oracle(given, facts, "de"),
    "pure-ldp oue": lambda given, facts: pure_ldp_oracle(given, facts, "oue"),
    "pure-ldp olh": lambda given, facts: pure_ldp_oracle(given, facts, "olh"),
    "pure-ldp hr": lambda given, facts: pure_ldp_oracle(given, facts, "hr"),
    "multi-freq-ldpy grr": lambda given, facts: multi_freq_oracle(given, facts, "grr"),
    "multi-freq-ldpy oue": lambda given, facts: multi_freq_oracle(given, facts, "oue"),
}


def main() -> None:
    """Print a line for each draw."""
    name, records, public, seconds = sys.argv[1:]
    facts = json.loads(Path(public).read_text())
    answer = RIVALS[name](np.load(records), facts)
    end = time.monotonic() + float(seconds)
    for draw in range(facts["first"], facts["first"] + facts["draws"]):
        if draw > facts["first"] and time.monotonic() > end:
            break
        print("answer " + json.dumps(answer(draw)), flush=True)


if __name__ == "__main__":
    main()
