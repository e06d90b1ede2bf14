"""Every script of the benchmarks compiles: a renamed constant is seen here, not when somebody measures."""
from __future__ import annotations

from pathlib import Path

from tools.benchmarking.suites import load, suite_names
from tools.preparation import ROOT, Prepared

LOADS = """
extends Node
func _ready() -> void:
	for script in {scripts}:
		if load("res://" + script).can_instantiate():
			print("compiled " + script)
	get_tree().quit()
"""

SCENE = """
[gd_scene format=3]
[ext_resource type="Script" path="res://{script}" id="1"]
[node name="Loads" type="Node"]
script = ExtResource("1")
"""


def test_every_script_of_the_benchmarks_compiles(prepared: Prepared, tmp_path: Path) -> None:
    scripts = sorted(file.relative_to(ROOT).as_posix() for file in (ROOT / "tests" / "benchmarks").rglob("*.gd"))
    scenes = [scene for name in suite_names(ROOT) if (scene := load(name).scene) is not None]
    modules = sorted({module for scene in scenes for module in scene.modules})
    (tmp_path / "loads.gd").write_text(LOADS.format(scripts=scripts), encoding="utf-8")
    (tmp_path / "loads.tscn").write_text(
        SCENE.format(script=(tmp_path / "loads.gd").as_posix()).replace("res:///", "/"), encoding="utf-8")
    run = prepared.engine.run(
        ["--headless", "--path", ROOT, tmp_path / "loads.tscn"], 120.0,
        env={"AI_CORE_MODULES": ",".join(modules)})
    compiled = [line.removeprefix("compiled ") for line in run.output.splitlines() if line.startswith("compiled ")]
    assert compiled == scripts, run.output
