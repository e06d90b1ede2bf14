"""Python classes as engine classes. Import names from ``addons.ai_core.bridge.gd``."""
