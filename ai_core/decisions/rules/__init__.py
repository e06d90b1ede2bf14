"""Fuzzy rules: a RuleSet shared by characters, and a RuleMind for each character."""

__all__: list[str] = []
