"""Pytest inside headless Godot: tests that add nodes, step frames and listen to signals.

Two halves. Outside, in the pytest that you start: ``plugin`` (options and hooks),
``collection`` (items that stand for tests inside), ``godot_process`` (one Godot, watched).
Inside, in Godot's own Python: ``inside`` (the runner node, pytest in a greenlet),
``service`` (runs what the outside asks for), ``fixtures``, ``engine_errors``, ``leaks``.
Between them ``channel``: lines of JSON over a local socket.

Rejected: pytest in a thread (most of the engine is for the main thread alone); one
Godot per test (half a second each); reports as text to be parsed.
"""
