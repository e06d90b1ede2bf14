"""Tests of assignments run with the kernel and with its twin."""
from __future__ import annotations

import pytest

import ai_core.squads.least_cost_matching as least_cost_matching
from ai_core.twins import INTERPRETED, kernel_of

TWIN = INTERPRETED[f"{least_cost_matching.__name__}.match_rows"]
KERNEL = kernel_of(TWIN)
# That kernels are built where they can be, a test of ai_core.twins holds.
FORMS = {"interpreted": TWIN, **({"compiled": KERNEL} if KERNEL else {})}


@pytest.fixture(params=FORMS, scope="module")
def form(request):
    """Let slots be assigned in one of their two forms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(least_cost_matching, "match_rows", FORMS[request.param])
        yield request.param
