"""Frostglass: see the shape, not the people.

A linear sketch turns private records into one small table of integers; noise is added once; from then on anyone may ask
the released file anything, at no further cost in privacy.

    from core import Budget, Domain, Race, kernels, load, release

The names below are looked up when first used, so that a command that needs none of them starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .runtime.environment import VERSION as __version__

if TYPE_CHECKING:
    from .analysis.beyond_records import for_population as for_population
    from .analysis.product_sums import components as components
    from .analysis.product_sums import correlations as correlations
    from .analysis.regression import Regression as Regression
    from .analysis.regression import regression as regression
    from .analysis.sql import ask_sql as ask_sql
    from .domain import Categorical as Categorical
    from .domain import ChosenWords as ChosenWords
    from .domain import Coordinate as Coordinate
    from .domain import Cyclic as Cyclic
    from .domain import Dates as Dates
    from .domain import Domain as Domain
    from .domain import Encoder as Encoder
    from .domain import Items as Items
    from .domain import Numeric as Numeric
    from .domain import Ordered as Ordered
    from .domain import PrivacyUnit as PrivacyUnit
    from .domain import Reading as Reading
    from .domain import TextLength as TextLength
    from .domain import Vector as Vector
    from .domain.declarations import Declaration as Declaration
    from .domain.learned_encoders import encoder_of_pipeline as encoder_of_pipeline
    from .domain.learned_encoders import learned_encoder as learned_encoder
    from .errors import BudgetError as BudgetError
    from .errors import ReleaseFileError as ReleaseFileError
    from .errors import RequestError as RequestError
    from .estimators import LocalFrequencies as LocalFrequencies
    from .estimators import LocalFrequentTexts as LocalFrequentTexts
    from .estimators import LocalKernelDensity as LocalKernelDensity
    from .estimators import LocalTextCounts as LocalTextCounts
    from .estimators import PrivateCentroidClassifier as PrivateCentroidClassifier
    from .estimators import PrivateChosenClassifier as PrivateChosenClassifier
    from .estimators import PrivateDistanceSum as PrivateDistanceSum
    from .estimators import PrivateKernelClassifier as PrivateKernelClassifier
    from .estimators import PrivateKernelDensity as PrivateKernelDensity
    from .estimators import PrivateLinearSVC as PrivateLinearSVC
    from .estimators import PrivateLogisticRegression as PrivateLogisticRegression
    from .estimators import PrivatePCA as PrivatePCA
    from .estimators import PrivateRidge as PrivateRidge
    from .figures.share.passport import passport as passport
    from .geometry import kernels as kernels
    from .local.local_release import LocalRelease as LocalRelease
    from .local.local_release import load_local as load_local
    from .local.oracles.oracle import oracle as oracle
    from .local.survey import Survey as Survey
    from .models.from_tables import train_from as train_from
    from .models.linear_models import LinearModel as LinearModel
    from .models.linear_models import NumberModel as NumberModel
    from .models.linear_models import load_model as load_model
    from .models.training import train as train
    from .privacy.budget import Budget as Budget
    from .privacy.budget import Neighbours as Neighbours
    from .privacy.ledger.ledger import Ledger as Ledger
    from .releases.discovery import discover as discover
    from .releases.discovery import release_after as release_after
    from .releases.discovery_stage import Discovery as Discovery
    from .releases.forecast.budget_for import budget_for as budget_for
    from .releases.forecast.budget_for import epsilon_of_harm as epsilon_of_harm
    from .releases.forecast.kernel_choice import recommend_encoder as recommend_encoder
    from .releases.forecast.recommendation import Closeness as Closeness
    from .releases.forecast.recommendation import Distances as Distances
    from .releases.forecast.recommendation import Recommendation as Recommendation
    from .releases.forecast.recommendation import recommend as recommend
    from .releases.found import Discovered as Discovered
    from .releases.going_on import go_on as go_on
    from .releases.job import release as release
    from .releases.private_quantiles import PrivateQuantile as PrivateQuantile
    from .releases.private_quantiles import private_quantiles as private_quantiles
    from .releases.release import Release as Release
    from .releases.release import load as load
    from .releases.rounds.convenor_steps import ask_to_unmask as ask_to_unmask
    from .releases.rounds.convenor_steps import put_round_together as put_round_together
    from .releases.rounds.owner_steps import make_hello as make_hello
    from .releases.rounds.owner_steps import make_share as make_share
    from .releases.rounds.owner_steps import unmask as unmask
    from .releases.rounds.round_messages import OwnerKey as OwnerKey
    from .releases.rounds.round_plan import RoundPlan as RoundPlan
    from .releases.topping_up import top_up as top_up
    from .sketches.classes import Classes as Classes
    from .sketches.directions import Directions as Directions
    from .sketches.distance import Distance as Distance
    from .sketches.features import Features as Features
    from .sketches.histogram import Histogram as Histogram
    from .sketches.living import Living as Living
    from .sketches.minhash import MinHash as MinHash
    from .sketches.moments import Moments as Moments
    from .sketches.part import Part as Part
    from .sketches.parts import Parts as Parts
    from .sketches.projected import Projected as Projected
    from .sketches.projected_distance import ProjectedDistance as ProjectedDistance
    from .sketches.race import Race as Race
    from .sketches.sums_of_products import Products as Products
    from .sketches.tables.chosen import ChosenTables as ChosenTables
    from .sketches.tables.tables import Tables as Tables

_NAMES = {
    ".analysis.beyond_records": "for_population",
    ".analysis.product_sums": "components correlations",
    ".analysis.regression": "Regression regression",
    ".analysis.sql": "ask_sql",
    ".domain": (
        "Categorical ChosenWords Coordinate Cyclic Dates Domain Encoder Items Numeric Ordered PrivacyUnit Reading "
        "TextLength Vector"
    ),
    ".domain.declarations": "Declaration",
    ".domain.learned_encoders": "encoder_of_pipeline learned_encoder",
    ".errors": "BudgetError ReleaseFileError RequestError",
    ".estimators": (
        "LocalFrequencies LocalFrequentTexts LocalKernelDensity LocalTextCounts PrivateCentroidClassifier "
        "PrivateChosenClassifier PrivateDistanceSum PrivateKernelClassifier PrivateKernelDensity PrivateLinearSVC "
        "PrivateLogisticRegression PrivatePCA PrivateRidge"
    ),
    ".figures.share.passport": "passport",
    ".local.local_release": "LocalRelease load_local",
    ".local.oracles.oracle": "oracle",
    ".local.survey": "Survey",
    ".models.from_tables": "train_from",
    ".models.linear_models": "LinearModel NumberModel load_model",
    ".models.training": "train",
    ".privacy.budget": "Budget Neighbours",
    ".privacy.ledger.ledger": "Ledger",
    ".releases.discovery": "discover release_after",
    ".releases.discovery_stage": "Discovery",
    ".releases.forecast.budget_for": "budget_for epsilon_of_harm",
    ".releases.forecast.kernel_choice": "recommend_encoder",
    ".releases.forecast.recommendation": "Closeness Distances Recommendation recommend",
    ".releases.found": "Discovered",
    ".releases.going_on": "go_on",
    ".releases.job": "release",
    ".releases.private_quantiles": "PrivateQuantile private_quantiles",
    ".releases.release": "Release load",
    ".releases.rounds.convenor_steps": "ask_to_unmask put_round_together",
    ".releases.rounds.owner_steps": "make_hello make_share unmask",
    ".releases.rounds.round_messages": "OwnerKey",
    ".releases.rounds.round_plan": "RoundPlan",
    ".releases.topping_up": "top_up",
    ".sketches.classes": "Classes",
    ".sketches.directions": "Directions",
    ".sketches.distance": "Distance",
    ".sketches.moments": "Moments",
    ".sketches.projected_distance": "ProjectedDistance",
    ".sketches.histogram": "Histogram",
    ".sketches.features": "Features",
    ".sketches.minhash": "MinHash",
    ".sketches.race": "Race",
    ".sketches.living": "Living",
    ".sketches.part": "Part",
    ".sketches.parts": "Parts",
    ".sketches.projected": "Projected",
    ".sketches.sums_of_products": "Products",
    ".sketches.tables.chosen": "ChosenTables",
    ".sketches.tables.tables": "Tables",
}
"""The public names of each module."""
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", "kernels", *_HOME]


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
