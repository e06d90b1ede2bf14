"""``python -m tools.benchmarking``: what dev.py bench runs in the environment."""
from __future__ import annotations

import sys

from tools.benchmarking.command import measure_suites
from tools.benchmarking.start import ROOT, parser
from tools.progress import StepFailed

if __name__ == "__main__":
    try:
        raise SystemExit(measure_suites(parser().parse_args(), ROOT))
    except StepFailed as failure:
        print(f"\n{failure}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        raise SystemExit(130) from None
