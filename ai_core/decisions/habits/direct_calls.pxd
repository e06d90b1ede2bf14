# Calls of hooks of the engine without a Python object for each; their other side is addons/ai_core/bridge.
#
# A hook has a capsule "ai_core.direct_calls" as its attribute ``direct_calls``.

from cpython.list cimport PyList_SetItem
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport Py_INCREF
from libc.stdint cimport uint64_t

cdef enum:
    MOST_AT_ONCE = 32       # habits asked in one call; more are asked by the hook itself

cdef struct DirectCalls:
    int (*call)(void* hook, void* row, Py_ssize_t number, double argument, void* given) except -1
    Py_ssize_t (*first_of)(void* hook, void* row, const Py_ssize_t* numbers, Py_ssize_t count) except? -1


cdef inline DirectCalls* direct_calls_of(hook) except? NULL:
    """Return the direct calls of a callback, BORROWED; NULL if it does not offer them."""
    capsule = getattr(hook, "direct_calls", None)
    return NULL if capsule is None else <DirectCalls*>PyCapsule_GetPointer(capsule, b"ai_core.direct_calls")


cdef inline int call_directly(
    DirectCalls* calls, hook, row, Py_ssize_t number, double argument, given) except -1:
    """Call a hook for a node of a row; return the number of its answer."""
    return calls.call(<void*>hook, <void*>row, number, argument, <void*>given)


cdef inline Py_ssize_t first_directly(DirectCalls* calls, hook, row, tuple numbers) except? -1:
    """Return as ``hook.first_of``."""
    cdef Py_ssize_t at[MOST_AT_ONCE]
    cdef Py_ssize_t i, count = len(numbers)
    if calls == NULL or count > MOST_AT_ONCE:
        return hook.first_of(row, numbers)
    for i in range(count):
        at[i] = numbers[i]
    return calls.first_of(<void*>hook, <void*>row, at, count)


cdef inline const uint64_t* counter_of(capsule) except? NULL:
    """Return the counter in a capsule "ai_core.counter", BORROWED; NULL for None."""
    return NULL if capsule is None else <const uint64_t*>PyCapsule_GetPointer(capsule, b"ai_core.counter")


cdef inline int set_item(list values, Py_ssize_t index, value) except -1:
    """Set an item of a list; the limited API offers Cython only a call with an index that is an object."""
    Py_INCREF(value)        # PyList_SetItem takes the reference
    return PyList_SetItem(values, index, value)
