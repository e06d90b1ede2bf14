# Arrays that cross as bytes in one copy: of objects as their ids, and of truth values.

class Bools(bytes):
    """Truth values, one per byte: a bool per item in Python, an Array of bool in the engine."""
    __slots__ = ()

    def __iter__(self):
        return map(bool, super().__iter__())

    def __getitem__(self, place):
        found = super().__getitem__(place)
        return Bools(found) if isinstance(place, slice) else bool(found)

cdef int bools_new(object values, void* slot) except -1:
    """Construct an Array of bool in an uninitialised slot. OWNED by the caller."""
    cdef int64_t count = PyBytes_Size(values), resized = 0, i
    cdef const char* bools = PyBytes_AsString(values)
    cdef const void* arguments[1]
    cdef GDVariant* variants
    constructors[T_ARRAY](slot, NULL)
    if count:
        arguments[0] = &count
        array_resize(slot, arguments, &resized, 1)
        variants = <GDVariant*>gd_array_operator_index(slot, 0)  # ENGINE: all in one block, and NIL: nothing to destroy
        for i in range(count):
            variants[i].words[0] = T_BOOL
            variants[i].words[1] = bools[i] != 0

cdef object ids_of_array(const void* array):
    """Instance ids of the objects in an Array, also of freed ones; 0 for other values."""
    cdef int64_t count = 0, i
    cdef const GDVariant* variants
    cdef int64_t* ids
    array_size(<void*>array, NULL, &count, 0)
    made = PyBytes_FromStringAndSize(NULL, count * sizeof(int64_t))
    if count:
        ids = <int64_t*>PyBytes_AsString(made)   # ours alone as yet: it may still be written to
        variants = <const GDVariant*>gd_array_operator_index_const(array, 0)    # ENGINE: all in one block
        for i in range(count):
            ids[i] = <int64_t>variants[i].words[1] if <uint32_t>variants[i].words[0] == T_OBJECT else 0
    return made
