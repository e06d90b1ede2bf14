# Slide collisions of many bodies in their last move, in one crossing. GIL: kept; tens of nanoseconds each.

ctypedef struct SlideMethods:        # of a CharacterBody3D or a CharacterBody2D
    const void* count
    const void* get
    const void* collider
    const void* collisions           # how many one slide has; NULL in the plane, where it is one
    void* node_tag

cdef SlideMethods slides_in_space, slides_in_plane

cdef int open_slides() except -1:
    slides_in_space.count = need_bind("CharacterBody3D", "get_slide_collision_count", HASH_CharacterBody3D_get_slide_collision_count)
    slides_in_space.get = need_bind("CharacterBody3D", "get_slide_collision", HASH_CharacterBody3D_get_slide_collision)
    slides_in_space.collider = need_bind("KinematicCollision3D", "get_collider_id", HASH_KinematicCollision3D_get_collider_id)
    slides_in_space.collisions = need_bind("KinematicCollision3D", "get_collision_count", HASH_KinematicCollision3D_get_collision_count)
    slides_in_space.node_tag = class_tag("CharacterBody3D")
    slides_in_plane.count = need_bind("CharacterBody2D", "get_slide_collision_count", HASH_CharacterBody2D_get_slide_collision_count)
    slides_in_plane.get = need_bind("CharacterBody2D", "get_slide_collision", HASH_CharacterBody2D_get_slide_collision)
    slides_in_plane.collider = need_bind("KinematicCollision2D", "get_collider_id", HASH_KinematicCollision2D_get_collider_id)
    slides_in_plane.collisions = NULL
    slides_in_plane.node_tag = class_tag("CharacterBody2D")

cdef enum:
    MOST_SLIDES = 4                  # collisions read per body: a floor, two walls, and another body

def slide_pairs(list bodies, dict known not None):
    """Return which bodies collided with known objects in their last move_and_slide().

    Args:
        bodies: CharacterBody3D or CharacterBody2D; other and freed objects have no collisions.
        known: its keys are the instance ids of those objects.

    Returns:
        A set of pairs of instance ids: body and object. Of a body its first four collisions count.

    Cost: one engine call per body, and three for each slide.
    """
    cdef int64_t met[MOST_SLIDES]
    cdef Py_ssize_t i, at, found
    cdef void* body
    cdef set pairs = set()
    for i in range(len(bodies)):
        body = live_pointer(bodies[i])
        if body == NULL:
            continue
        found = 0
        if is_of_class(body, slides_in_space.node_tag):
            found = slides_of(body, &slides_in_space, met)
        elif is_of_class(body, slides_in_plane.node_tag):
            found = slides_of(body, &slides_in_plane, met)
        for at in range(found):
            other = met[at]
            if other in known:
                pairs.add(((<GDObject>bodies[i]).id, other))
    return pairs

cdef Py_ssize_t slides_of(void* body, SlideMethods* methods, int64_t* met) noexcept:
    """Write the instance ids of the colliders of a body, in order; return how many there are, at most MOST_SLIDES."""
    cdef int64_t slides = 0, slide = 0, part, parts = 1
    cdef Py_ssize_t found = 0
    cdef const void* arguments[1]
    cdef void* collision
    cdef uint8_t was_last
    gd_object_method_bind_ptrcall(methods.count, body, NULL, &slides)
    while slide < slides and found < MOST_SLIDES:
        arguments[0] = &slide
        collision = NULL             # an empty Ref, which the engine fills: ENGINE, with a reference that is OWNED
        gd_object_method_bind_ptrcall(methods.get, body, arguments, &collision)
        slide += 1
        if collision == NULL:
            continue
        if methods.collisions != NULL:
            gd_object_method_bind_ptrcall(methods.collisions, collision, NULL, &parts)
        for part in range(parts):
            if found < MOST_SLIDES:
                arguments[0] = &part
                gd_object_method_bind_ptrcall(methods.collider, collision, arguments if methods.collisions != NULL else NULL, &met[found])
                found += met[found] != 0
        gd_object_method_bind_ptrcall(bind_unreference, collision, NULL, &was_last)
        if was_last:
            gd_object_destroy(collision)
    return found
