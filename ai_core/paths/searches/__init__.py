"""Path searches over grids and graphs, and their compiled kernels."""

__all__: list[str] = []
