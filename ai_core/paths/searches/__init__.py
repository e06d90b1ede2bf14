"""Searches over grids and graphs, and the hot loops behind them."""

__all__: list[str] = []
