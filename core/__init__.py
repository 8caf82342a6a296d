"""Frostglass: see the shape, not the people.

A linear sketch turns private records into one small table of integers; noise is added once; from then on anyone may ask
the released file anything, at no further cost in privacy.

    from core import Budget, Domain, Race, kernels, load, release

The names below are looked up when first used, so that a command that needs none of them starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .runtime.environment import VERSION as __version__

if TYPE_CHECKING:
    from .analysis.beyond_records import for_population
    from .analysis.product_sums import components, correlations
    from .analysis.regression import Regression, regression
    from .analysis.sql import ask_sql
    from .domain import (
        Categorical,
        ChosenWords,
        Coordinate,
        Cyclic,
        Dates,
        Domain,
        Encoder,
        Items,
        Numeric,
        Ordered,
        PrivacyUnit,
        Reading,
        TextLength,
        Vector,
    )
    from .domain.declarations import Declaration
    from .domain.learned_encoders import encoder_of_pipeline, learned_encoder
    from .errors import BudgetError, ReleaseFileError, RequestError
    from .estimators import (
        LocalFrequencies,
        LocalFrequentTexts,
        LocalKernelDensity,
        LocalTextCounts,
        PrivateCentroidClassifier,
        PrivateChosenClassifier,
        PrivateDistanceSum,
        PrivateKernelClassifier,
        PrivateKernelDensity,
        PrivateLinearSVC,
        PrivateLogisticRegression,
        PrivatePCA,
        PrivateRidge,
    )
    from .figures.share.passport import passport
    from .geometry import kernels
    from .local.local_release import LocalRelease, load_local
    from .local.oracles.oracle import oracle
    from .local.survey import Survey
    from .models.from_tables import train_from
    from .models.linear_models import LinearModel, NumberModel, load_model
    from .models.training import train
    from .privacy.budget import Budget, Neighbours
    from .privacy.ledger.ledger import Ledger
    from .releases.discovery import discover, release_after
    from .releases.discovery_stage import Discovery
    from .releases.forecast.budget_for import budget_for, epsilon_of_harm
    from .releases.forecast.kernel_choice import recommend_encoder
    from .releases.forecast.recommendation import Closeness, Distances, Recommendation, recommend
    from .releases.found import Discovered
    from .releases.going_on import go_on
    from .releases.job import release
    from .releases.private_quantiles import PrivateQuantile, private_quantiles
    from .releases.release import Release, load
    from .releases.rounds.convenor_steps import ask_to_unmask, put_round_together
    from .releases.rounds.owner_steps import make_hello, make_share, unmask
    from .releases.rounds.round_messages import OwnerKey
    from .releases.rounds.round_plan import RoundPlan
    from .releases.topping_up import top_up
    from .sketches.classes import Classes
    from .sketches.distances.directions import Directions
    from .sketches.distances.distance import Distance
    from .sketches.distances.moments import Moments
    from .sketches.distances.projected_distance import ProjectedDistance
    from .sketches.grids.histogram import Histogram
    from .sketches.hashed.features import Features
    from .sketches.hashed.minhash import MinHash
    from .sketches.hashed.race import Race
    from .sketches.living import Living
    from .sketches.part import Part
    from .sketches.parts import Parts
    from .sketches.projected import Projected
    from .sketches.sums_of_products import Products
    from .sketches.tables.chosen import ChosenTables
    from .sketches.tables.tables import Tables

_HOME = {
    "Budget": ".privacy.budget",
    "BudgetError": ".errors",
    "Categorical": ".domain",
    "ChosenWords": ".domain",
    "Classes": ".sketches.classes",
    "Closeness": ".releases.forecast.recommendation",
    "Coordinate": ".domain",
    "Cyclic": ".domain",
    "Dates": ".domain",
    "Declaration": ".domain.declarations",
    "Directions": ".sketches.distances.directions",
    "Discovered": ".releases.found",
    "Discovery": ".releases.discovery_stage",
    "Distance": ".sketches.distances.distance",
    "Distances": ".releases.forecast.recommendation",
    "Domain": ".domain",
    "Encoder": ".domain",
    "Features": ".sketches.hashed.features",
    "Histogram": ".sketches.grids.histogram",
    "Items": ".domain",
    "LinearModel": ".models.linear_models",
    "Ledger": ".privacy.ledger.ledger",
    "LocalFrequencies": ".estimators",
    "LocalFrequentTexts": ".estimators",
    "LocalKernelDensity": ".estimators",
    "LocalRelease": ".local.local_release",
    "LocalTextCounts": ".estimators",
    "MinHash": ".sketches.hashed.minhash",
    "Moments": ".sketches.distances.moments",
    "Neighbours": ".privacy.budget",
    "NumberModel": ".models.linear_models",
    "Numeric": ".domain",
    "Ordered": ".domain",
    "Part": ".sketches.part",
    "Parts": ".sketches.parts",
    "PrivacyUnit": ".domain",
    "PrivateCentroidClassifier": ".estimators",
    "PrivateChosenClassifier": ".estimators",
    "PrivateDistanceSum": ".estimators",
    "PrivateKernelClassifier": ".estimators",
    "PrivateKernelDensity": ".estimators",
    "PrivateLinearSVC": ".estimators",
    "PrivateLogisticRegression": ".estimators",
    "PrivatePCA": ".estimators",
    "PrivateQuantile": ".releases.private_quantiles",
    "PrivateRidge": ".estimators",
    "Products": ".sketches.sums_of_products",
    "Projected": ".sketches.projected",
    "ProjectedDistance": ".sketches.distances.projected_distance",
    "Race": ".sketches.hashed.race",
    "Reading": ".domain",
    "Recommendation": ".releases.forecast.recommendation",
    "Regression": ".analysis.regression",
    "Release": ".releases.release",
    "ReleaseFileError": ".errors",
    "RequestError": ".errors",
    "Survey": ".local.survey",
    "ChosenTables": ".sketches.tables.chosen",
    "Tables": ".sketches.tables.tables",
    "TextLength": ".domain",
    "Vector": ".domain",
    "ask_sql": ".analysis.sql",
    "budget_for": ".releases.forecast.budget_for",
    "components": ".analysis.product_sums",
    "correlations": ".analysis.product_sums",
    "discover": ".releases.discovery",
    "encoder_of_pipeline": ".domain.learned_encoders",
    "epsilon_of_harm": ".releases.forecast.budget_for",
    "for_population": ".analysis.beyond_records",
    "learned_encoder": ".domain.learned_encoders",
    "load": ".releases.release",
    "load_local": ".local.local_release",
    "oracle": ".local.oracles.oracle",
    "load_model": ".models.linear_models",
    "passport": ".figures.share.passport",
    "private_quantiles": ".releases.private_quantiles",
    "recommend": ".releases.forecast.recommendation",
    "recommend_encoder": ".releases.forecast.kernel_choice",
    "regression": ".analysis.regression",
    "release": ".releases.job",
    "release_after": ".releases.discovery",
    "Living": ".sketches.living",
    "go_on": ".releases.going_on",
    "OwnerKey": ".releases.rounds.round_messages",
    "RoundPlan": ".releases.rounds.round_plan",
    "top_up": ".releases.topping_up",
    "make_hello": ".releases.rounds.owner_steps",
    "make_share": ".releases.rounds.owner_steps",
    "unmask": ".releases.rounds.owner_steps",
    "ask_to_unmask": ".releases.rounds.convenor_steps",
    "put_round_together": ".releases.rounds.convenor_steps",
    "train": ".models.training",
    "train_from": ".models.from_tables",
}
"""Module of every public name."""

__all__ = [
    "Budget",
    "BudgetError",
    "Categorical",
    "ChosenTables",
    "ChosenWords",
    "Classes",
    "Closeness",
    "Coordinate",
    "Cyclic",
    "Dates",
    "Declaration",
    "Directions",
    "Discovered",
    "Discovery",
    "Distance",
    "Distances",
    "Domain",
    "Encoder",
    "Features",
    "Histogram",
    "Items",
    "Ledger",
    "LinearModel",
    "Living",
    "LocalFrequencies",
    "LocalFrequentTexts",
    "LocalKernelDensity",
    "LocalRelease",
    "LocalTextCounts",
    "MinHash",
    "Moments",
    "Neighbours",
    "NumberModel",
    "Numeric",
    "Ordered",
    "OwnerKey",
    "Part",
    "Parts",
    "PrivacyUnit",
    "PrivateCentroidClassifier",
    "PrivateChosenClassifier",
    "PrivateDistanceSum",
    "PrivateKernelClassifier",
    "PrivateKernelDensity",
    "PrivateLinearSVC",
    "PrivateLogisticRegression",
    "PrivatePCA",
    "PrivateQuantile",
    "PrivateRidge",
    "Products",
    "Projected",
    "ProjectedDistance",
    "Race",
    "Reading",
    "Recommendation",
    "Regression",
    "Release",
    "ReleaseFileError",
    "RequestError",
    "RoundPlan",
    "Survey",
    "Tables",
    "TextLength",
    "Vector",
    "__version__",
    "ask_sql",
    "ask_to_unmask",
    "budget_for",
    "components",
    "correlations",
    "discover",
    "encoder_of_pipeline",
    "epsilon_of_harm",
    "for_population",
    "go_on",
    "kernels",
    "learned_encoder",
    "load",
    "load_local",
    "load_model",
    "make_hello",
    "make_share",
    "oracle",
    "passport",
    "private_quantiles",
    "put_round_together",
    "recommend",
    "recommend_encoder",
    "regression",
    "release",
    "release_after",
    "top_up",
    "train",
    "train_from",
    "unmask",
]


def __getattr__(name: str) -> object:
    if name == "kernels":
        return import_module(".geometry.kernels", __name__)
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOME[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
