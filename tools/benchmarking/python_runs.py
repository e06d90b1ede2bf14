"""Runs the measurements of one suite in this process and prints the records.

    python -m tools.benchmarking.python_runs SUITE
"""
from __future__ import annotations

import sys

from tools.benchmarking import records
from tools.benchmarking.sampling import measure
from tools.benchmarking.suites import load
from tools.benchmarking.versions import python_versions


def main(name: str) -> int:
    def tell(record: records.Record) -> None:
        print(records.line(record), flush=True)

    tell(records.versions(python_versions()))
    for measurement in load(name).measurements:
        measure(measurement, tell)
    tell(records.end())
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
