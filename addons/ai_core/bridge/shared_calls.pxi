# One call of many Callables with the same arguments, made once, in one crossing.
#
# GIL: released once while all of them run, as around every generic call.
# BORROWED: the object of a call is a pointer and an instance id, checked at each call.

cdef builtin_method_f array_make_read_only = NULL

cdef int open_shared_calls() except -1:
    global array_make_read_only
    array_make_read_only = gd_variant_get_ptr_builtin_method(
        T_ARRAY, name_ptr("make_read_only"), HASH_Array_make_read_only)


@cython.final
cdef class SharedArguments:
    """A text and an Array, which callees must not change."""
    cdef GDVariant text          # OWNED
    cdef GDVariant array         # OWNED
    cdef const void* pointers[2]

    def __init__(self, text, values):
        variant_new(text, &self.text)
        variant_new(values, &self.array)
        if gd_variant_get_type(&self.array) == T_ARRAY:
            array_make_read_only(internal[T_ARRAY](&self.array), NULL, NULL, 0)
        self.pointers[0] = &self.text
        self.pointers[1] = &self.array

    def __cinit__(self):
        gd_variant_new_nil(&self.text)
        gd_variant_new_nil(&self.array)

    def __dealloc__(self):
        gd_variant_destroy(&self.text)
        gd_variant_destroy(&self.array)


ctypedef struct CallTarget:
    void* pointer                # BORROWED, NULL for a Callable that is no plain method
    uint64_t id                  # of the object that is called, 0 for none
    void* name
    GDVariant callable           # OWNED if there is no pointer
    uint32_t turn                # changes when a round of calls under way must ask again


@cython.final
cdef class SharedCall:
    """A GDCallable that is called with a text and an Array, alone or in a batch.

    Args:
        target: the GDCallable.
        gone: called with the same arguments once the object of the target is freed.

    Cost: in a batch 0.05 us besides the method; alone 1 us.
    """
    cdef CallTarget target
    cdef object gone, shown

    def __cinit__(self):
        memset(&self.target, 0, sizeof(CallTarget))

    def __init__(self, GDCallable target not None, gone):
        self.gone = gone
        self.target.id = target.id
        if not target.get("is_custom") and target.id != 0 and target.is_live():
            self.shown = target.get("get_method")
            self.target.name = name_ptr(self.shown)
            self.target.pointer = (<GDObject?>target.get("get_object")).live()
            return
        self.shown = "call"
        self.target.name = name_ptr("call")
        from_type[T_CALLABLE](&self.target.callable, target.words)

    def __dealloc__(self):
        if not have_scripts_ended:
            gd_variant_destroy(&self.target.callable)

    def interrupt(self):
        """Make a batch that runs stop before this call, which was removed or redirected."""
        self.target.turn += 1

    def __call__(self, given):
        cdef SharedArguments arguments
        cdef CallError error
        if self.target.id != 0 and gd_object_get_instance_from_id(self.target.id) == NULL:
            return self.gone(given)
        arguments = SharedArguments(given.code, given.arguments)
        error.error = 0
        with nogil:
            call_target(&self.target, arguments.pointers, &error)
        check_call(&error, self.shown, (given.code, given.arguments))


cdef void call_target(CallTarget* target, const void** arguments, CallError* error) noexcept nogil:
    cdef GDVariant result
    memset(&result, 0, sizeof(result))
    if target.pointer != NULL:
        gd_object_call_script_method(target.pointer, target.name, arguments, 2, &result, error)
    else:
        gd_variant_call(&target.callable, target.name, arguments, 2, &result, error)
    if <uint32_t>result.words[0] != T_NIL:
        gd_variant_destroy(&result)


ctypedef struct PlannedCall:
    PyObject* call               # OWNED, a SharedCall
    CallTarget* target           # BORROWED from it
    uint32_t turn

def call_run(tuple callers, Py_ssize_t first, Py_ssize_t end, given):
    """Call each ``callers[i].call`` from ``first`` up to ``end``, as long as it is a SharedCall.

    Stops before a call that was interrupted meanwhile or needs the slow form; the caller makes that call alone.

    Args:
        callers: objects with ``call``.
        first: index of the first caller.
        end: index after the last caller.
        given: has ``code`` and ``arguments``.

    Returns:
        Index of the first caller that was not called.
    """
    cdef Py_ssize_t count = end - first, planned = 0, called, i
    cdef SharedArguments arguments
    cdef PlannedCall* plan
    cdef SharedCall call
    if first < 0 or end > len(callers):
        raise IndexError(f"first and end must be from 0 to the {len(callers)} callers, got {first} and {end}")
    if count <= 0 or type(callers[first].call) is not SharedCall:
        return first
    plan = <PlannedCall*>memory_of(count, sizeof(PlannedCall))
    try:
        while planned < count:
            found = callers[first + planned].call
            if type(found) is not SharedCall:
                break
            call = found
            Py_INCREF(call)
            plan[planned].call = <PyObject*>call
            plan[planned].target = &call.target
            plan[planned].turn = call.target.turn
            planned += 1
        arguments = SharedArguments(given.code, given.arguments)
        with nogil:
            called = call_planned(plan, planned, arguments.pointers)
        return first + called
    finally:
        for i in range(planned):
            Py_DECREF(<object>plan[i].call)
        free(plan)

cdef Py_ssize_t call_planned(PlannedCall* plan, Py_ssize_t count, const void** arguments) noexcept nogil:
    """Return the number of calls that were made."""
    cdef Py_ssize_t i
    cdef CallError error
    cdef CallTarget* target
    for i in range(count):
        target = plan[i].target
        if target.turn != plan[i].turn or (target.id != 0 and gd_object_get_instance_from_id(target.id) == NULL):
            return i
        error.error = 0
        call_target(target, arguments, &error)
        if error.error != 0:
            return i
    return count
