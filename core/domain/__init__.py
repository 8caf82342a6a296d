"""What is publicly known about records before anyone looks at them, and the map from a record to coordinates."""

from ..privacy.unit import PrivacyUnit
from .categorical import Categorical
from .columns import Column
from .coordinate import Coordinate
from .cyclic import Cyclic
from .dates import Dates
from .domain import Domain
from .free_text import ChosenWords, TextLength
from .items import Items
from .numeric import Numeric
from .ordered import Ordered
from .scalar import Scalar
from .vector import Vector
from .written import Reading

__all__ = [
    "Categorical",
    "ChosenWords",
    "Column",
    "Coordinate",
    "Cyclic",
    "Dates",
    "Domain",
    "Items",
    "Numeric",
    "Ordered",
    "PrivacyUnit",
    "Reading",
    "Scalar",
    "TextLength",
    "Vector",
]
