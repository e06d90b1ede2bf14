from ai_core.decisions.habits.habit_context import HabitContext as HabitContext
from ai_core.decisions.habits.habit_place import PlaceFields as PlaceFields
from ai_core.decisions.habits.habit_ticking import HabitTicking as HabitTicking
from ai_core.decisions.habits.habit_turns import HabitTurns as HabitTurns
from ai_core.decisions.habits.habit_turns import TickMember as TickMember
from ai_core.decisions.habits.habit_values import ValueCheck as ValueCheck
from ai_core.decisions.habits.habit_values import ValueIs as ValueIs
from ai_core.decisions.habits.habit_values import ValuesAre as ValuesAre
from ai_core.decisions.habits.habit_values import ValueWrite as ValueWrite
from ai_core.decisions.turns import PopulationSlot as PopulationSlot
from ai_core.decisions.turns import RoundRobin as RoundRobin

INTERFACE: int
