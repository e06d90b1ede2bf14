extends Marker3D
## A stop on the route of the scripted intruder.

enum Pace { SNEAK, WALK, RUN }

## How it goes here from the stop before.
@export var pace := Pace.WALK
## How long it stays (s).
@export_range(0.0, 60.0, 0.1, "suffix:s") var stay_s := 0.0
