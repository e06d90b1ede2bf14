# Calling the engine.
#
# GIL: released around every generic call, because the engine may block (waiting for a
# worker that needs Python deadlocks otherwise). Pointer getters and setters keep it:
# they return in tens of nanoseconds and cannot wait.

@cython.final
cdef class Arguments:
    """Variants made from Python values, destroyed with this object."""
    cdef GDVariant inline_variants[8]
    cdef const void* inline_pointers[8]
    cdef GDVariant* variants
    cdef const void** pointers
    cdef int64_t count

    def __cinit__(self, values):
        cdef int64_t i, wanted = len(values)
        self.variants = self.inline_variants
        self.pointers = self.inline_pointers
        if wanted > 8:
            self.variants = <GDVariant*>memory_of(wanted, sizeof(GDVariant))
            self.pointers = <const void**>memory_of(wanted, sizeof(void*))
        for i in range(wanted):
            variant_new(values[i], &self.variants[i])
            self.pointers[i] = &self.variants[i]
            self.count = i + 1

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self.count):
            gd_variant_destroy(&self.variants[i])
        if self.variants != self.inline_variants:
            free(self.variants)
        if self.pointers != self.inline_pointers:
            free(self.pointers)


cdef object call_variant(void* variant, object method, tuple values):
    cdef GDVariant result
    cdef CallError error
    cdef Arguments arguments = Arguments(values)
    cdef void* name = name_ptr(method)
    error.error = 0
    gd_variant_new_nil(&result)
    with nogil:
        gd_variant_call(variant, name, arguments.pointers, arguments.count, &result, &error)
    try:
        check_call(&error, method, values)
        return variant_to_python(&result)
    finally:
        gd_variant_destroy(&result)

cdef object variant_call(GDObject self, object method, tuple values):
    cdef GDVariant self_variant
    cdef void* pointer = self.live()
    from_type[T_OBJECT](&self_variant, &pointer)
    try:
        return call_variant(&self_variant, method, values)
    except GodotCallError as problem:
        raise GodotCallError(f"{self!r}: {problem}") from None
    finally:
        gd_variant_destroy(&self_variant)

cdef int check_call(CallError* error, object method, tuple values) except -1:
    if error.error == 0:
        return 0
    if error.error == 2:
        value = values[error.argument] if 0 <= error.argument < len(values) else None
        got = value.get_class() if isinstance(value, GDObject) else type(value).__name__
        raise GodotCallError(f"{method}: argument {error.argument + 1} needs {type_name(error.expected)}, got {got}")
    reasons = {1: "there is no such method", 3: f"too many arguments, it takes {error.expected}",
               4: f"too few arguments, it needs {error.expected}", 5: "the object is null", 6: "the method is not const"}
    raise GodotCallError(f"{method}: {reasons.get(error.error, f'call error {error.error}')}")


@cython.final
cdef class MethodBind:
    """One engine method, looked up once. ``call`` converts anything."""
    cdef const void* bind
    cdef readonly str name

    def __init__(self, str class_name, str method, int64_t method_hash):
        self.name = f"{class_name}.{method}"
        self.bind = gd_classdb_get_method_bind(name_ptr(class_name), name_ptr(method), method_hash)
        if self.bind == NULL:
            version = ".".join(map(str, engine_version))
            raise LookupError(f"Godot {version} has no {self.name} with hash {method_hash}, as Godot 4.4 and later"
                              " have it; rebuild the bridge with this engine")

    def call(self, GDObject target, *values):
        cdef GDVariant result
        cdef CallError error
        cdef Arguments arguments = Arguments(values)
        cdef void* pointer = target.live()
        error.error = 0
        with nogil:
            gd_object_method_bind_call(self.bind, pointer, arguments.pointers, arguments.count, &result, &error)
        try:
            check_call(&error, self.name, values)
            return variant_to_python(&result)
        finally:
            gd_variant_destroy(&result)


