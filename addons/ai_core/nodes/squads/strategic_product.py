"""StrategicProduct: what a side can make, as data in the inspector of a Strategist."""
from __future__ import annotations

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import PackedStringArray, Resource, export, gdclass
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.strategy.production import Product


@gdclass(icon="res://addons/ai_core/icons/strategic_product.svg")
class StrategicProduct(Resource):
    """A unit, a building or a technology that a Strategist may want; what it costs, and what it needs first.

    A Strategist reads it until its first thought.
    """

    product_name = export(str, "", doc="What build orders, reports and purchases call it.")
    cost = export(float, 50.0, range=(0.01, 10000, 0.01), or_greater=True, doc="Resources it takes.")
    requires = export(PackedStringArray, (), doc="Names of products that must be there first.")
    gathers = export(bool, False, doc="On: it gathers resources.")
    fights = export(bool, False, doc="On: it is a fighter; what follows says of what kind.")
    kind = export(
        str, "ground", group="Fighter", shown_when=("fights", True), doc="What it is to who meets it: ground, air.")
    attack = export(
        dict, (), hint=dictionary_of(str, float), shown_when=("fights", True),
        doc="Damage a second by kind; what is not named it cannot hit.")
    toughness = export(
        float, 100.0, range=(0.01, 10000, 0.01), or_greater=True, shown_when=("fights", True), doc="Damage it stands.")
    defends = export(
        bool, False, shown_when=("fights", True), doc="On: it stays where it is built, as a tower; it joins no army.")

    def product(self) -> Product:
        """Return it as the library's.

        Raises:
            TypeError, ValueError: if its settings do not fit together; says which.
        """
        capabilities = Capabilities(
            self.kind, attack={str(one): value for one, value in self.attack.items()}, toughness=self.toughness,
        ) if self.fights else None
        return Product(self.product_name, self.cost, tuple(map(str, self.requires)), capabilities, self.gathers,
                       self.defends and self.fights)
