"""Adaptive choice: the tactic with the best expected outcome against the opponent's predicted move."""
from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from ai_core.decisions.adaptation.sequence_prediction import SequencePrediction
from ai_core.decisions.adaptation.success_memory import CONTEXT_STATE, Context, SuccessMemory
from ai_core.decisions.habits.habit_status import RandomSource
from ai_core.errors import UnknownNameError, check_kind, check_type, finite_number, shown
from ai_core.saving.chance import prepare_random, save_random
from ai_core.saving.declared_state import (
    Change,
    DeclaredState,
    Hook,
    OneOf,
    Optional,
    Part,
    Refuse,
    Row,
    Saveable,
    refuse,
)
from ai_core.saving.fields import State
from ai_core.saving.inner_state import prepared_inner

__all__ = ["AdaptiveChoice", "ChoiceResult"]


class ChoiceResult(NamedTuple):
    """A chosen tactic.

    Attributes:
        tactic: name of the tactic.
        value: its expected outcome, -1..1.
        is_trial: True if it was chosen at random, to learn.
    """

    tactic: str
    value: float
    is_trial: bool


class AdaptiveChoice(Saveable):
    """Chooses between tactics, learns from their outcomes, and sometimes explores.

    The value of a tactic is its expected outcome in ``memory`` for the situation.
    With a ``prediction``, it is mixed with the worth of the tactic against the
    predicted moves, weighted by the confidence of the prediction. The tactic of the
    highest value is chosen, of equal ones the first. With probability
    ``exploration``, a tactic is chosen at random, all with equal probability.

    Args:
        memory: success memory whose choices are the tactics; its defaults apply
            before any outcome is noted.
        random: random source for exploration; each choice draws exactly one number.
        exploration: probability of a random choice, 0..1.
        prediction: prediction of the opponent's moves, or None.
        answers: worth of each tactic against each move, by tactic and move, -1..1;
            missing entries are 0. Only together with ``prediction``.

    Raises:
        TypeError: if an argument has a wrong type.
        ValueError: if a number is out of range, or only one of ``prediction`` and
            ``answers`` is given.
        UnknownNameError: if ``answers`` contains an unknown tactic or move.
    """

    STATE = DeclaredState(
        memory=Part(), prediction=Hook(), random=Hook(),
        last=Optional(
            Row(lambda tactic, context: (tactic, context), OneOf(lambda one: one.memory.choices), CONTEXT_STATE),
            at="_last"))

    def __init__(
        self, memory: SuccessMemory, random: RandomSource, *, exploration: float = 0.1,
        prediction: SequencePrediction | None = None, answers: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:
        check_type("memory", memory, SuccessMemory)
        if not callable(getattr(random, "random", None)):
            raise TypeError(f"random must have a method random(), got {shown(random)}; pass random.Random(seed)")
        check_kind("prediction", prediction, SequencePrediction)
        if (prediction is None) != (answers is None):
            raise ValueError("prediction and answers must be given together; set both or neither")
        self.memory, self.prediction = memory, prediction
        self._random = random
        self._exploration = finite_number("exploration", exploration, minimum=0.0, maximum=1.0)
        self._answers = {} if prediction is None else _checked_answers(answers or {}, memory, prediction)
        self._last: tuple[str, Context] | None = None

    @property
    def last_tactic(self) -> str:
        """The tactic chosen last; "" before the first choice. A feature may use it as context."""
        return "" if self._last is None else self._last[0]

    def choose(self, situation: object = None) -> ChoiceResult:
        """Choose a tactic.

        Args:
            situation: passed to the features of ``memory``.
        """
        context = self.memory.context(situation)
        values = self.values_in(context)
        mark, tactics = self._random.random(), self.memory.choices
        is_trial = mark < self._exploration
        if is_trial:  # the same number serves both: below the limit it is uniform, too
            index = min(int(mark / self._exploration * len(tactics)), len(tactics) - 1)
        else:
            index = values.index(max(values))
        self._last = tactics[index], context
        return ChoiceResult(tactics[index], values[index], is_trial)

    def note(self, outcome: float) -> None:
        """Record the outcome of the last choice, in the situation of that choice.

        Args:
            outcome: from -1, complete failure, to 1, complete success.

        Raises:
            RuntimeError: if no choice was made yet.
            ValueError: if the outcome is not within -1..1.
        """
        if self._last is None:
            raise RuntimeError("no tactic was chosen yet; call choose before note")
        self.memory.note_in(self._last[1], self._last[0], outcome)

    def saw(self, move: str) -> None:
        """Record a move of the opponent.

        Raises:
            UnknownNameError: if the prediction has no such symbol.
            RuntimeError: if there is no prediction.
        """
        if self.prediction is None:
            raise RuntimeError("saw requires a prediction; pass a SequencePrediction to the constructor")
        self.prediction.note(move)

    def values(self, situation: object = None) -> dict[str, float]:
        """Return the value of each tactic now, -1..1; draws no random number."""
        return dict(zip(self.memory.choices, self.values_in(self.memory.context(situation)), strict=True))

    def values_in(self, context: Context) -> list[float]:
        """Return the values of all tactics in a context, in order of the choices."""
        values = self.memory.expectations(context)
        if self.prediction is None:
            return values
        chances, sure = self.prediction.probabilities(), self.prediction.predict().confidence
        return [
            (1.0 - sure) * value
            + sure * sum(worth * chances[move] for move, worth in self._answers.get(tactic, {}).items())
            for tactic, value in zip(self.memory.choices, values, strict=True)]

    def to_text(self, situation: object = None) -> str:
        """Return one line per tactic with its value, and a line with the predicted move."""
        lines = [f"{tactic}: {value:+.2f}" for tactic, value in self.values(situation).items()]
        if self.prediction is not None:
            symbol, probability, confidence = self.prediction.predict()
            lines.append(f"expects {symbol} ({probability:.0%}, confidence {confidence:.0%})")
        return "\n".join(lines)

    def _save_random(self) -> State:
        return save_random(self._random)

    def _prepare_random(self, plain: Any, place: str) -> Change:
        return prepare_random(self._random, plain, place)

    def _save_prediction(self) -> State | None:
        return None if self.prediction is None else self.prediction.save_state()

    def _prepare_prediction(self, plain: Any, place: str) -> Change:
        if (plain is None) != (self.prediction is None):
            refuse(place, "must be present exactly if this choice has a prediction")
        return prepared_inner(self.prediction, plain, repr(place))

    def _check_state(self, values: SimpleNamespace, refuse: Refuse) -> None:
        if values.last is not None and len(values.last[1]) != len(self.memory.feature_names):
            refuse("last", f"must have a kind for each of the {len(self.memory.feature_names)} features")


def _checked_answers(
    answers: Mapping[str, Mapping[str, float]], memory: SuccessMemory, prediction: SequencePrediction
) -> dict[str, dict[str, float]]:
    checked: dict[str, dict[str, float]] = {}
    for tactic, worths in answers.items():
        if tactic not in memory.choices:
            raise UnknownNameError("tactic in answers", tactic, memory.choices)
        checked[tactic] = {}
        for move, worth in worths.items():
            if move not in prediction.symbols:
                raise UnknownNameError(f"move in answers of {tactic!r}", move, prediction.symbols)
            name = f"the worth of {tactic!r} against {move!r}"
            checked[tactic][move] = finite_number(name, worth, minimum=-1.0, maximum=1.0)
    return checked
