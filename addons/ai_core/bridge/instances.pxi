# Creation and destruction of instances of declared classes by the engine.
#
# GIL: taken here, as in all callbacks; nothing is thrown.

cdef BindingCallbacks NO_BINDING_CALLBACKS
cdef bint PREPARES_DICTIONARY = sys.version_info < (3, 12)
# CPython 3.11 gives an instance that was not made by object.__new__ a dictionary that its
# attribute caches do not know: reading self.x costs twice as much as with a plain one.

cdef int64_t instances_created = 0
cdef int64_t instances_freed = 0
cdef int64_t placed_freed = 0        # those that a NodePlaces held

cdef void* new_instance(ClassData* data, void* pointer) except NULL:
    global instances_created
    cdef GDObject made
    cdef Instance* instance
    cdef uint8_t ok = 0
    cls = <object>data.cls
    made = cls.__new__(cls)
    instance = <Instance*>memory_of(1, sizeof(Instance))    # OWNED by the engine until on_free
    made.pointer = pointer
    made.id = gd_object_get_instance_id(pointer)
    made.instance = instance
    instance.python = <PyObject*>made
    instance.is_strong = 1
    instance.data = data
    Py_INCREF(made)                                      # the engine's reference
    gd_object_set_instance(pointer, data.name, instance)
    gd_object_set_instance_binding(pointer, library, instance, &NO_BINDING_CALLBACKS)
    if is_ref_counted_id(made.id):
        made.holds_reference = True                      # one engine reference as long as Python lives
        gd_object_method_bind_ptrcall(bind_init_ref, pointer, NULL, &ok)
    instances_created += 1
    if PREPARES_DICTIONARY:
        made.__dict__ = {}
    try:
        made.__init__()
    except BaseException as problem:
        report(problem, f"{cls.__name__}.__init__")
    return instance

cdef void* on_create(void* userdata, uint8_t notify) noexcept with gil:
    cdef ClassData* data = <ClassData*>userdata
    cdef void* pointer = gd_classdb_construct_object2(data.native)
    global entries
    entries += 1
    try:
        enter_thread()
        new_instance(data, pointer)
        if notify:
            notify_postinitialize(pointer)
    except BaseException as problem:
        report(problem, f"creating {(<object>data.cls).__name__}")
    return pointer

cdef void* on_recreate(void* userdata, void* pointer) noexcept with gil:
    global entries
    entries += 1
    try:
        return new_instance(<ClassData*>userdata, pointer)
    except BaseException as problem:
        report(problem, f"creating {(<object>(<ClassData*>userdata).cls).__name__} again")
    return NULL

cdef void on_free(void* userdata, void* instance_) noexcept with gil:
    global instances_freed, placed_freed, entries
    cdef Instance* instance = <Instance*>instance_
    cdef GDObject python
    if instance == NULL:
        return
    instances_freed += 1
    placed_freed += instance.places > 0
    entries += 1
    if instance.python != NULL:
        python = <GDObject>instance.python
        python.pointer = NULL
        python.instance = NULL
        python.holds_reference = False
        instance.python = NULL
        if instance.is_strong:
            Py_DECREF(python)
    free(instance)

cdef int64_t reference_count(void* pointer) noexcept nogil:
    cdef int64_t count = 0
    gd_object_method_bind_ptrcall(bind_reference_count, pointer, NULL, &count)
    return count

cdef void on_reference(void* instance_) noexcept with gil:
    cdef Instance* instance = <Instance*>instance_
    if instance.python != NULL and not instance.is_strong:      # 1 -> 2: somebody besides Python holds it
        instance.is_strong = 1
        Py_INCREF(<object>instance.python)

cdef void on_unreference(void* instance_) noexcept with gil:
    cdef Instance* instance = <Instance*>instance_
    cdef GDObject python
    if instance.python == NULL or not instance.is_strong:
        return
    python = <GDObject>instance.python
    if python.pointer != NULL and reference_count(python.pointer) == 1:
        instance.is_strong = 0
        try:
            release_later(python)
        except BaseException as problem:
            report(problem, "releasing an object")
        Py_DECREF(python)
