"""RuleMind node: the facts of one character, and the rules of a RuleSet that fire for it."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from addons.ai_core.bridge.gd import (
    Node,
    NodePath,
    PackedStringArray,
    RefusedValue,
    export,
    gdclass,
    method,
    refusing,
    signal,
)
from addons.ai_core.nodes.characters.character_work import ACTOR_DOC, ScheduledCharacter
from addons.ai_core.nodes.characters.guard_expression import ABSENT
from addons.ai_core.nodes.characters.update_group import RULE_MINDS, UpdateGroup
from addons.ai_core.nodes.rules.rule_set import RuleSet, checked_grade
from addons.ai_core.nodes.rules.rule_state import fitted_state, named_parts
from addons.ai_core.nodes.saving.node_state import SavedState
from addons.ai_core.nodes.saving.scene_saving import saving
from addons.ai_core.nodes.scheduling.followed_resources import follow_changes
from addons.ai_core.nodes.scheduling.scheduler_lookup import report_next_frame, scheduler_of, scheduler_warnings
from ai_core.decisions import rules as library
from ai_core.saving.declared_state import Change, DeclaredState, Hook, Part
from ai_core.saving.fields import State, checked_dict
from ai_core.scheduling.task import MAX_PERIOD_FRAMES

SENSED_FACTS: dict[str, Callable[[Any], float]] = {
    "target": lambda target: float(target is not None), "is_in_view": float, "awareness": float}
"""Facts that the sensor sets, each with the function that returns its grade."""


@gdclass(icon="res://addons/ai_core/icons/rule_mind.svg", keywords="rule engine, expert system, production rules")
class RuleMind(ScheduledCharacter, SavedState, Node):
    """Applies the rules of a RuleSet to the facts of one character, such as set_fact("hurt", 0.6).

    The rules are evaluated through the AIScheduler, or when think() or decide() is called. A rule that
    fires emits rule_fired and calls the method of the actor that its option "do" names. A sensor sets the facts
    target (1 while there is one), is_in_view and awareness, where the RuleSet declares them with a grade.
    """

    KIND = RULE_MINDS

    rule_set = export(RuleSet, None, on_set="_rebuild", doc="The rules; characters can share a RuleSet.")
    parameters = export(
        dict, {}, on_set="_follow",
        doc="Values of this character for parameters of the rules, such as courage 0.9; others keep their default.")
    actor = export(NodePath, NodePath(".."), on_set="_look_for_actor", doc=ACTOR_DOC)
    think_automatically = export(
        bool, True, on_set="_reschedule", live=True, doc="If false, rules are evaluated only by think() and decide().")
    max_rules = export(
        int, 0, range=(0, 100, 1), shown_when=("think_automatically", True), live=True,
        doc="Most rules that fire in one evaluation; 1 makes one decision, 0 means no limit.")
    enabled = export(
        bool, True, on_set="_reschedule", live=True, doc="If false, rules are not evaluated automatically.")
    period = export(
        int, 1, range=(1, 600, 1), or_greater=True, most=MAX_PERIOD_FRAMES, unit="frames",
        group="Optimizations", on_set="_reschedule",
        shown_when=("think_automatically", True), live=True,
        doc="Number of frames between two checks of the time; period of the RuleSet is the time between evaluations.")
    priority = export(
        float, 1.0, range=(0.001, 1000, 0.001), on_set="_reschedule",
        shown_when=("think_automatically", True), live=True, doc="Weight of the node's share of the budget.")

    rule_fired = signal(
        ("rule", str),
        doc="Emitted when a rule fires. Facts set now count for the next rule of the same evaluation.")

    STATE = DeclaredState(settings=Hook(), mind=Part(at="_core"))
    cannot_load = "the RuleMind does not run; it needs a rule_set and an AIScheduler"
    parts_noun, kept_of_others = "facts, parameters or rules", "those that still exist"

    def __init__(self) -> None:
        self._core: library.RuleMind | None = None
        self._scheduler: Any = None
        self._update_group: UpdateGroup | None = None
        self._actor: Any = None
        self._fed: dict[str, Any] = {}      # values of the sensor
        self._followed: Sequence[RuleSet] = ()

    def on_predelete(self) -> None:
        self._chooser = None
        self._fed.clear()

    def on_entered(self) -> None:
        self._look_for_actor()
        if self._mistakes():
            report_next_frame(self, self._mistakes)
        self._scheduler = scheduler_of(self)
        if self._scheduler is not None:
            self._rebuild()
            self.begin_feed()
            self._scheduler.join(self)

    def on_exit_tree(self) -> None:
        self.end_feed()
        self._leave_update_group()
        self._followed = follow_changes(self._followed, (), self._follow)
        if self._scheduler is not None and self._scheduler.is_valid():
            self._scheduler.leave(self)
        self._core = self._scheduler = None

    @method(to="core.set")
    def set_fact(self, fact: str, grade: float) -> None:
        """Set the grade of a fact: 0 is false, 1 is true."""

    @method(to="core.grade")
    def get_grade(self, fact: str) -> float:
        """Return the grade of a fact (0 to 1), including facts that rules conclude."""

    @method(to="core.set_parameter")
    def set_parameter(self, parameter: str, value: float) -> None:
        """Set the value of a parameter for this character."""

    @method(to="core.parameter")
    def get_parameter(self, parameter: str) -> float:
        """Return the value of a parameter for this character."""

    @method
    @refusing()
    def think(self, most: int = 0) -> PackedStringArray:
        """Evaluate the rules now and return the rules that fired, in order; at most ``most``, with 0 all."""
        return PackedStringArray([fired.rule for fired in self.core.think(most or None)])

    @method
    def decide(self) -> str:
        """Fire the first rule of the agenda and return its name; "" if no rule can fire."""
        fired = self.think(1)
        return fired[0] if fired else ""

    @method
    def get_agenda(self) -> PackedStringArray:
        """Return the rules that can fire now, in the order of firing, without firing any or querying facts again."""
        return PackedStringArray([rule for rule, _, _ in self.core.agenda()])

    @method
    def release_quarantined(self) -> None:
        """Release the facts and rules that were quarantined after three failures in a row."""
        self.core.release_quarantined()
        self._reschedule()

    @method
    def to_text(self) -> str:
        """Return a text of the parameters, the facts with their grades, and the agenda with reasons for its order."""
        return self._core.to_text() if self._core is not None else "not running"

    save_state, load_state = saving("facts, parameters and the rules that have fired")

    def fire(self, rule: str, does: str) -> None:
        """Emit ``rule_fired`` and call the method of the actor; called by the rule."""
        if not self.is_valid():
            return                       # freed by a rule before
        self.rule_fired.emit(rule)
        if does and self.is_valid():
            self.actor_method(does)()

    def ask(self, method_name: str) -> float:
        """Return the grade of a fact that a method of the actor computes."""
        if not self.is_valid():
            return 0.0                   # freed by a rule before
        return checked_grade(self.actor_method(method_name)(), f"{method_name}() of the actor")

    def known(self, name: str) -> Any:
        """Return a value that the sensor has written, ABSENT if there is none."""
        return self._fed.get(name, ABSENT)

    def feed_values(self, values: Mapping[str, Any]) -> None:
        """Keep values of the sensor, and set the facts of their names, if the rules declare one with a grade."""
        self._fed.update(values)
        for key, value in values.items():
            declared = None if self._core is None or key not in SENSED_FACTS else self.rule_set.facts.get(key)
            if isinstance(declared, (bool, int, float)):
                self._core.set(key, SENSED_FACTS[key](value))

    def feed_event(self, name: str, payload: Any) -> None:
        """Ignore an event of the sensor: rules read facts only."""

    def is_in_use(self) -> bool:
        return self._core is not None

    def _parts(self, state: State) -> tuple[Iterable[str], Iterable[str]]:
        return named_parts(checked_dict("mind", state.get("mind")), "mind"), named_parts(self._core.save_state(), "")

    def _prepared_of_others(self, state: State) -> Change:
        begun = library.RuleMind(self._core.rules, parameters=self._own_parameters()).save_state()
        mind = fitted_state(state["mind"], begun, self._core.rules, "mind")
        return self.STATE.prepare(self, {**state, "mind": mind})

    def _finish_load(self) -> None:
        self._fed.clear()           # the facts are those of the save
        self.feed_was_loaded()
        self._reschedule()

    def _get_configuration_warnings(self) -> list[str]:
        done = [] if self.rule_set is None else self.rule_set.action_methods()
        return [
            *self._rule_warnings(), *self.actor_warnings(), *self.missing_methods(done), *self.sensor_warnings(),
            *scheduler_warnings(self)]

    def _rule_warnings(self) -> list[str]:
        if self.rule_set is None:
            return ["has no rule_set and does nothing; set a RuleSet"]
        try:
            library.RuleMind(self.rule_set.core(), parameters=self._own_parameters())
        except RefusedValue as mistake:
            return [str(mistake)]
        except (ValueError, TypeError, LookupError) as mistake:
            return [f"parameters do not fit the rules: {mistake}"]
        return []

    def actor_warnings(self) -> list[str]:
        actor = self.found_actor()
        if actor is None:
            return super().actor_warnings()
        facts = {} if self.rule_set is None else self.rule_set.facts
        return [
            f"'{actor.get_name()}' has no method {name}(), which a fact of the rules calls; add it" if name else
            f"the fact {str(fact)!r} of the rules names no method; write the name of one of the actor, or a value"
            for fact, name in facts.items() if isinstance(name, str) and not actor.has_method(name)
        ]

    def _mistakes(self) -> list[str]:
        return [*self._rule_warnings(), *self.actor_warnings()]

    def _own_parameters(self) -> dict[str, float]:
        return {str(name): value for name, value in self.parameters.items()}

    def _rebuild(self) -> None:
        """Use the present rules; facts and fired rules are reset."""
        if self._scheduler is not None:
            self._core = None
            self._followed = follow_changes(self._followed, [self.rule_set], self._follow)
            self._follow()

    def _follow(self) -> None:
        """Use the rules and parameters as they are now; after a mistake, which is reported, keep the former ones."""
        if self._scheduler is None:
            return
        before = self._core
        if not self._rule_warnings():
            self._core = library.RuleMind(
                self.rule_set.core(), owner=self, name=str(self.get_path()), parameters=self._own_parameters(),
                faults=self._scheduler.faults)
            if before is not None:
                self._core.continue_from(before)
            self.feed_values(self._fed)
        elif self.is_inside_tree():
            report_next_frame(self, self._mistakes)
        self._reschedule()

    def on_paused(self) -> None:
        self._reschedule()

    def on_unpaused(self) -> None:
        self._reschedule()

    def _reschedule(self) -> None:
        if self._core is not None:
            self._update_schedule(is_on=self.enabled and self.think_automatically)
        else:
            self._leave_update_group()

    def live(self, elapsed_s: float) -> float:
        self._core.update(elapsed_s, self.max_rules or None)
        return 0.0

    @property
    def core(self) -> library.RuleMind:
        """The library's rule mind, for behaviors written in Python."""
        if self._core is None:
            raise RefusedValue(self.why_idle("answer"))
        return self._core
