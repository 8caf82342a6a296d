"""What is publicly known about records before anyone looks at them, and the map from a record to coordinates."""

from .domain import Categorical, Domain, Items, Numeric, PrivacyUnit, Vector

__all__ = ["Categorical", "Domain", "Items", "Numeric", "PrivacyUnit", "Vector"]
