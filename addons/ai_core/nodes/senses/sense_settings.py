"""What the inspector shows of a SenseManager, and what the library is made with by it."""
from __future__ import annotations

from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.declarations import HINT_LAYERS_3D_PHYSICS, array_of, dictionary_of
from addons.ai_core.bridge.gd import PackedStringArray, export, report_error
from ai_core.errors import UnknownNameError
from ai_core.senses.camouflage import Camouflage
from ai_core.senses.modality import Modality
from ai_core.senses.scent_trail import ScentTrails

HINT_FILE = 13
TRAIL = "trail"
"""Name of the modality in which scent trails are smelled."""


class SenseSettings:
    """The properties of a SenseManager; a part of that class."""

    class Mode(IntEnum):
        REGIONAL = 0
        GRAPH = 1

    class Dimensions(IntEnum):
        THREE = 0
        TWO = 1

    mode = export(
        Mode, Mode.REGIONAL, on_set="_in_use",
        doc="Regional: for open ground; every signal carries as far as its range. Graph: for buildings; signals"
            " go by regions and portals, such as SenseRegion3D and SensePortal3D.")
    graph_file = export(
        str, "", hint=(HINT_FILE, "*.json"), on_set="_in_use", shown_when=("mode", Mode.GRAPH),
        doc="A sense graph as text, such as a SenseGraphBaker writes: its regions and portals come before those of the"
            " scene.")
    gradual_senses = export(
        PackedStringArray, (), on_set="_in_use", shown_when=("mode", Mode.GRAPH),
        doc="Senses whose waves are followed as they travel, such as \"hearing\" where sound_speed_m_per_s is low: a"
            " door that is shut meanwhile counts, and sensors that move are told where the wave meets them.")
    dimensions = export(
        Dimensions, Dimensions.THREE, on_set="_has_space",
        doc="Three: senses Sensor3D and SenseSource3D. Two: Sensor2D and SenseSource2D. Set it before the scene runs.")
    pixels_per_m = export(
        float, 32.0, range=(0.01, 1000, 0.01), or_greater=True, unit="px", on_set="_has_space",
        shown_when=("dimensions", Dimensions.TWO),
        doc="How long a metre is in 2D; ranges and distances are in metres there, too.")
    modalities = export(
        list, (), hint=array_of("SenseModality"), on_set="_in_use",
        doc="Senses of your own, such as telepathy or fear, and others in place of sight, hearing, smell or touch.")
    sight_range_m = export(
        float, 60.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Sight", on_set="_in_use",
        doc="Nobody sees farther than this, whatever the cones say.")
    sight_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), on_set="_mask_changed", doc="Physics layers that block sight.")
    sees_backgrounds = export(
        bool, False, group="Camouflage", on_set="_in_use",
        doc="On: what is behind a source counts: patterns hide or stand out, dark figures show before bright walls."
            " Doubles the rays. A physics body has its pattern and light as metadata: sense_pattern, sense_light.")
    camouflage = export(
        dict, (), hint=dictionary_of(str, float), on_set="_in_use", shown_when=("sees_backgrounds", True),
        doc="How well patterns show, by pattern of the source and of what is behind: \"green/leaves\" 0.1 hides,"
            " \"green/sky\" 1.5 stands out. What is not listed counts as 1.")
    sky_pattern = export(
        str, "", on_set="_in_use", shown_when=("sees_backgrounds", True),
        doc="The pattern where no body is behind; one of those in camouflage.")
    sky_light = export(
        float, 0.0, range=(0, 1, 0.01), on_set="_in_use", shown_when=("sees_backgrounds", True),
        doc="How bright it is where no body is behind; 0 does not count.")
    hearing_range_m = export(
        float, 60.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Hearing", on_set="_in_use",
        doc="No sound carries farther than this.")
    hearing_attenuation = export(
        float, 0.9, range=(0, 1, 0.001), on_set="_in_use", doc="Share of a sound that is kept per metre.")
    sound_speed_m_per_s = export(
        float, 340.0, range=(1, 10000, 1), or_greater=True, unit="m/s", on_set="_in_use", doc="How fast sound travels.")
    smell_range_m = export(
        float, 30.0, range=(1, 1000, 0.5), or_greater=True, unit="m", group="Smell", on_set="_in_use",
        doc="No smell carries farther than this.")
    smell_attenuation = export(
        float, 0.9, range=(0, 1, 0.001), on_set="_in_use",
        shown_when=("mode", Mode.REGIONAL),
        doc="Share of a smell that is kept per metre. In graph mode smells thin out in their regions instead.")
    smell_speed_m_per_s = export(
        float, 1.0, range=(0.01, 1000, 0.01), or_greater=True, unit="m/s", on_set="_in_use",
        doc="How fast a smell spreads.")
    wall_materials = export(
        dict, (), hint=dictionary_of(str, float), group="Walls", on_set="_walls_set",
        doc="Share of sounds and smells that gets through each material: \"brick\" 0.1, for one sense alone"
            " \"smell/brick\" 0. A physics body has its material as metadata sense_material, or is in a group of"
            " its name.")
    wall_share = export(
        float, 1.0, range=(0, 1, 0.01), on_set="_walls_set",
        doc="Share that gets through a body of no such material, unless it is a CharacterBody or RigidBody.")
    wall_mask = export(
        int, 1, hint=(HINT_LAYERS_3D_PHYSICS, ""), doc="Physics layers that muffle sounds and smells.")
    keeps_trails = export(
        bool, False, group="Trails", on_set="_in_use",
        doc="On: sources with a trail_strength leave marks that cool as they go, which sensors smell and follow"
            " with track().")
    trail_radius_m = export(
        float, 3.0, range=(0.1, 100, 0.1), or_greater=True, unit="m", on_set="_in_use",
        shown_when=("keeps_trails", True), doc="How far a fresh mark of strength 1 is smelled; others in proportion.")
    trail_spacing_m = export(
        float, 1.0, range=(0.1, 100, 0.1), or_greater=True, unit="m", on_set="_in_use",
        shown_when=("keeps_trails", True), doc="Distance between two marks.")
    trail_kept_per_s = export(
        float, 0.97, range=(0, 1, 0.001), on_set="_in_use",
        shown_when=("keeps_trails", True), doc="Share of a mark's strength that is kept per second.")
    touch_range_m = export(
        float, 0.0, range=(0, 10, 0.05), or_greater=True, unit="m", group="Touch", on_set="_in_use",
        doc="So near a source is felt without being seen or heard; 0: only what touch() tells is felt.")
    feels_collisions = export(
        bool, True, on_set="_in_use",
        doc="On: a sensor whose body runs into that of a source, or is run into, feels it, as strongly as"
            " touch_strength of the source. Bodies are the nearest Area, CharacterBody or RigidBody above each; of the"
            " latter contact_monitor is switched on.")
    maximum_rays = export(
        int, 256, range=(1, 10000, 1), or_greater=True, unit="rays/frame", group="Optimizations", on_set="_rays_set",
        doc="Most lines of sight asked in one frame, the longest unasked first. Walls that muffle take half of them"
            " at most. Change it at any time.")
    show_in_game = export(
        bool, False, group="Debug", on_set="_show_set",
        doc="Draw what sensors, sources, regions and portals reach into the running game; some 50 µs a node and frame.")


