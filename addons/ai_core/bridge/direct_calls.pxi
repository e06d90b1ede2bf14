# Kept hooks of nodes in a row, for callers in C: no Python object is made for a call.
#
# GIL: held by the caller; released while the method runs.
# A capsule carries the functions, so that callers do not depend on this module.

ctypedef struct DirectCalls:
    int (*call)(void* hook, void* row, Py_ssize_t number, double argument, void* given) except -1
    Py_ssize_t (*first_of)(void* hook, void* row, const Py_ssize_t* numbers, Py_ssize_t count) except? -1

cdef DirectCalls direct_functions
direct_functions.call = call_directly
direct_functions.first_of = first_directly
_direct_calls = PyCapsule_New(<void*>&direct_functions, b"ai_core.direct_calls", NULL)

listeners_counter = PyCapsule_New(<void*>&listener_changes, b"ai_core.counter", NULL)
"""Number of changes that may affect the result of ``NodeRow.has_listeners``, for callers in C."""


cdef int call_directly(void* hook, void* row, Py_ssize_t number, double argument, void* given) except -1:
    """Call the hook on a node of a row.

    Returns:
        The index of its result among ``answers``; without answers, 1 for true and 0 for false.
    """
    cdef KeptHook self = <KeptHook>hook
    cdef NodeRow nodes
    cdef uint64_t argument_variant[2]
    cdef const void* arguments[1]
    cdef GDVariant result
    cdef CallError error
    cdef void* pointer = NULL
    if type(<object>row) is NodeRow:
        nodes = <NodeRow>row
        if 0 <= number < nodes.count:
            pointer = nodes.pointers[number][0]
    if pointer == NULL:              # gone, or left: says so, or calls it
        return number_of(self, self(<object>given))
    number_variant(argument_variant, argument)
    arguments[0] = argument_variant
    error.error = 0
    memset(&result, 0, sizeof(GDVariant))
    with nogil:
        gd_object_call_script_method(pointer, self.name, arguments, self.number is not None, &result, &error)
    if error.error == 0:
        if self.answers is None:
            if is_no(&result):
                return 0
            if <uint32_t>result.words[0] == T_BOOL:
                return 1
        elif <uint32_t>result.words[0] == T_INT and 0 <= <int64_t>result.words[1] < self.answer_count:
            return <int>result.words[1]
    return number_of(self, self.answer(<object>given, &result, &error))


cdef int number_of(KeptHook self, answer) except -1:
    if self.answers is None:
        return bool(answer)
    return 0 if answer is None else self.answers.index(answer)


cdef Py_ssize_t first_directly(void* hook, void* row, const Py_ssize_t* numbers, Py_ssize_t count) except? -1:
    """As ``KeptHook.first_of``."""
    cdef NodeRow nodes = <NodeRow?><object>row
    cdef Py_ssize_t said_no = 0
    cdef GDVariant result
    while said_no < count:
        said_no = (<KeptHook>hook).ask(nodes, numbers, count, said_no, &result)
        if said_no < 0 or said_no == count or <uint32_t>result.words[0] == T_BOOL:
            break                    # one cannot be asked; none said yes; a yes
        try:
            if variant_to_python(&result):
                break
        finally:
            gd_variant_destroy(&result)
        said_no += 1
    return said_no
