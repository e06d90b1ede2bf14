extends Node3D
## What sounds and sights of many sensors cost, beside the same by hand in GDScript.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")

const SENSORS := 1000
const SOUNDS := 10
## Rounds before any counts: a process is as quick as it becomes only after some twenty.
const WARMING := 25
## So wide that one or two hear each sound.
const SIZE_M := 2000.0
const RANGE_M := 50.0
const EYES := 500
const TARGETS := 500
const RAYS := 2000
const YARD_M := 150.0
const WALLS := 400
const WALL_M := 2.5
const FRAME_S := 1.0 / 60.0
const TEXTBOOK := "textbook"
const PACKED := "packed arrays"
const LOOP := "GDScript loop"
## Controls, without goals: the least that the engine costs of it.
const PLACES := "places alone"
const CALLS := "calls alone"
const RAYS_ALONE := "rays alone"

## A tenth of a sound is left at its range.
var kept_per_m := pow(0.1, 1.0 / RANGE_M)
var sampling := Sampling.new()
var floors := BenchFloors.new()
## Of each line that is asked the number of the eye, then of each that of the target.
var pairs := PackedInt32Array()


class Listener extends Node3D:
	var threshold := 0.0
	var number := 0
	var heard: Array[int]
	func detects_modality(_modality: Modality) -> bool: return true
	func notify(_sound: Sound) -> void: heard.append(number)
	func on_sensed(_source: Node, _modality: String, _strength: float, _position: Vector3, _who: Node) -> void: heard.append(number)


class Modality:
	var max_range := RANGE_M
	var kept_per_m := 1.0
	func extra_checks(_sound: Sound, _sensor: Listener) -> bool: return true


class Sound:
	var strength := 1.0
	var position := Vector3.ZERO
	var modality: Modality


func _ready() -> void:
	add_child(sampling)
	add_child(floors)
	await get_tree().process_frame
	await measure_sounds(10000.0)                # within the frame
	await measure_sounds(343.0)
	await measure_sight()
	sampling.finish()


func now_us() -> int:
	return sampling.thread_us()


func since(begun: int) -> float:
	return now_us() - begun


func new_scheduler(budget: float) -> AIScheduler:
	var made := AIScheduler.new()
	made.update = AIScheduler.UPDATE_MANUAL
	made.budget = budget
	add_child(made)
	return made


func anywhere(random: RandomNumberGenerator, size: float) -> Vector3:
	return Vector3(random.randf_range(0, size), 0, random.randf_range(0, size))


func measure_sounds(speed_m_per_s: float) -> void:
	var scheduler := new_scheduler(0.0)
	var manager := SenseManager.new()
	manager.hearing_range = RANGE_M
	manager.hearing_kept_per_meter = kept_per_m
	manager.sound_speed = speed_m_per_s
	scheduler.add_child(manager)
	var random := RandomNumberGenerator.new()
	random.seed = 1
	var heard: Array[int] = []
	var listeners: Array[Listener] = []
	for i in SENSORS:
		var one := Listener.new()
		one.number = i
		one.heard = heard
		one.threshold = random.randf_range(0.05, 0.5)
		one.position = anywhere(random, SIZE_M)
		var sensor := Sensor3D.new()
		sensor.hearing_threshold = one.threshold
		sensor.sensed.connect(one.on_sensed)
		one.add_child(sensor)
		scheduler.add_child(one)
		listeners.append(one)
	var sources: Array[SenseSource3D] = []
	for i in SOUNDS:
		var source := SenseSource3D.new()
		source.sight_strength = 0.0
		# Somebody hears each.
		source.position = listeners[i * 7].position + Vector3(5, 0, 3)
		scheduler.add_child(source)
		sources.append(source)
	if speed_m_per_s * FRAME_S < RANGE_M:
		for i in 10: ours(scheduler, listeners, sources)
		await sampling.take_turns("one of ten sounds in a frame, told in later ones", SENSORS, {
			"ours": ours.bind(scheduler, listeners, sources), PACKED: packed.bind(listeners, sources),
		})
		scheduler.queue_free()
		await get_tree().process_frame
		return
	var sensors := listeners.map(func(one: Listener) -> Node: return one.get_child(0))
	floors.watch(sensors, [])
	for count: int in [SOUNDS, 1]:
		var what := "one of ten sounds in a frame" if count == SOUNDS else "one sound in a frame"
		var cases: Dictionary[String, Callable] = {
			"ours": ours.bind(scheduler, listeners, sources.slice(0, count)),
			TEXTBOOK: textbook.bind(listeners, sources.slice(0, count)),
			PACKED: packed.bind(listeners, sources.slice(0, count)),
		}
		var results := []
		for case: String in cases:
			for i in 2: cases[case].call()
			heard.clear()
			cases[case].call()
			heard.sort()
			results.append(heard.duplicate())
		for i in [1, 2]: sampling.check_equal(what, SENSORS, results[0], results[i])
		sampling.check_equal(what, SENSORS, results[0].size() >= count, true)
		cases[PLACES] = read_places.bind(listeners, count)
		cases[CALLS] = call_python.bind(listeners, count)
		await sampling.take_turns(what, SENSORS, cases, 41, WARMING)
		cases.erase(TEXTBOOK)
		await sampling.take_turns(what + ", no textbook between", SENSORS, cases)
	scheduler.queue_free()
	await get_tree().process_frame


