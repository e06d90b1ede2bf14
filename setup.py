"""Building a wheel: pure Python, and the compiled kernels where there is a compiler.

Everything else stands in pyproject.toml; this file is here because a kernel that cannot
be built must not fail an installation, and because one binary serves CPython 3.11 and later.
"""
from __future__ import annotations

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

LIMITED_API = "0x030B0000"  # CPython 3.11, as in tools/build_bridge.py


def kernels() -> list[Extension]:
    """Return every ai_core/**/*_loops.py as an extension; none without Cython, or where pure Python is asked for."""
    if os.environ.get("AI_CORE_PURE_PYTHON") == "1":
        return []  # tools/dev.py builds kernels by itself, and again when their sources change
    try:
        from Cython.Build import cythonize
    except ImportError:
        say("there is no Cython here")
        return []
    found = [
        Extension(
            ".".join(source.with_suffix("").parts), [source.as_posix()], py_limited_api=True,
            define_macros=[("Py_LIMITED_API", LIMITED_API)],
            # Never a fused product and sum: kernels and their twins agree to the last bit.
            extra_compile_args=[] if os.name == "nt" else ["-O3", "-g0", "-ffp-contract=off"],
        )
        for source in sorted([*Path("ai_core").rglob("*_loops.py"), *Path("ai_core").rglob("_*.pyx")])
    ]
    return cythonize(found, build_dir="build", language_level=3)


def say(why: str) -> None:
    print(f"ai_core: installing without compiled kernels, {why}; everything works, only slower.", flush=True)


class BuildKernels(build_ext):
    """Leaves out kernels that cannot be built."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:  # no compiler, no headers, a broken one: all the same to a user
            say(f"compiling failed ({str(error).splitlines()[0]})")
            self.extensions = []


class Wheel(bdist_wheel):
    """Names the wheel by what is in it."""

    def get_tag(self) -> tuple[str, str, str]:
        if not any(Path(self.bdist_dir or "").rglob("*.abi3.so")) and os.name != "nt":
            return "py3", "none", "any"
        return ("cp311", "abi3", super().get_tag()[2])


setup(ext_modules=kernels(), cmdclass={"build_ext": BuildKernels, "bdist_wheel": Wheel})