def made_modalities(manager: Any) -> list[Modality]:
    """Return all senses of a manager; what is wrong is reported, once each, and left out."""
    found = {one.name: one for one in _own_modalities(manager)}
    for place, resource in enumerate(manager.modalities):
        try:
            one = resource.modality()
            if one.name == TRAIL and manager.keeps_trails:
                raise ValueError(f"modality_name must not be {TRAIL!r} where keeps_trails is on; choose another")
        except (ValueError, AttributeError) as error:
            said = error if isinstance(error, ValueError) else "must be a SenseModality, got null; choose one"
            label = "" if resource is None else resource.resource_path or resource.resource_name
            label = f" ({label})" if label else ""
            report_error(f"modalities[{place}]{label} is left out: {said}", manager)
        else:
            found[one.name] = one
    return list(found.values())


def _own_modalities(manager: Any) -> list[Modality]:
    touch_m = manager.touch_range_m
    senses = [
        Modality.sight(range_m=manager.sight_range_m),
        Modality.hearing(
            range_m=manager.hearing_range_m, attenuation=manager.hearing_attenuation,
            inverse_speed_s_per_m=1 / manager.sound_speed_m_per_s),
        Modality.smell(
            range_m=manager.smell_range_m, attenuation=manager.smell_attenuation,
            inverse_speed_s_per_m=1 / manager.smell_speed_m_per_s),
        Modality.touch(range_m=touch_m) if touch_m > 0 else Modality("touch", range_m=1.0),
    ]
    if manager.keeps_trails:
        senses.append(Modality(TRAIL, range_m=manager.smell_range_m, attenuation=manager.smell_attenuation))
    return senses


def made_gradual(manager: Any, modalities: list[Modality]) -> list[str]:
    """Return the names of senses whose waves are followed; what is wrong is reported, once each, and left out."""
    emitted = [one.name for one in modalities if not one.is_continuous]
    for name in manager.gradual_senses:
        if name not in emitted:
            report_error(f"gradual_senses: {UnknownNameError('emitted modality', name, emitted)}", manager)
    return [name for name in emitted if name in manager.gradual_senses]


def made_trails(manager: Any) -> ScentTrails | None:
    """Return the scent trails of a manager, None if it keeps none."""
    if not manager.keeps_trails:
        return None
    return ScentTrails(
        modality_name=TRAIL, radius_m=manager.trail_radius_m, spacing_m=manager.trail_spacing_m,
        kept_per_s=manager.trail_kept_per_s)


def made_camouflage(manager: Any) -> Camouflage:
    """Return the pairs of patterns of a manager; what is wrong is reported, once each, and left out."""
    factors = {}
    for pair, factor in manager.camouflage.items() if manager.sees_backgrounds else ():
        source, _, behind = str(pair).partition("/")
        try:
            if not source or not behind:
                raise ValueError('must be "pattern of the source/pattern behind it"')
            Camouflage({(source, behind): factor})
        except (TypeError, ValueError) as error:
            report_error(f"camouflage[{pair!r}] is left out: {error}", manager)
        else:
            factors[source, behind] = factor
    return Camouflage(factors)
