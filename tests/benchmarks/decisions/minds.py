"""Minds of rules and of memory: what a thought and a choice take."""
from __future__ import annotations

import random

from ai_core.decisions.adaptation import AdaptiveChoice, SequencePrediction, SuccessMemory, bands
from ai_core.decisions.rules import Rule, RuleMind, RuleSet
from tools.benchmarking.declarations import Contest

RULES = RuleSet(
    [
        Rule("fear", "hurt and not safe", concludes="afraid"),
        Rule("rage", "hurt and near", concludes="furious"),
        Rule("flee", "afraid > courage", lambda mind: "flee", salience=3, repeats=True),
        Rule("charge", "near and furious", lambda mind: "charge", salience="aggression", repeats=True),
        Rule("shoot", "seen and not near", lambda mind: "shoot", salience="aggression", repeats=True),
        Rule("hide", "seen and afraid", lambda mind: "hide", salience=1, repeats=True),
        Rule("search", "heard and not seen", lambda mind: "search", salience=0.5, repeats=True),
        Rule("patrol", "", lambda mind: "patrol", repeats=True),
    ],
    facts=dict.fromkeys(("near", "seen", "heard", "hurt", "safe"), 0.0),
    parameters={"aggression": 1.0, "courage": 0.5},
)


def decisions(n: int) -> Contest:
    """Return n characters that each learn one new fact and decide by eight rules."""
    minds = [RuleMind(RULES, parameters={"courage": number % 10 / 10}) for number in range(n)]
    round_ = [0]

    def ours() -> list[object]:
        round_[0] += 1
        found = []
        for number, mind in enumerate(minds):
            mind.set(("near", "seen", "hurt")[number % 3], (number + round_[0]) % 2)
            found.append(mind.think(most=1)[0].result)
        return found

    def complaint() -> str:
        fresh = [RuleMind(RULES, parameters={"courage": number % 10 / 10}) for number in range(n)]
        for number, mind in enumerate(fresh):
            mind.set(("near", "seen", "hurt")[number % 3], (number + round_[0] + 1) % 2)
        wanted = [mind.think(most=1)[0].result for mind in fresh]
        return "" if ours() == wanted else "a mind that lived decides otherwise than one made anew"

    return Contest(ours, complaint=complaint)


def learning(n: int) -> Contest:
    """Return a fight of n rounds: choose, note how it went, see what the other did."""
    choice = AdaptiveChoice(
        SuccessMemory(["hit", "block", "jump"], {"health": bands(0.3, 0.7)}), random.Random(1),
        prediction=SequencePrediction(["high", "low"]),
        answers={"block": {"high": 1.0, "low": -1.0}, "jump": {"low": 1.0, "high": -1.0}},
    )

    def ours() -> None:
        for number in range(n):
            tactic = choice.choose(number % 10 / 10).tactic
            choice.note(1.0 if tactic == ("block", "jump")[number % 2] else -0.5)
            choice.saw(("high", "low")[number % 2])

    def complaint() -> str:
        assert choice.prediction is not None
        return "" if choice.prediction.predict().confidence > 0.5 else "it has learned nothing"

    return Contest(ours, complaint=complaint)
