"""AIDebugOverlay: shows the AI of a running game on the screen."""
from __future__ import annotations

from enum import IntEnum
from typing import Any

from addons.ai_core.bridge.declarations import HINT_ENUM, KEYS
from addons.ai_core.bridge.gd import (
    Color,
    GDObject,
    Node,
    NodePath,
    StringName,
    construct,
    export,
    gdclass,
    method,
    signal,
    singleton,
)
from addons.ai_core.nodes.debugging.character_strip import STRIPS, STRIPS_LAYER, strip_of
from addons.ai_core.nodes.debugging.debug_watch import (
    MOST_CHARACTERS,
    SECTIONS,
    DebugWatch,
    characters_of,
    top_schedulers,
)
from addons.ai_core.nodes.debugging.edited_scene import has_action, is_a_part
from addons.ai_core.nodes.debugging.game_picture import LEGENDS
from addons.ai_core.nodes.scheduling.frame_stepper import FrameStepper
from addons.ai_core.nodes.scheduling.scheduler_lookup import SCHEDULERS, nearest, scheduler_warnings

PANEL = "res://addons/ai_core/debugging/debug_panel.gd"
OF_A_CHARACTER = ("habits", "senses")
HANDLE_PX = (22.0, 48.0)
KEY_F10 = 4194341
INTERNAL, ALWAYS = 1, 3
MARGIN_PX = 8.0
FONT_PX = 13
"""Of the drawer: all tabs and columns fit into a third of 1280 px."""


