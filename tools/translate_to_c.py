"""Translate Cython modules into C, all in one process: starting Cython takes as long as a small module.

    python tools/translate_to_c.py JOB

JOB is JSON: "modules" are (source, full name, C file), "shared" is the full name of the module that holds what
all of them use, or null, and "shared_file" its C file, or null if it is not made.
"""
from __future__ import annotations

import json
import sys

from Cython.Build.SharedModule import generate_shared_module
from Cython.Compiler.Main import CompilationOptions, compile

DIRECTIVES = {"auto_pickle": False}
"""No module's classes are pickled; the functions for it would be a tenth of the C."""


def main() -> int:
    job = json.loads(sys.argv[1])
    failed = 0
    for source, module, c_file in job["modules"]:
        made = compile(
            source, full_module_name=module, output_file=c_file, language_level=3, compiler_directives=DIRECTIVES,
            shared_utility_qualified_name=job["shared"])
        failed += made.num_errors
    if job["shared_file"]:
        generate_shared_module(CompilationOptions(shared_c_file_path=job["shared_file"], language_level=3))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
