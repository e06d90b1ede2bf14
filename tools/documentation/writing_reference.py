"""Imported by Godot's own Python when it starts: writes the class reference to $AI_CORE_REFERENCE."""
from __future__ import annotations

import os
from pathlib import Path

from addons.ai_core.bridge.documentation import write_reference

write_reference(Path(os.environ["AI_CORE_REFERENCE"]), "addons.ai_core.nodes")
