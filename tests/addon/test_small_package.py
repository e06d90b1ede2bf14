"""The small zip: below the 60 MB that are the aim, with a NumPy that is whole though it has no OpenBLAS."""
from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.addon.every_node import write_every_node
from tests.addon.without_python import run_without_python
from tools.cache_folder import is_whole
from tools.engine_output import complaints
from tools.packaging.command import package
from tools.packaging.ingredients import gather, place
from tools.preparation import ROOT, Prepared
from tools.processes import run

MOST_BYTES = 60_000_000
# Solves, factors and multiplies, in the four types that LAPACK knows, and checks each result by its definition.
LINEAR_ALGEBRA = """
import numpy as np
for kind in "fdFD":
    rng = np.random.default_rng(7)
    a = (rng.standard_normal((40, 40)) + (1j * rng.standard_normal((40, 40)) if kind in "FD" else 0)).astype(kind)
    one = np.eye(40, dtype=kind)
    a += 20 * one                                   # far from singular
    turned, near = a.conj().T, dict(rtol=0, atol=2e-3 if kind in "fF" else 1e-10)
    (q, r), (u, s, vh), (sizes, axes) = np.linalg.qr(a), np.linalg.svd(a), np.linalg.eigh(a + turned)
    values, vectors = np.linalg.eig(a)
    lower = np.linalg.cholesky(a @ turned)
    assert np.allclose(a @ np.linalg.inv(a), one, **near)
    assert np.allclose(a @ np.linalg.solve(a, a[0]), a[0], **near)
    assert np.allclose(a @ np.linalg.lstsq(a, a[0], rcond=None)[0], a[0], **near)
    assert np.allclose(q @ r, a, **near) and np.allclose(u * s @ vh, a, **near)
    assert np.allclose((a + turned) @ axes, axes * sizes, **near)
    assert np.allclose(a @ vectors, vectors * values, **near)
    assert np.allclose(lower @ lower.conj().T, a @ turned, rtol=0, atol=1e-2 if kind in "fF" else 1e-9)
import numpy.fft, numpy.random, numpy.ma, numpy.polynomial
print("whole", np.__version__, "numpy.libs" in "".join(open("/proc/self/maps")))
"""

pytestmark = [
    pytest.mark.slow, pytest.mark.timeout(400),
    pytest.mark.skipif(
        not is_whole(place(ROOT, is_small=True)),
        reason="NumPy without OpenBLAS was not built here; dev.py package --small does, in ten minutes"),
]


@pytest.fixture(scope="module")
def small(prepared: Prepared, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(prepared, tmp_path_factory.mktemp("small"), is_small=True)


@pytest.fixture
def project(small: Path, tmp_path: Path) -> Path:
    write_every_node(tmp_path)
    with zipfile.ZipFile(small) as packed:
        packed.extractall(tmp_path)
    return tmp_path


def test_it_is_smaller_than_the_aim_and_says_what_it_is_made_of(small: Path):
    with zipfile.ZipFile(small) as packed:
        manifest = json.loads(packed.read("addons/ai_core/manifest.json"))
        names = packed.namelist()
    assert manifest["bytes"] < MOST_BYTES
    assert any("without_blas" in one for one in manifest["made_of"])
    assert not any("openblas" in name or "gfortran" in name for name in names)


def test_its_numpy_has_all_of_linear_algebra(project: Path, prepared: Prepared):
    ingredients = gather(ROOT, prepared.python, is_small=True)
    library = project / "addons/ai_core/runtime/linux.x86_64/lib"
    libraries = ingredients.debian / "usr/lib/x86_64-linux-gnu"
    finished = run(
        [ingredients.interpreter, "-S", "-c", LINEAR_ALGEBRA], timeout_s=60.0,
        env={"PYTHONHOME": str(ingredients.debian / "usr"), "PYTHONPATH": str(library / "python3.11"),
             "LD_LIBRARY_PATH": f"{library}:{libraries}"})
    assert finished.succeeded, finished.explain()
    assert finished.output.strip() == "whole 2.4.6 False"


def test_every_node_plays_with_it_and_no_other_python_in_reach(project: Path, prepared: Prepared):
    for arguments in (["--import"], ["--fixed-fps", "60"]):
        if arguments == ["--import"]:
            (project / ".godot").mkdir()
            (project / ".godot/extension_list.cfg").write_text("res://addons/ai_core/ai_core.gdextension\n")
        played = run_without_python(prepared.engine, project, ["--headless", "--path", project, *arguments])
        assert played.succeeded, played.explain()
        assert complaints(played.output) == []
    assert "saw Fire" in played.output
