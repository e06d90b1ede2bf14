"""Reports what the sensors of a character sense of every source near them, as plain data for the live view."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

SENSOR_CLASSES = ("Sensor3D", "Sensor2D")
MOST_SOURCES = 12
"""Sources described for a sensor (count): the nearest ones, and those in memory first."""

NEAR_RANGES = 2.0
LEAST_NEAR_M = 20.0
"""A source is near a sensor within twice the longest range of its sight, and within 20 m."""

RANK = (
    "is itself", "sensed", "too weak", "hidden", "not asked yet", "waits for its look", "under the noise",
    "outside every cone", "too far", "no way between", "is not noticed", "would be sensed", "shows nothing",
    "lacks this sense")
"""Verdicts; the sense with the earliest one is shown with all its factors."""

WITHOUT_RAY = (
    "not asked yet", "waits for its look", "outside every cone", "too far", "no way between", "is not noticed",
    "shows nothing")
"""Verdicts before any line of sight query: what hides the source, or what is behind it, is not known."""

SEES = {"sight": "sees it", "hearing": "hears it", "smell": "smells it", "touch": "feels it"}
WOULD = {"hearing": "would hear it", "smell": "would smell it", "touch": "would feel it"}


def senses_of(character: Any) -> list[dict[str, Any]]:
    """Return a report for each sensor at or below a character.

    Keys: sensor (path from the character), title, and sources, a list with a report for each source near it, or
    in its memory. Keys of those: path, name, verdict, is_sensed, bars (name, share from 0 to 1, text), others
    (verdicts of the other senses), awareness, level, memory, strength.

    Cost: 50 to 100 µs for each source.
    """
    return [_of_sensor(character, sensor) for sensor in _sensors(character)]


def _sensors(character: Any) -> Iterator[Any]:
    if any(map(character.is_class, SENSOR_CLASSES)):
        yield character
    for name in SENSOR_CLASSES:
        yield from character.find_children("*", name, True, False)


def _of_sensor(character: Any, sensor: Any) -> dict[str, Any]:
    name = f"{sensor.get_class()} {character.get_path_to(sensor)}"
    manager = sensor.sense_manager
    if manager is None:
        return {"sensor": name, "title": f"{name}: senses nothing, because it has no SenseManager", "sources": []}
    known = {one["target"].source_id: one for one in sensor.get_known_targets() if one["target"] is not None}
    unit = manager.unit
    near = max(LEAST_NEAR_M, NEAR_RANGES * max(reach_m for reach_m, _ in sensor.seen_ranges(unit))) * unit
    eye = sensor.global_position
    found = sorted(
        (number not in known, distance, number, source) for number, source in manager.source_nodes().items()
        if (distance := float(eye.distance_to(source.global_position))) <= near or number in known)
    rows = [*islice((
        row for _, distance, number, source in found
        if (row := _of_source(sensor, source, distance, known.get(number))) is not None), MOST_SOURCES)]
    if not rows:
        title = f"{name}: no target in reach; no source within {near:.0f} {_unit_name(sensor)}"
    else:
        title = f"{name}: {len(rows)} near or remembered, {sum(row['is_sensed'] for row in rows)} sensed now"
    return {"sensor": name, "title": title, "sources": rows}


def _of_source(sensor: Any, source: Any, distance: float, known: dict[str, Any] | None) -> dict[str, Any] | None:
    why = sensor.why(source)
    senses = dict(sorted(
        why["senses"].items(), key=lambda one: (RANK.index(one[1]["verdict"]) > 1, one[0] != "sight",
                                                RANK.index(one[1]["verdict"]))))
    if senses.get("sight", {}).get("verdict") in ("shows nothing", "lacks this sense") and len(senses) > 1:
        senses["sight"] = senses.pop("sight")
    shown = next(iter(senses))
    if senses[shown]["verdict"] == "is itself":
        return None
    character = source.character_node or source
    return {
        "path": str(source.get_path()),
        "name": f"{character.get_name()}, {distance:.1f} {_unit_name(sensor)}",
        "verdict": _in_words(shown, senses[shown], sensor),
        "is_sensed": any(one["verdict"] == "sensed" for one in senses.values()),
        "bars": _bars(shown, senses[shown], source, sensor),
        "others": [
            f"{name}: {_in_words(name, one, sensor)}" for name, one in senses.items()
            if name != shown and one["verdict"] not in ("lacks this sense", "shows nothing")],
        "awareness": float(why["awareness"]),
        "level": _level(why),
        "memory": _memory(known, sensor),
        "strength": 0.0 if known is None else float(known["strength"]),
    }


def _in_words(sense: str, factors: dict[str, Any], sensor: Any) -> str:
    """Return a verdict as a sentence part."""
    verdict = factors["verdict"]
    needed = f"{factors['intensity']:.2f} of {factors['threshold']:.2f} needed"
    words = {
        "sensed": f"{SEES.get(sense, 'senses it')}: {needed}",
        "would be sensed": f"{WOULD.get(sense, 'would sense it')} if it emitted now: {needed}",
        "too weak": f"too weak: {needed}",
        "hidden": "hidden: a body is on every line of sight",
        "not asked yet": "in view, its line of sight waits for a ray",
        "waits for its look": f"in view, the sensor looks in {factors['looks_in_frames']} frames (SenseManager.period)",
        "under the noise": f"{factors['intensity']:.2f} is under the noise of {factors['noise']:.2f}",
        "too far": f"too far: {factors['distance']:.1f} {_unit_name(sensor)}",
        "no way between": "no regions and portals lead from it to the sensor",
        "is not noticed": "its affiliation is not in detection_mask",
        "shows nothing": f"its strength in {sense} is 0",
        "lacks this sense": f"the sensor lacks {sense}",
    }
    return words.get(verdict, str(verdict))


def _bars(sense: str, factors: dict[str, Any], source: Any, sensor: Any) -> list[tuple[str, float, str]]:
    """Return the factors of a sense: name, share from 0 to 1, and text."""
    distance = f"{factors['distance']:.1f} {_unit_name(sensor)}" if factors["distance"] >= 0 else "in the air"
    bars = [("distance", factors["kept"], f"{distance}, {factors['kept']:.0%} kept")]
    if sense == "sight":
        has_ray = factors["verdict"] not in WITHOUT_RAY
        seen = _seen_share(factors, source) if has_ray else 0.0
        pattern = factors["clarity"] / seen if seen > 0 else 0.0
        bars += [
            ("cone", factors["acuity"], "outside" if factors["acuity"] == 0 else f"acuity {factors['acuity']:.2f}"),
            ("light", factors["light"], f"{factors['light']:.2f}"),
            ("occlusion", seen, _seen_text(factors, seen) if has_ray else "no ray is cast"),
            ("pattern", pattern, f"{pattern:.2f}" if seen > 0 else "not seen"),
            ("motion", factors["motion"], f"{factors['motion']:.2f}"),
        ]
    elif factors["noise"] > 0:
        bars.append(("noise", 1.0 - min(1.0, factors["noise"] / max(1e-6, factors["intensity"])),
                     f"{factors['noise']:.2f} around"))
    bars.append(("result", factors["intensity"] / max(1e-6, factors["threshold"]),
                 f"{factors['intensity']:.2f}, threshold {factors['threshold']:.2f}"))
    return [(name, max(0.0, min(1.0, float(share))), text) for name, share, text in bars]


def _seen_share(factors: dict[str, Any], source: Any) -> float:
    """Return the share of a source that no body hides: 0 or 1 without parts."""
    if factors["verdict"] == "hidden":
        return 0.0
    weights = {name: float(source.part_shares.get(name, 1.0)) for name in source.visible_parts}
    if not weights or not factors["parts"]:
        return 1.0
    return sum(weights.get(name, 0.0) for name in factors["parts"]) / (sum(weights.values()) or 1.0)


def _seen_text(factors: dict[str, Any], seen: float) -> str:
    if factors["parts"]:
        return "sees " + ", ".join(factors["parts"])
    return "free" if seen > 0 else "hidden"


def _level(why: dict[str, Any]) -> str:
    level = f"{why['level_name']}, {why['rate_per_s']:+.2f} a second"
    return level if why["reacts_in_s"] < 0 else f"{level}, next level in {why['reacts_in_s']:.2f} s"


def _memory(known: dict[str, Any] | None, sensor: Any) -> str:
    if known is None:
        return "not in memory"
    place = ", ".join(f"{value:.1f}" for value in known["last_known_position"])
    if known["is_visible"]:
        return f"in view, at ({place})"
    return f"last sensed {known['age_s']:.1f} s ago by {known['modality']}, at ({place})"


def _unit_name(sensor: Any) -> str:
    return "px" if sensor.is_flat else "m"
