"""Pictures of the documentation from real runs: ``plots`` by the library, ``scenes`` of the demos in Godot."""
