"""StrategicProduct: a unit, building or technology, as a resource in the inspector of a Strategist."""
from __future__ import annotations

from addons.ai_core.bridge.declarations import dictionary_of
from addons.ai_core.bridge.gd import PackedStringArray, Resource, export, gdclass
from addons.ai_core.nodes.saving.node_settings import core_settings
from ai_core.squads.capabilities import Capabilities
from ai_core.squads.strategy.production import Product


@gdclass(icon="res://addons/ai_core/icons/strategic_product.svg")
class StrategicProduct(Resource):
    """A unit, building or technology that a Strategist can order, with its cost and requirements.

    Changes after the first thought of the Strategist have no effect.
    """

    product_name = export(str, "", core="name", doc="Name of the product in build orders, reports and purchases.")
    cost = export(float, 50.0, range=(0.01, 10000, 0.01), or_greater=True, core="cost", doc="Cost in resources.")
    requires = export(PackedStringArray, (), core="requires", doc="Names of products that must exist first.")
    gathers = export(bool, False, core="gathers", doc="If true, the product gathers resources.")
    fights = export(bool, False, doc="If true, the product is a fighter with the settings below.")
    kind = export(
        str, "ground", group="Fighter", shown_when=("fights", True), core="capabilities.kind",
        doc="Kind of target that the fighter is: ground, air.")
    attack = export(
        dict, (), hint=dictionary_of(str, float), shown_when=("fights", True), core="capabilities.attack",
        doc="Damage per second by kind of target; the fighter cannot hit kinds that are missing.")
    toughness = export(
        float, 100.0, range=(0.01, 10000, 0.01), or_greater=True, shown_when=("fights", True),
        core="capabilities.toughness", doc="Damage that the fighter withstands.")
    defends = export(
        bool, False, shown_when=("fights", True), core="defends",
        doc="If true, the fighter stays where it is built, such as a tower, and joins no army.")

    def product(self) -> Product:
        """Return the library's product; raise TypeError or ValueError if a setting is invalid."""
        settings = core_settings(self)
        of_fighter = settings.pop("capabilities")
        if self.fights:
            return Product(**settings, capabilities=Capabilities(**of_fighter))
        return Product(**{**settings, "defends": False})
