"""Rules over graded facts: RuleMind for one character."""

__all__: list[str] = []
