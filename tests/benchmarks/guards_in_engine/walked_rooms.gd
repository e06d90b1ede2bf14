extends "res://tests/benchmarks/frame/rooms.gd"
## The rooms with a floor and a navigation map, for guards that walk as bodies.

const FLOOR_M := 0.5


func build() -> void:
	super()
	var length := room_count() * ROOM_M
	_add_wall(room_centre(0) + Vector3((length - ROOM_M) / 2, -FLOOR_M / 2, 0), Vector3(length, FLOOR_M, ROOM_M))
	var ground := NavigationMesh.new()
	ground.geometry_parsed_geometry_type = NavigationMesh.PARSED_GEOMETRY_STATIC_COLLIDERS
	ground.geometry_source_geometry_mode = NavigationMesh.SOURCE_GEOMETRY_GROUPS_WITH_CHILDREN
	ground.geometry_source_group_name = "ground of %s" % get_instance_id()
	add_to_group(ground.geometry_source_group_name)
	var region := NavigationRegion3D.new()
	region.navigation_mesh = ground
	add_child(region)
	region.bake_navigation_mesh(false)
