extends NavigationRegion3D
## A floor and a wall with a door, and the navigation mesh on them.


func _ready() -> void:
	_add_box(Vector3(44, 1, 20), Vector3(2, -0.5, 0))
	_add_box(Vector3(1, 3, 9), Vector3(0, 1.5, -5.5))
	_add_box(Vector3(1, 3, 9), Vector3(0, 1.5, 5.5))
	navigation_mesh = NavigationMesh.new()
	navigation_mesh.geometry_parsed_geometry_type = NavigationMesh.PARSED_GEOMETRY_STATIC_COLLIDERS
	bake_navigation_mesh(false)


func _add_box(size: Vector3, place: Vector3) -> void:
	var body := StaticBody3D.new()
	var collision := CollisionShape3D.new()
	var look := MeshInstance3D.new()
	var box := BoxShape3D.new()
	var mesh := BoxMesh.new()
	box.size = size
	mesh.size = size
	collision.shape = box
	look.mesh = mesh
	body.position = place
	body.add_child(collision)
	body.add_child(look)
	add_child(body)
