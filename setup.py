"""Building a wheel: with compiled loops where there is a compiler, else interpreted.

Everything else stands in pyproject.toml; this file is here because a loop that cannot be compiled
must not fail an installation, and because one binary serves CPython 3.11 and later.
"""
from __future__ import annotations

import os
import sysconfig
import tempfile
from pathlib import Path

from setuptools import Distribution, Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

LIMITED_API = "0x030B0000"  # CPython 3.11, as in tools/build_bridge.py
SHARED = "ai_core._memoryviews"  # what all loops use of Cython, as in tools/build_bridge.py


def why_not_compiled() -> str:
    """Return why loops cannot be compiled here; empty if they can. Tries the compiler on one small file."""
    if os.environ.get("AI_CORE_PURE_PYTHON") == "1":
        return "AI_CORE_PURE_PYTHON is 1"  # tools/dev.py compiles by itself, and again when sources change
    try:
        import Cython.Build  # noqa: F401
    except ImportError:
        return "there is no Cython"
    command = build_ext(Distribution())
    command.finalize_options()
    try:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "includes.c")
            source.write_text("#include <Python.h>\n#include <math.h>\n")
            compiler = compiler_for(command)
            compiler.compile([str(source)], output_dir=folder, include_dirs=[sysconfig.get_path("include")])
    except Exception:  # no compiler, no headers, a broken one: all the same to a user
        return f"{os.environ.get('CC') or 'the C compiler'} does not work here; on Debian: apt install gcc python3-dev"
    return ""


def compiler_for(command: build_ext):
    """Return the compiler that building extensions would use."""
    from setuptools._distutils.ccompiler import new_compiler
    from setuptools._distutils.sysconfig import customize_compiler

    compiler = new_compiler(compiler=command.compiler)
    customize_compiler(compiler)
    return compiler


def loops() -> list[Extension]:
    """Return every ai_core/**/*_loops.py as an extension, and what they share."""
    from Cython.Build import cythonize

    sources = sorted(Path("ai_core").rglob("*_loops.py"))
    named = [(".".join(source.with_suffix("").parts), source.as_posix()) for source in sources]
    found = [
        Extension(
            name, [source], py_limited_api=True,
            define_macros=[("Py_LIMITED_API", LIMITED_API)],
            # Never a fused product and sum, and the processor's square root: compiled and interpreted agree to the
            # last bit.
            extra_compile_args=[] if os.name == "nt" else ["-g0", "-ffp-contract=off", "-fno-math-errno"],
        )
        for name, source in [*named, (SHARED, "ai_core/_memoryviews.c")]
    ]
    extensions = cythonize(
        found, build_dir="build", language_level=3, compiler_directives={"auto_pickle": False},
        shared_utility_qualified_name=SHARED)
    for extension in extensions:
        # A loop may name another level in its first lines.
        if os.name != "nt" and not any(option.startswith("-O") for option in extension.extra_compile_args):
            extension.extra_compile_args.append("-O3")
    return extensions


def say(why: str) -> None:
    print(
        f"ai_core: installing without compiled loops, {why}; everything works, searches and senses some hundred times"
        " slower.", flush=True)


class CompileLoops(build_ext):
    """Leaves out loops that cannot be compiled."""

    def run(self) -> None:
        try:
            super().run()
        except Exception as error:
            say(f"compiling failed ({str(error).splitlines()[0]})")
            self.extensions = []


class Wheel(bdist_wheel):
    """Names the wheel by what is in it."""

    def get_tag(self) -> tuple[str, str, str]:
        if not any(Path(self.bdist_dir or "").rglob("*.abi3.so")) and os.name != "nt":
            return "py3", "none", "any"
        return ("cp311", "abi3", super().get_tag()[2])


why = why_not_compiled()
if why:
    say(why)
setup(
    ext_modules=[] if why else loops(),
    # Interpreted, loops need the names of Cython's language.
    install_requires=["numpy>=1.26", *(["cython>=3.1"] if why else [])],
    cmdclass={"build_ext": CompileLoops, "bdist_wheel": Wheel},
)
