"""What is publicly known about records before anyone looks at them, and the map from a record to coordinates."""

from ..privacy.unit import PrivacyUnit
from .categorical import Categorical
from .columns import Column
from .domain import Domain
from .items import Items
from .numeric import Numeric
from .vector import Vector

__all__ = ["Categorical", "Column", "Domain", "Items", "Numeric", "PrivacyUnit", "Vector"]
