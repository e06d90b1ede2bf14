"""Every test of the senses runs with the kernels and with their twins."""
from __future__ import annotations

import pytest

import ai_core.senses.percepts.following as following
import ai_core.senses.percepts.heard_pairs as heard_pairs
import ai_core.senses.sight.sight_kernels as sight_kernels
import ai_core.senses.stimuli.arriving as arriving
from ai_core.twins import INTERPRETED, kernel_of

NAMES = ("plain_signal", "pairs_in_reach", "sensors_reached", "signals_reached")
TWINS = {name: INTERPRETED[f"{sight_kernels.__name__}.{name}"] for name in NAMES}
KERNELS = {name: kernel for name, one in TWINS.items() if (kernel := kernel_of(one)) is not None}
FOLLOWING = {
    name.rpartition(".")[2]: one for name, one in INTERPRETED.items() if name.startswith(f"{following.__name__}.")}
ARRIVING = {
    name: INTERPRETED[f"{arriving.__name__}.{name}"] for name in ("arrivals_of", "arrived_at_once", "heard_now")}
HEARD = {name: INTERPRETED[f"{heard_pairs.__name__}.{name}"] for name in ("HeardPair", "take_in_all")}
# That kernels are built where they can be, a test of ai_core.twins holds.
FORMS = {"interpreted": TWINS, **({"compiled": KERNELS} if KERNELS else {})}


@pytest.fixture(params=FORMS, scope="module", autouse=True)
def form(request):
    """Let the senses run in one of their two forms."""
    with pytest.MonkeyPatch.context() as patch:
        for name, function in FORMS[request.param].items():
            patch.setattr(sight_kernels, name, function)
        for name, function in FOLLOWING.items():
            patch.setattr(following, name, function if request.param == "interpreted" else kernel_of(function))
        for module, twins in ((heard_pairs, HEARD), (arriving, ARRIVING)):
            for name, one in twins.items():
                patch.setattr(module, name, one if request.param == "interpreted" else kernel_of(one))
        yield request.param
