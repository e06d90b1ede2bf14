"""Every test of the senses runs with the kernels and with their twins."""
from __future__ import annotations

import pytest

import ai_core.senses.percepts.following as following
import ai_core.senses.percepts.heard_pairs as heard_pairs
import ai_core.senses.stimuli.arriving as arriving
from ai_core.twins import INTERPRETED, kernel_of

FOLLOWING = {
    name.rpartition(".")[2]: one for name, one in INTERPRETED.items() if name.startswith(f"{following.__name__}.")}
ARRIVING = {
    name: INTERPRETED[f"{arriving.__name__}.{name}"] for name in ("arrivals_of", "arrived_at_once", "heard_now")}
HEARD = {name: INTERPRETED[f"{heard_pairs.__name__}.{name}"] for name in ("HeardPair", "take_in_all")}
TWINS = ((following, FOLLOWING), (heard_pairs, HEARD), (arriving, ARRIVING))
# That kernels are built where they can be, a test of ai_core.twins holds.
FORMS = ("interpreted", "compiled") if kernel_of(HEARD["take_in_all"]) is not None else ("interpreted",)


@pytest.fixture(params=FORMS, scope="module", autouse=True)
def form(request):
    """Let the senses run in one of their two forms."""
    with pytest.MonkeyPatch.context() as patch:
        for module, twins in TWINS:
            for name, one in twins.items():
                patch.setattr(module, name, one if request.param == "interpreted" else kernel_of(one))
        yield request.param
