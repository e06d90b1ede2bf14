# A call that is made again and again: what can be looked up once is looked up once.
#
# GIL: released while the method runs, as around every generic call.
# BORROWED: the object of a kept call is a pointer and an instance id, checked at each call.

cdef const void* bind_is_inside_tree = NULL
cdef const void* bind_can_process = NULL

cdef int open_kept_calls() except -1:
    global bind_is_inside_tree, bind_can_process
    bind_is_inside_tree = need_bind("Node", "is_inside_tree", HASH_Node_is_inside_tree)
    bind_can_process = need_bind("Node", "can_process", HASH_Node_can_process)


@cython.final
cdef class Results:
    """What is done with what kept calls return: ``take`` is called with it, or it is dropped."""
    cdef public object take      # None lets results go without a look at them


@cython.final
cdef class KeptCall:
    """A call of one method with one number, an attribute of what this is called with.

    Args:
        target: an object, or a GDCallable and then no name.
        name: of the method, the script's or the engine's; "" for a GDCallable.
        attribute: where the number is found.
        results: shared by many; its ``take`` may change at any time.
        freed: what the error says when the object is gone.
        skips_paused: a node that is paused, disabled or outside the tree is not called.

    Cost: 0.2 us and what the method takes; no allocation.
    """
    cdef void* pointer           # BORROWED, NULL for a Callable that is no plain method
    cdef uint64_t id             # of the object that is called, 0 for none
    cdef void* name
    cdef GDVariant callable      # OWNED if is_open
    cdef bint is_open, skips_paused
    cdef object attribute, freed, shown
    cdef Results results

    def __init__(self, target, name, attribute, Results results not None, freed, bint skips_paused=False):
        self.attribute, self.freed, self.shown = attribute, freed, name
        self.results = results
        if isinstance(target, GDCallable):
            self.hold_callable(target)
        else:
            self.hold_method(target, name)
        self.skips_paused = skips_paused and self.pointer != NULL and bool(get_object(self.id).is_class("Node"))

    cdef int hold_callable(self, GDCallable target) except -1:
        if not target.get("is_custom") and target.is_live() and target.id != 0:
            self.hold_method(target.get("get_object"), target.get("get_method"))
            return 0
        self.shown = "call"
        self.name = name_ptr("call")
        self.id = target.id
        from_type[T_CALLABLE](&self.callable, target.words)
        self.is_open = True

    cdef int hold_method(self, GDObject target, name) except -1:
        self.shown = name
        self.name = name_ptr(name)
        self.pointer = target.live()
        self.id = target.id

    def __dealloc__(self):
        if self.is_open:
            gd_variant_destroy(&self.callable)

    def __call__(self, given):
        cdef uint64_t argument[3]
        cdef GDVariant result
        cdef CallError error
        cdef const void* arguments[1]
        cdef uint8_t is_on = 0
        if self.id != 0 and gd_object_get_instance_from_id(self.id) == NULL:
            raise GodotFreedError(self.freed)
        if self.skips_paused:
            gd_object_method_bind_ptrcall(bind_is_inside_tree, self.pointer, NULL, &is_on)
            if is_on:            # the engine complains of being asked outside the tree
                gd_object_method_bind_ptrcall(bind_can_process, self.pointer, NULL, &is_on)
            if not is_on:
                return None
        argument[0] = T_FLOAT    # a Variant of a number: its type, then the number
        (<double*>argument)[1] = getattr(given, self.attribute)
        arguments[0] = argument
        error.error = 0
        memset(&result, 0, sizeof(result))
        with nogil:
            if self.pointer != NULL:
                gd_object_call_script_method(self.pointer, self.name, arguments, 1, &result, &error)
            else:
                gd_variant_call(&self.callable, self.name, arguments, 1, &result, &error)
        if error.error == 0 and <uint32_t>result.words[0] == T_NIL:
            return None
        return self.finish(&result, &error, (<double*>argument)[1])

    cdef object finish(self, GDVariant* result, CallError* error, double number):
        try:
            check_call(error, self.shown, (number,))
            return None if self.results.take is None else self.results.take(variant_to_python(result))
        finally:
            gd_variant_destroy(result)
