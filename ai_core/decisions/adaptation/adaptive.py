"""Adaptive choice: the tactic that went well here, against what they will do next."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from ai_core.decisions.adaptation.sequence_prediction import SequencePrediction
from ai_core.decisions.adaptation.success_memory import Context, SuccessMemory
from ai_core.decisions.habits.habit_choice import RandomSource
from ai_core.errors import UnknownNameError, finite_number, shown
from ai_core.saving.chance import prepare_random, save_random
from ai_core.saving.fields import Fields, State

__all__ = ["AdaptiveChoice", "ChoiceResult"]


class ChoiceResult(NamedTuple):
    """A choice, and how it came about.

    Attributes:
        tactic: what was chosen.
        value: what it was expected to bring, -1..1.
        is_trial: chosen at random, to learn.
    """

    tactic: str
    value: float
    is_trial: bool


class AdaptiveChoice:
    """Chooses between tactics, learns from how they went, and now and then tries others.

    The value of a tactic is what ``memory`` expects of it in the situation;
    with a ``prediction``, that and what its answers are worth against the moves
    to come, which counts the more the surer the prediction is. The tactic of
    the highest value is chosen, of equal ones the first. With the chance
    ``exploration``, any of them is, each alike.

    Args:
        memory: its choices are the tactics; it says what holds before anything
            is known.
        random: tells when to try; draws one number each time, whatever comes of it.
        exploration: how often a tactic is tried, 0..1.
        prediction: of the other side's moves, or None.
        answers: by tactic, by move, what it is worth against that, -1..1; what
            is not named is worth 0. Only together with ``prediction``.

    Raises:
        TypeError: if a part is not what it must be.
        ValueError: if a number is out of range, or ``answers`` have no ``prediction``.
        UnknownNameError: if ``answers`` name an unknown tactic or move.
    """

    def __init__(
        self,
        memory: SuccessMemory,
        random: RandomSource,
        *,
        exploration: float = 0.1,
        prediction: SequencePrediction | None = None,
        answers: Mapping[str, Mapping[str, float]] | None = None,
    ) -> None:
        if not isinstance(memory, SuccessMemory):
            raise TypeError(f"memory must be a SuccessMemory, got {shown(memory)}")
        if not callable(getattr(random, "random", None)):
            raise TypeError(f"random must have a method random(), got {shown(random)}; hand in random.Random(seed)")
        if prediction is not None and not isinstance(prediction, SequencePrediction):
            raise TypeError(f"prediction must be a SequencePrediction or None, got {shown(prediction)}")
        if (prediction is None) != (answers is None):
            raise ValueError("prediction and answers go together: the one says what comes, the other what helps")
        self.memory, self.prediction = memory, prediction
        self._random = random
        self._exploration = finite_number("exploration", exploration, minimum=0.0, maximum=1.0)
        self._answers = {} if prediction is None else _checked_answers(answers or {}, memory, prediction)
        self._last: tuple[str, Context] | None = None

    @property
    def last_tactic(self) -> str:
        """The tactic chosen last; "" before the first. A feature may use it as context."""
        return "" if self._last is None else self._last[0]

    def choose(self, situation: object = None) -> ChoiceResult:
        """Choose a tactic.

        Args:
            situation: told to the features of ``memory``.
        """
        context = self.memory.context(situation)
        values = self.values_in(context)
        mark, tactics = self._random.random(), self.memory.choices
        is_trial = mark < self._exploration
        if is_trial:  # one number serves both: below the limit it is as even as above it
            index = min(int(mark / self._exploration * len(tactics)), len(tactics) - 1)
        else:
            index = values.index(max(values))
        self._last = tactics[index], context
        return ChoiceResult(tactics[index], values[index], is_trial)

    def note(self, outcome: float) -> None:
        """Note how the last choice went, in the situation it was made in.

        Args:
            outcome: from -1, a disaster, to 1, a full success.

        Raises:
            RuntimeError: if nothing was chosen yet.
            ValueError: if it is not within -1..1.
        """
        if self._last is None:
            raise RuntimeError("nothing was chosen yet; call choose before note")
        self.memory.note_in(self._last[1], self._last[0], outcome)

    def saw(self, move: str) -> None:
        """Note what the other side did.

        Raises:
            UnknownNameError: if the prediction has no such symbol.
            RuntimeError: if there is no prediction.
        """
        if self.prediction is None:
            raise RuntimeError("there is no prediction to learn from a move; hand one in")
        self.prediction.note(move)

    def values(self, situation: object = None) -> dict[str, float]:
        """Return what each tactic is expected to bring now, -1..1; draws nothing."""
        return dict(zip(self.memory.choices, self.values_in(self.memory.context(situation)), strict=True))

    def values_in(self, context: Context) -> list[float]:
        """Return what ``values`` does, for a context."""
        values = self.memory.expectations(context)
        if self.prediction is None:
            return values
        chances, sure = self.prediction.probabilities(), self.prediction.predict().confidence
        return [
            (1.0 - sure) * value
            + sure * sum(worth * chances[move] for move, worth in self._answers.get(tactic, {}).items())
            for tactic, value in zip(self.memory.choices, values, strict=True)
        ]

    def to_text(self, situation: object = None) -> str:
        """Return one line per tactic: what it is expected to bring now, and what is expected to come."""
        lines = [f"{tactic}: {value:+.2f}" for tactic, value in self.values(situation).items()]
        if self.prediction is not None:
            symbol, probability, confidence = self.prediction.predict()
            lines.append(f"expects {symbol} ({probability:.0%}, confidence {confidence:.0%})")
        return "\n".join(lines)

    def save_state(self) -> State:
        """Return all that was learned, as plain data.

        Raises:
            TypeError: if the random source cannot be saved.
        """
        tactic, context = self._last or ("", ())
        return {
            "version": 1,
            "memory": self.memory.save_state(),
            "prediction": None if self.prediction is None else self.prediction.save_state(),
            "random": save_random(self._random),
            "last": None if self._last is None else {"tactic": tactic, "context": list(context)},
        }

    def prepare_state(self, state: object) -> Callable[[], None]:
        """Check what was saved; return what puts it in place.

        Raises:
            StateError: if it cannot be loaded; says where in it, and why.
        """
        fields = Fields.versioned(state, version=1)
        put_memory = self.memory.prepare_state(fields.anything("memory"))
        put_prediction = None
        saved = fields.anything("prediction")
        if (saved is None) != (self.prediction is None):
            fields.refuse("prediction", "must be there if there is one here, and only then")
        if self.prediction is not None:
            put_prediction = self.prediction.prepare_state(saved)
        put_random = prepare_random(self._random, fields.anything("random"), "random")
        last = None if fields.anything("last") is None else self._read_last(fields.group("last"))
        fields.end()

        def put() -> None:
            put_memory()
            put_random()
            if put_prediction is not None:
                put_prediction()
            self._last = last

        return put

    def _read_last(self, fields: Fields) -> tuple[str, Context]:
        tactic = fields.one_of("tactic", self.memory.choices)
        context = self.memory.read_kinds(fields, "context", is_whole=True)
        fields.end()
        return tactic, context


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
