"""Measuring: ours beside a peer or a stated limit, taken in turns in one run.

Begin with ``declarations.py`` (what a suite says), then ``sampling.py`` (how time is
taken) and ``results.py`` (how it is judged). ``docs/project/benchmarks.md`` tells how to read and
add one.
"""
