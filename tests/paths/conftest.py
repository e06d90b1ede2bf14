"""Every test of paths runs with the kernels and with their twins."""
from __future__ import annotations

import pytest

import ai_core.paths.bucket_search as bucket_search
from ai_core.twins import INTERPRETED, kernel_of

TWIN = INTERPRETED[f"{bucket_search.__name__}.bucket_search"]
KERNEL = kernel_of(TWIN)
# That kernels are built where they can be, a test of ai_core.twins holds.
FORMS = {"interpreted": TWIN, **({"compiled": KERNEL} if KERNEL is not None else {})}


@pytest.fixture(params=FORMS, scope="module", autouse=True)
def form(request):
    """Let searches run in one of their two forms."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bucket_search, "bucket_search", FORMS[request.param])
        yield request.param
