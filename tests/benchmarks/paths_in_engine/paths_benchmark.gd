extends Node
## The hardest ways of four levels: ours, and AStarGrid2D of the engine, without cutting corners.

const Sampling := preload("res://tests/benchmarks/in_engine/sampling.gd")
const OTHER := "AStarGrid2D"
const LEVELS: Array[String] = ["caves", "halls", "noise", "corridors"]
const BUDGET_US := 2000.0
const REQUESTS := 1000
const QUADS := 60
const FORMS: Dictionary[String, String] = {
	"A*": "walking",
	"jumps": "jumping",
	"as the service chooses": "as the service chooses",
}

var sampling := Sampling.new()
var bench := BenchPaths.new()


func _ready() -> void:
	add_child(sampling)
	add_child(bench)
	await get_tree().process_frame
	for level in LEVELS:
		var grid := grid_of(level, AStarGrid2D.DIAGONAL_MODE_ONLY_IF_NO_OBSTACLES, AStarGrid2D.HEURISTIC_OCTILE)
		for form: String in FORMS: await compare("%s in %s" % [form, level], level, FORMS[form], grid)
		await compare("jumps, cold in %s" % level, level, FORMS["jumps"], grid, false)
	for level: String in ["caves", "corridors"]:
		var grid := grid_of(level, AStarGrid2D.DIAGONAL_MODE_NEVER, AStarGrid2D.HEURISTIC_MANHATTAN)
		await compare("4 neighbors in %s" % level, level, "walking, 4 neighbors", grid)
	await navigate()
	sampling.finish()


## Requests of one frame over a navigation map: how far a frame goes over its budget, beside the longest query.
func navigate() -> void:
	var scheduler := AIScheduler.new()
	scheduler.update = AIScheduler.UPDATE_MANUAL
	scheduler.budget = BUDGET_US
	var region := NavigationRegion3D.new()
	region.navigation_mesh = quads()
	var service := PathService.new()
	scheduler.add_child(region)
	scheduler.add_child(service)
	add_child(scheduler)
	var map := region.get_world_3d().navigation_map
	while (NavigationServer3D.map_get_iteration_id(map) == 0
			or not NavigationServer3D.map_get_closest_point_owner(map, Vector3.ZERO).is_valid()):
		await get_tree().physics_frame
	var random := RandomNumberGenerator.new()
	random.seed = 3
	var ends := PackedVector3Array()
	for i in 2 * REQUESTS: ends.append(Vector3(random.randf_range(-29, 29), 0, random.randf_range(-29, 29)))
	var over := []
	var queries := []
	for sample in 7:
		var longest := 0.0
		for i in 300:
			var begun := sampling.thread_us()
			NavigationServer3D.map_get_path(map, ends[i], ends[i + REQUESTS], true)
			longest = maxf(longest, sampling.thread_us() - begun)
		queries.append(longest)
		var last := 0
		for i in REQUESTS: last = service.request_path(ends[i], ends[i + REQUESTS] + Vector3(sample * 0.01, 0, 0))
		var furthest := 0.0
		while service.get_state(last) in ["waiting", "running"]:
			var begun := sampling.thread_us()
			scheduler.step(1.0 / 60.0)
			furthest = maxf(furthest, sampling.thread_us() - begun - BUDGET_US)
		over.append(furthest)
	sampling.report("over its budget, 1000 requests in a frame", REQUESTS, {"ours": over, "longest query": queries})
	var searches: int = service.get_stats()["searches"]
	var shared := []
	var asked := []
	for sample in 7:
		var begun := sampling.thread_us()
		for i in REQUESTS: service.request_path(ends[0], ends[REQUESTS])
		shared.append(sampling.thread_us() - begun)
		begun = sampling.thread_us()
		for i in REQUESTS: NavigationServer3D.map_get_path(map, ends[0], ends[REQUESTS], true)
		asked.append(sampling.thread_us() - begun)
	sampling.check_equal("the same way, 1000 times", REQUESTS, service.get_stats()["searches"] - searches <= 1, true)
	sampling.report("the same way, 1000 times", REQUESTS, {"ours": shared, "map_get_path": asked})


## A floor of quads, one in ten missing.
func quads() -> NavigationMesh:
	var mesh := NavigationMesh.new()
	var random := RandomNumberGenerator.new()
	random.seed = 5
	var vertices := PackedVector3Array()
	for z in QUADS + 1:
		for x in QUADS + 1: vertices.append(Vector3(x - QUADS / 2.0, 0, z - QUADS / 2.0))
	mesh.vertices = vertices
	for z in QUADS:
		for x in QUADS:
			var first := z * (QUADS + 1) + x
			if random.randf() > 0.1:
				mesh.add_polygon([first, first + 1, first + QUADS + 2, first + QUADS + 1])
	return mesh


func grid_of(level: String, diagonals: int, heuristic: int) -> AStarGrid2D:
	var grid := AStarGrid2D.new()
	var size := bench.size_of(level)
	var walls := bench.walls_of(level)
	grid.region = Rect2i(0, 0, size[0], size[1])
	grid.diagonal_mode = diagonals
	grid.default_compute_heuristic = heuristic
	grid.default_estimate_heuristic = heuristic
	grid.update()
	for cell in walls.size():
		if walls[cell]: grid.set_point_solid(Vector2i(cell % size[0], cell / size[0]))
	return grid


## Both are warm, by a first try that is not timed, or neither is: the other one came occlusion.
func compare(what: String, level: String, form: String, grid: AStarGrid2D, is_warm := true) -> void:
	bench.prepare(level, form)
	var queries := bench.queries_of(level)
	var cases: Dictionary[String, Callable] = {
		"ours": func() -> float:
			if is_warm: bench.find(level, form)
			var begun := sampling.thread_us()
			bench.find(level, form)
			return sampling.thread_us() - begun,
		OTHER: func() -> float:
			if is_warm: way(grid, queries[0], queries[1])
			var begun := sampling.thread_us()
			for i in range(0, queries.size(), 2): way(grid, queries[i], queries[i + 1])
			return sampling.thread_us() - begun,
	}
	await sampling.take_turns(what, 1, cases, 7, 1)
	var costs := bench.find(level, form)
	for i in costs.size():
		var own := way(grid, queries[2 * i], queries[2 * i + 1])
		var cost := 0.0
		for step in range(1, own.size()):
			cost += Vector2(own[step] - own[step - 1]).length()
		sampling.check_equal(what, 1, absf(cost - costs[i]) < 0.01, true)


func way(grid: AStarGrid2D, start: int, goal: int) -> Array[Vector2i]:
	var width := grid.region.size.x
	return grid.get_id_path(Vector2i(start % width, start / width), Vector2i(goal % width, goal / width))
