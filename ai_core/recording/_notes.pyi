from ai_core.recording.notes import Freeze, Notes

INTERFACE: int

def notes(frozen: Freeze) -> Notes: ...