@gdclass(icon="res://addons/ai_core/icons/ai_debug_overlay.svg")
class AIDebugOverlay(Node):
    """Shows the AI of a running game on the screen.

    A strip at each character shows its habit, its awareness, and whether it sees or hears a target. A drawer at the
    side shows the tasks of the last frames and their times, the habits, knowledge and senses of a character with
    reasons, events, and path tickets; a click on a strip chooses its character. It costs nothing while it is hidden.
    The tab "AI" of the editor's debugger shows the same as the drawer.
    """

    class Section(IntEnum):
        SCHEDULER = 0
        HABITS = 1
        SENSES = 2
        EVENTS = 3
        PATHS = 4

    shown = export(bool, False, on_set="_shown_set", doc="If true, the overlay is visible.")
    section = export(Section, Section.SCHEDULER, on_set="_choice_set", doc="Section shown beside the frames.")
    character = export(
        NodePath, NodePath(""), on_set="_choice_set",
        doc="Character whose habits and senses are shown; if empty, the character chosen in the list.")
    has_strips = export(
        bool, True, on_set="_rebuild", doc="If true, shows a strip at each character on the screen, at most 24.")
    drawer_open = export(
        bool, True, on_set="_drawer_set", doc="If true, the drawer is open; if false, only its handle is shown.")
    has_list = export(bool, True, on_set="_rebuild", doc="If true, shows the list of characters.")
    width_share = export(
        float, 0.36, range=(0.1, 1, 0.01), on_set="_rebuild", doc="Share of the screen's width that the drawer takes.")
    opacity = export(float, 0.85, range=(0.1, 1, 0.05), on_set="_rebuild", doc="Opacity of the background.")
    refresh_interval = export(
        float, 0.2, range=(0.02, 5, 0.01), unit="s", group="Optimizations", on_set="_rebuild",
        doc="Time between two updates of the overlay.")
    toggle_key = export(
        int, KEY_F10, hint=(HINT_ENUM, KEYS), group="Debug", on_set="_keys_set",
        doc="Key that shows and hides the overlay; 0 means no key.")
    toggle_action = export(
        StringName, StringName(""), on_set="_keys_set", doc="Action of the InputMap that shows and hides the overlay.")

    shown_changed = signal(("shown", bool), doc="Emitted when the overlay is shown or hidden.")

    def __init__(self) -> None:
        self._layer: Any = None
        self._panel: Any = None
        self._drawer: Any = None
        self._handle: Any = None
        self._strips: Any = None
        self._characters: list[str] | None = None     # updated once per second, by the panel's wish or the timer
        self._strip_updates = 0
        self._watch: DebugWatch | None = None
        self._wish: dict[str, Any] = {}
        self._stepping = FrameStepper(self.get_tree)

    def on_enter_tree(self) -> None:
        self.process_mode = ALWAYS
        self._keys_set()

    def on_entered(self) -> None:
        self._rebuild()

    def on_exit_tree(self) -> None:
        self._stepping.close()
        self._close()

    def _unhandled_input(self, event: GDObject) -> None:
        is_key = event.is_class("InputEventKey") and event.pressed and not event.is_echo()
        by_key = is_key and self.toggle_key != 0 and self.toggle_key in (event.keycode, event.physical_keycode)
        if by_key or (self.toggle_action and event.is_action_pressed(self.toggle_action)):
            self.shown = not self.shown

    @method
    def get_report(self) -> dict:
        """Return the contents of the overlay as plain data, with the last 120 frames; empty while it is hidden."""
        return {} if self._watch is None else self._watch.look()

    def show_report(self) -> None:
        """Update strips and panel; called by a timer while visible, and in the rest of the frame that hides them."""
        if self._panel is None:
            return
        scheduler = self._scheduler()
        if self._strips is not None and scheduler is not None:
            self._show_strips(scheduler)
        self._leave_free(self.width_share if self.drawer_open else 0.0)
        watch = self._present_watch(scheduler) if self.drawer_open else None
        if watch is not None:
            self._panel.show_report(watch.report())

    def wished(self, wish: dict) -> None:
        """Change the selection; called by the panel."""
        if wish and self._panel is not None:
            self._wish = wish
            if self._watch is not None and self._watch.scheduler == self._scheduler():
                self._choose(self._watch)
            self.show_report()

    def pause(self, is_paused: bool) -> None:
        """Pause or resume the game, but not this node; called by the panel."""
        self._stepping.pause(is_paused)

    def run_one_frame(self) -> None:
        """Run one frame of AI, then pause again; called by the panel."""
        scheduler = self._scheduler()
        if scheduler is not None:
            self._stepping.step(scheduler)

    def _present_watch(self, scheduler: Any) -> DebugWatch | None:
        """Return the watch of a scheduler, a new one if it is not that of the last report; None without a scheduler."""
        if self._watch is not None and self._watch.scheduler != scheduler:
            self._watch.close()
            self._watch = None
        if self._watch is None and scheduler is not None:
            self._watch = DebugWatch(scheduler)
            self._choose(self._watch)
        return self._watch

    def _choose(self, watch: DebugWatch) -> None:
        wish = self._wish
        watch.choose(wish.get("section", SECTIONS[self.section]), wish.get("character", ""), wish.get("wanted", ""))

    def _scheduler(self) -> Any:
        found = self.get_node_or_null(self._wish.get("scheduler", "") or ".")
        if found is None or not found.is_class("AIScheduler"):
            found = nearest(self, "AIScheduler", SCHEDULERS)
        tops = top_schedulers(self)
        return None if found is None else found.top if found.top in tops else None

    def _open(self) -> None:
        self._layer = construct("CanvasLayer")
        self._layer.layer = STRIPS_LAYER
        self.add_child(self._layer, False, INTERNAL)
        if self.has_strips:
            self._strips = singleton("ResourceLoader").load(STRIPS).new()
            self._strips.connect("chosen", self.choose_strip)
            self._layer.add_child(self._strips)
        self._drawer = back = construct("PanelContainer")
        back.set_anchors_and_offsets_preset(15)              # the whole screen
        back.anchor_left = 1.0 - self.width_share
        style = construct("StyleBoxFlat")
        style.bg_color = Color(0.06, 0.07, 0.09, self.opacity)
        style.set_content_margin_all(MARGIN_PX)
        back.add_theme_stylebox_override("panel", style)
        self._layer.add_child(back)
        self._panel = singleton("ResourceLoader").load(PANEL).new()
        self._panel.theme = construct("Theme")
        self._panel.theme.default_font_size = FONT_PX
        self._panel.has_list = self.has_list
        self._panel.connect("wished", self.wished)
        self._panel.connect("pause_wished", self.pause)
        self._panel.connect("frame_wished", self.run_one_frame)
        back.add_child(self._panel)
        self._open_handle()
        timer = construct("Timer")
        timer.wait_time, timer.autostart, timer.ignore_time_scale = self.refresh_interval, True, True
        timer.connect("timeout", self.show_report)
        self._layer.add_child(timer)
        self._choice_set()

    def _open_handle(self) -> None:
        self._handle = construct("Button")
        self._handle.focus_mode = 0                          # the keyboard stays with the game
        self._handle.tooltip_text = "Opens and closes the drawer."
        self._handle.connect("pressed", self.toggle_drawer)
        self._layer.add_child(self._handle)
        self._drawer_set()

    def toggle_drawer(self) -> None:
        """Open or close the drawer; called by its handle."""
        self.drawer_open = not self.drawer_open

    def choose_strip(self, path: str) -> None:
        """Show a character in the drawer; called by a click on its strip."""
        if self._panel is not None:
            if self._panel.section not in OF_A_CHARACTER:
                self._panel.choose_section("habits")
            self._panel.choose_character(path)
            self.drawer_open = True

    def _drawer_set(self) -> None:
        if self._drawer is None:
            return
        self._drawer.visible = self.drawer_open
        self._handle.text = ">" if self.drawer_open else "<"
        edge = 1.0 - self.width_share if self.drawer_open else 1.0
        self._handle.anchor_left = self._handle.anchor_right = edge
        self._handle.offset_right, self._handle.offset_left = 0.0, -HANDLE_PX[0]
        self._handle.offset_top, self._handle.offset_bottom = MARGIN_PX, MARGIN_PX + HANDLE_PX[1]
        if not self.drawer_open and self._watch is not None:
            self._watch.close()
            self._watch = None

    def _show_strips(self, scheduler: Any) -> None:
        if self._strip_updates % max(1, round(1.0 / self.refresh_interval)) == 0:
            self._characters = characters_of(scheduler.joined_nodes, "", MOST_CHARACTERS)
        self._strip_updates += 1
        nodes = [scheduler.get_node_or_null(path) for path in self._strips.on_screen(self._characters or [])]
        self._strips.character = self._panel.character
        self._strips.show_strips([strip_of(one) for one in nodes if one is not None])

    def _leave_free(self, share: float) -> None:
        """Move the legend of what is drawn in the game beside the drawer; it may have come after it."""
        self.get_tree().call_group(LEGENDS, "leave_free", share)

    def _close(self) -> None:
        if self._layer is not None and self.is_inside_tree():
            self._leave_free(0.0)
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        if self._layer is not None:
            self._layer.queue_free()
        self._layer = self._panel = self._drawer = self._handle = self._strips = None
        self._wish, self._characters, self._strip_updates = {}, None, 0

    def _rebuild(self) -> None:
        self._close()
        if self.shown and self.is_inside_tree():
            self._open()

    def _shown_set(self) -> None:
        if self.is_inside_tree() and self.shown != (self._layer is not None):
            self._rebuild()
            self.shown_changed.emit(self.shown)

    def _choice_set(self) -> None:
        if self._panel is not None:
            character = self.get_node_or_null(self.character) if self.character else None
            if character is not None:
                self._panel.character = str(character.get_path())
            self._panel.choose_section(SECTIONS[self.section])

    def _keys_set(self) -> None:
        if self.is_inside_tree():
            self.set_process_unhandled_input(bool(self.toggle_action) or self.toggle_key != 0)

    def _get_configuration_warnings(self) -> list[str]:
        found = scheduler_warnings(self)
        if self.toggle_action and not is_a_part(self) and not has_action(self.toggle_action):
            found.append(f"toggle_action '{self.toggle_action}' is not an action of the InputMap; add it there")
        return found
