"""What is publicly known about records before anyone looks at them, and the map from a record to coordinates."""

from ..privacy.budget import PrivacyUnit
from .categorical import Categorical, Ordered
from .column import Scalar
from .columns import Column
from .dates import Dates
from .domain import Domain
from .encoders import Encoder
from .numeric import Numeric, Vector
from .round_columns import Coordinate, Cyclic
from .texts_and_items import ChosenWords, Items, TextLength
from .written import Reading

__all__ = [
    "Categorical",
    "ChosenWords",
    "Column",
    "Coordinate",
    "Cyclic",
    "Dates",
    "Domain",
    "Encoder",
    "Items",
    "Numeric",
    "Ordered",
    "PrivacyUnit",
    "Reading",
    "Scalar",
    "TextLength",
    "Vector",
]
