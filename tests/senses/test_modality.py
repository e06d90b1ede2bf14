"""Modalities: numbers that say how a signal travels, checked when they are made."""
import numpy as np
import pytest

from ai_core.errors import UnknownNameError
from ai_core.senses.modality import Modality, ModalitySet
from ai_core.senses.sensation import Signal
from ai_core.senses.sensor_table import SensorTable


def test_the_figures_of_the_source_hold():
    table = SensorTable(modalities := ModalitySet([Modality.hearing()]))
    for x in (1.0, 2.0, 1.5, 2.8):
        table.add((x, 0, 0), (1, 0, 0), {"hearing": 0.0}, [], 1, None)
    _, _, heard = table.loops.sensors_reached(table, Signal(0, 7, 0, 2.0, (0.0, 0.0, 0.0), 0.0), modalities[0])
    np.testing.assert_allclose(heard, [1.8, 1.62, 1.7076, 1.4890], atol=1e-4)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kept_per_m": 1.1}, "kept_per_m must be at most 1, got 1.1; it is the share kept"),
        ({"kept_per_m": -0.1}, "kept_per_m must be at least 0"),
        ({"range_m": 0.0}, "range_m must be above 0"),
        ({"range_m": float("nan")}, "range_m must be a finite number"),
        ({"speed_m_per_s": -1.0}, "use math.inf for instant arrival"),
        ({"name": ""}, "name must not be empty"),
        ({"is_continuous": True, "speed_m_per_s": 1.0}, "use is_continuous=False"),
        ({"needs_cone": True}, "must have is_continuous=True"),
    ],
)
def test_impossible_modalities_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        Modality(**{"name": "hearing", "range_m": 10.0, **wrong})


def test_two_modalities_of_one_name_are_refused():
    with pytest.raises(ValueError, match="'hearing' twice"):
        ModalitySet([Modality.hearing(), Modality.hearing(range_m=5)])


def test_a_misspelt_modality_is_met_with_the_right_one():
    with pytest.raises(UnknownNameError, match="did you mean 'hearing'"):
        ModalitySet([Modality.hearing()]).number("haering")