cdef MethodBind bind_emit_signal, bind_connect
cdef const void* bind_is_class = NULL
cdef const void* bind_global_transform = NULL
cdef const void* bind_delta_time = NULL
cdef const void* bind_physics_delta_time = NULL
cdef const void* bind_physics_frames = NULL
cdef const void* bind_process_frames = NULL
cdef const void* bind_is_in_physics = NULL
cdef void* engine_object = NULL

cdef const void* need_bind(str class_name, str method, int64_t method_hash) except NULL:
    return MethodBind(class_name, method, method_hash).bind

cdef int open_methods() except -1:
    global bind_emit_signal, bind_connect, bind_init_ref, bind_unreference, bind_reference_count
    global bind_is_class, bind_notification, bind_global_transform, bind_delta_time, bind_physics_delta_time
    global bind_physics_frames, bind_process_frames, bind_is_in_physics, engine_object
    bind_emit_signal = MethodBind("Object", "emit_signal", HASH_Object_emit_signal)
    bind_connect = MethodBind("Object", "connect", HASH_Object_connect)
    bind_is_class = need_bind("Object", "is_class", HASH_Object_is_class)
    bind_init_ref = need_bind("RefCounted", "init_ref", HASH_RefCounted_init_ref)
    bind_unreference = need_bind("RefCounted", "unreference", HASH_RefCounted_unreference)
    bind_reference_count = need_bind("RefCounted", "get_reference_count", HASH_RefCounted_get_reference_count)
    bind_notification = need_bind("Object", "notification", HASH_Object_notification)
    bind_global_transform = need_bind("Node3D", "get_global_transform", HASH_Node3D_get_global_transform)
    bind_delta_time = need_bind("Node", "get_process_delta_time", HASH_Node_get_process_delta_time)
    bind_physics_delta_time = need_bind("Node", "get_physics_process_delta_time", HASH_Node_get_physics_process_delta_time)
    bind_physics_frames = need_bind("Engine", "get_physics_frames", HASH_Engine_get_physics_frames)
    bind_process_frames = need_bind("Engine", "get_process_frames", HASH_Engine_get_process_frames)
    bind_is_in_physics = need_bind("Engine", "is_in_physics_frame", HASH_Engine_is_in_physics_frame)
    engine_object = gd_global_get_singleton(name_ptr("Engine"))

cdef void* class_tag(str name) except? NULL:
    """Return by what ``is_of_class`` knows a class: the engine's tag, NULL for a class that it does not know yet, or
    the name where the engine has no tags."""
    return gd_classdb_get_class_tag(name_ptr(name)) if has_class_tags else string_forever(name)

cdef inline bint is_of_class(const void* object, void* tag) noexcept nogil:
    cdef uint8_t found = 0
    if has_class_tags:
        return gd_object_cast_to(object, tag) != NULL
    gd_object_method_bind_ptrcall(bind_is_class, <void*>object, <const void* const*>&tag, &found)
    return found

def delta_time_of(GDObject node):
    """Return the time since a node's last ``on_process`` (s). Cost: one engine call, no allocation in the engine."""
    cdef double seconds = 0
    gd_object_method_bind_ptrcall(bind_delta_time, node.live(), NULL, &seconds)
    return seconds

def physics_delta_time_of(GDObject node):
    """Return the time since a node's last ``on_physics_process`` (s). Cost: as ``delta_time_of``."""
    cdef double seconds = 0
    gd_object_method_bind_ptrcall(bind_physics_delta_time, node.live(), NULL, &seconds)
    return seconds

def engine_step():
    """Return the numbers of physics and process frames, and whether a physics frame runs; deferred calls run between."""
    cdef int64_t physics = 0, process = 0
    cdef uint8_t is_in_physics = 0
    gd_object_method_bind_ptrcall(bind_physics_frames, engine_object, NULL, &physics)
    gd_object_method_bind_ptrcall(bind_process_frames, engine_object, NULL, &process)
    gd_object_method_bind_ptrcall(bind_is_in_physics, engine_object, NULL, &is_in_physics)
    return physics, process, bool(is_in_physics)
