"""Making what users get: the addon with a Python of its own, and games that carry it.

``ingredients`` fetches, ``runtime`` lays a private Python out, ``addon`` puts all together,
``archive`` packs it, ``game`` exports the demonstration with it.
"""
