"""Every test of paths runs with the kernels and with their twins."""
from __future__ import annotations

import pytest

import ai_core.paths.regions.region_fields as region_fields
import ai_core.paths.searches.jump_distances as jump_distances
import ai_core.paths.searches.jump_search as jump_search
import ai_core.paths.searches.portal_search as portal_search
from ai_core.twins import INTERPRETED, kernel_of

OF_MODULES = {
    jump_distances: ("fill_lines", "repair_jumps"),
    jump_search: ("jump_search",),
    portal_search: ("portal_search",),
    region_fields: ("costs_by_fields", "fill_fields", "follow_field", "follow_fields"),
}
TWINS = {
    (module, name): INTERPRETED[f"{module.__name__}.{name}"] for module, names in OF_MODULES.items() for name in names
}
KERNELS = {key: kernel for key, one in TWINS.items() if (kernel := kernel_of(one)) is not None}
# That kernels are built where they can be, a test of ai_core.twins holds.
FORMS = {"interpreted": TWINS, **({"compiled": KERNELS} if KERNELS else {})}


@pytest.fixture(params=FORMS, scope="module", autouse=True)
def form(request):
    """Let searches run in one of their two forms."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), function in FORMS[request.param].items():
            patch.setattr(module, name, function)
        yield request.param


def forms_of(name):
    """Both forms of one function, or the only one there is."""
    return [function for form in FORMS.values() for (_, one), function in form.items() if one == name]