## Engine nodes have to work out anew where they are, for each side.
func move(nodes: Array) -> void:
	for one: Node3D in nodes: one.position = one.position


func ours(scheduler: AIScheduler, listeners: Array[Listener], sources: Array[SenseSource3D]) -> float:
	move(listeners)
	var begun := now_us()
	for source in sources: source.emit("hearing", 1.0)
	scheduler.step(FRAME_S)
	return since(begun) / sources.size()


## The places of all, a part of them for each sound.
func read_places(listeners: Array[Listener], count: int) -> float:
	move(listeners)
	var begun := now_us()
	floors.read()
	return since(begun) / count


## As many calls as sounds are emitted by, into a method that does nothing.
func call_python(listeners: Array[Listener], count: int) -> float:
	move(listeners)
	var begun := now_us()
	for i in count: floors.ignore("hearing", 1.0)
	return since(begun) / count


func textbook(listeners: Array[Listener], sources: Array[SenseSource3D]) -> float:
	move(listeners)
	var begun := now_us()
	for source in sources:
		var sound := Sound.new()
		sound.position = source.global_position
		sound.modality = Modality.new()
		sound.modality.kept_per_m = kept_per_m
		for one in listeners:
			if not one.detects_modality(sound.modality): continue
			var distance := sound.position.distance_to(one.global_position)
			if sound.modality.max_range < distance: continue
			var intensity := sound.strength * pow(sound.modality.kept_per_m, distance)
			if intensity < one.threshold: continue
			if not sound.modality.extra_checks(sound, one): continue
			one.notify(sound)
	return since(begun) / sources.size()


var places := PackedVector3Array()
var thresholds := PackedFloat32Array()

## They are told at once, however far away.
func packed(listeners: Array[Listener], sources: Array[SenseSource3D]) -> float:
	if thresholds.is_empty():
		places.resize(listeners.size())
		for one in listeners: thresholds.append(one.threshold)
	move(listeners)
	var begun := now_us()
	for i in listeners.size(): places[i] = listeners[i].global_position
	var farthest := RANGE_M * RANGE_M
	for source in sources:
		var origin := source.global_position
		for i in places.size():
			var squared := origin.distance_squared_to(places[i])
			if squared <= farthest and pow(kept_per_m, sqrt(squared)) >= thresholds[i]:
				listeners[i].notify(null)
	return since(begun) / sources.size()


func wall(at: Vector3) -> void:
	var body := StaticBody3D.new()
	var shape := CollisionShape3D.new()
	var box := BoxShape3D.new()
	box.size = Vector3.ONE * WALL_M
	shape.shape = box
	body.add_child(shape)
	body.position = at
	add_child(body)


