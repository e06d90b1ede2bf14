from ai_core.decisions.habit_context import HabitContext as HabitContext
from ai_core.decisions.habit_place import PlaceFields as PlaceFields
from ai_core.decisions.habit_ticking import HabitTicking as HabitTicking

INTERFACE: int