func yard(scheduler: AIScheduler, rays: int, sees_backgrounds: bool) -> Dictionary:
	var manager := SenseManager.new()
	manager.max_rays = rays
	manager.sees_backgrounds = sees_backgrounds
	scheduler.add_child(manager)
	var random := RandomNumberGenerator.new()
	random.seed = 2
	var eyes: Array[Node3D] = []
	var targets: Array[Node3D] = []
	for i in EYES:
		var eye := Sensor3D.new()
		eye.position = anywhere(random, YARD_M)
		eye.rotation.y = random.randf_range(0, TAU)
		scheduler.add_child(eye)
		eyes.append(eye)
	for i in TARGETS:
		var target := SenseSource3D.new()
		target.position = anywhere(random, YARD_M)
		scheduler.add_child(target)
		targets.append(target)
	return {"manager": manager, "eyes": eyes, "targets": targets}


func measure_sight() -> void:
	var random := RandomNumberGenerator.new()
	random.seed = 3
	for i in WALLS: wall(anywhere(random, YARD_M))
	for i in 3: await get_tree().physics_frame
	var what := "a frame with 2000 lines of sight"
	var scheduler := new_scheduler(0.0)
	var there := yard(scheduler, RAYS, false)
	for i in 30: scheduler.step(FRAME_S)
	sampling.check_equal(what, EYES, there.manager.get_stats().rays_asked, RAYS)
	floors.watch(there.eyes, there.targets)
	pairs = floors.pairs_in_line(there.manager, RAYS)
	var ray := RayCast3D.new()
	ray.enabled = false
	ray.top_level = true
	add_child(ray)
	await sampling.take_turns(what, EYES, {
		"ours": step.bind(scheduler, there),
		LOOP: cast.bind(there),
		RAYS_ALONE: cast_alone.bind(there, ray),
	})
	await sampling.take_turns("2000 lines of sight alone", EYES, {
		"ours": cast_alone.bind(there, ray),
		LOOP: cast.bind(there),
	})
	ray.queue_free()
	scheduler.budget = 1000.0
	check_bound(what, scheduler, there)
	scheduler.queue_free()
	await get_tree().process_frame
	scheduler = new_scheduler(0.0)
	there = yard(scheduler, RAYS, true)
	for i in 30: scheduler.step(FRAME_S)
	await sampling.take_turns(what + ", half of them past targets", EYES, {"ours": step.bind(scheduler, there)})


func step(scheduler: AIScheduler, there: Dictionary) -> float:
	move(there.eyes)
	move(there.targets)
	var begun := now_us()
	scheduler.step(FRAME_S)
	return since(begun)


## The same in one crossing.
func cast_alone(there: Dictionary, ray: RayCast3D) -> float:
	move(there.eyes)
	move(there.targets)
	var begun := now_us()
	floors.cast(ray)
	return since(begun)


## Which pairs to ask is known already; only the rays are cast, and no cone is looked at.
func cast(there: Dictionary) -> float:
	move(there.eyes)
	move(there.targets)
	var space := get_world_3d().direct_space_state
	var query := PhysicsRayQueryParameters3D.new()
	var free := 0
	var begun := now_us()
	for i in RAYS:
		query.from = there.eyes[pairs[i]].global_position
		query.to = there.targets[pairs[RAYS + i]].global_position
		if space.intersect_ray(query).is_empty(): free += 1
	return since(begun)


## Who steps before somebody's eyes is noticed as soon as was stated.
func check_bound(what: String, scheduler: AIScheduler, there: Dictionary) -> void:
	var manager: SenseManager = there.manager
	var space := get_world_3d().direct_space_state
	var noticed := 0
	for i in EYES:
		var eye: Sensor3D = there.eyes[i]
		var target: SenseSource3D = there.targets[i]
		var before := eye.global_position - eye.global_basis.z * 5.0
		if not space.intersect_ray(PhysicsRayQueryParameters3D.create(eye.global_position, before)).is_empty(): continue
		for frame in 40: scheduler.step(FRAME_S)
		# Everybody is looked at once in this time, twice if it came just too late; then it is among those asked.
		var looked_s := 2.0 * EYES * TARGETS / 65536.0 * FRAME_S * 2.0
		target.global_position = before
		var taken_s := 0.0
		while not eye.can_sense(target) and taken_s < 5.0:
			scheduler.step(FRAME_S)
			taken_s += FRAME_S
		var within_s: float = manager.get_stats().noticed_within_s + looked_s
		if taken_s > within_s: sampling.check_equal(what + ", noticed", EYES, taken_s, within_s)
		noticed += 1
		if noticed == 20: break
	sampling.check_equal(what, EYES, noticed, 20)
