# Packed arrays <-> NumPy with one memcpy. A packed array is 16 bytes in the
# engine; which function reaches its data, and what an element is, is this table.

class PackedStringArray(list):
    """Texts that become a PackedStringArray; a plain list of str becomes an Array."""

class PackedVector4Array(numpy.ndarray):
    """Rows of four that become a PackedVector4Array; a plain (n, 4) array becomes colors."""

ctypedef void* (*element_f)(void*, int64_t) noexcept nogil
ctypedef void* (*element_const_f)(const void*, int64_t) noexcept nogil

ctypedef struct PackedKind:
    element_f element
    element_const_f element_const
    builtin_method_f size
    builtin_method_f resize
    int item_bytes               # one element, all columns
    int columns                  # 1: a flat array

cdef PackedKind packed_kinds[39]
cdef list packed_dtypes = [None] * 39
cdef dict packed_type_of = {}    # (dtype, columns) -> Variant type, what an ndarray becomes by default

cdef int add_packed_kind(int t, element_f element, element_const_f element_const, dtype, int columns) except -1:
    # size() and resize() have one signature, so one hash, in all packed arrays.
    cdef PackedKind* kind = &packed_kinds[t]
    kind.element = element
    kind.element_const = element_const
    kind.size = gd_variant_get_ptr_builtin_method(t, name_ptr("size"), HASH_PackedByteArray_size)
    kind.resize = gd_variant_get_ptr_builtin_method(t, name_ptr("resize"), HASH_PackedByteArray_resize)
    kind.columns = columns
    if dtype is not None:
        packed_dtypes[t] = numpy.dtype(dtype)
        kind.item_bytes = packed_dtypes[t].itemsize * columns
        packed_type_of[packed_dtypes[t], columns] = t

cdef int open_packed_kinds() except -1:
    add_packed_kind(T_PACKED_BYTE_ARRAY, <element_f>gd_packed_byte_array_operator_index, <element_const_f>gd_packed_byte_array_operator_index_const, "u1", 1)
    add_packed_kind(T_PACKED_INT32_ARRAY, <element_f>gd_packed_int32_array_operator_index, <element_const_f>gd_packed_int32_array_operator_index_const, "i4", 1)
    add_packed_kind(T_PACKED_INT64_ARRAY, <element_f>gd_packed_int64_array_operator_index, <element_const_f>gd_packed_int64_array_operator_index_const, "i8", 1)
    add_packed_kind(T_PACKED_FLOAT32_ARRAY, <element_f>gd_packed_float32_array_operator_index, <element_const_f>gd_packed_float32_array_operator_index_const, "f4", 1)
    add_packed_kind(T_PACKED_FLOAT64_ARRAY, <element_f>gd_packed_float64_array_operator_index, <element_const_f>gd_packed_float64_array_operator_index_const, "f8", 1)
    add_packed_kind(T_PACKED_STRING_ARRAY, <element_f>gd_packed_string_array_operator_index, <element_const_f>gd_packed_string_array_operator_index_const, None, 1)
    add_packed_kind(T_PACKED_VECTOR2_ARRAY, <element_f>gd_packed_vector2_array_operator_index, <element_const_f>gd_packed_vector2_array_operator_index_const, "f4", 2)
    add_packed_kind(T_PACKED_VECTOR3_ARRAY, <element_f>gd_packed_vector3_array_operator_index, <element_const_f>gd_packed_vector3_array_operator_index_const, "f4", 3)
    # A color and a Vector4 are alike in memory; an (n, 4) array becomes colors unless the slot says otherwise.
    add_packed_kind(T_PACKED_VECTOR4_ARRAY, <element_f>gd_packed_vector4_array_operator_index, <element_const_f>gd_packed_vector4_array_operator_index_const, "f4", 4)
    add_packed_kind(T_PACKED_COLOR_ARRAY, <element_f>gd_packed_color_array_operator_index, <element_const_f>gd_packed_color_array_operator_index_const, "f4", 4)

cdef inline bint is_packed(int t):
    return t >= T_PACKED_BYTE_ARRAY

cdef object packed_to_python(int t, const void* array):
    cdef PackedKind* kind = &packed_kinds[t]
    cdef int64_t count = 0, i
    cdef Py_buffer target
    kind.size(<void*>array, NULL, &count, 0)
    if t == T_PACKED_STRING_ARRAY:
        return PackedStringArray([string_to_python(kind.element_const(array, i)) for i in range(count)])
    out = numpy.empty(count * kind.columns, packed_dtypes[t])
    if count:
        PyObject_GetBuffer(out, &target, PyBUF_WRITABLE)
        memcpy(target.buf, kind.element_const(array, 0), count * kind.item_bytes)
        PyBuffer_Release(&target)
    if kind.columns > 1:
        out = out.reshape(-1, kind.columns)
    return out.view(PackedVector4Array) if t == T_PACKED_VECTOR4_ARRAY else out

cdef list packed_items(int t, const void* array):
    """Return the elements, each of its engine type, as an Array of them holds."""
    cdef object values = packed_to_python(t, array)
    if t == T_PACKED_STRING_ARRAY:
        return list(values)
    if packed_kinds[t].columns == 1:
        return values.tolist()
    if t == T_PACKED_VECTOR2_ARRAY:
        return [Vector2(x, y) for x, y in values.tolist()]
    if t == T_PACKED_VECTOR3_ARRAY:
        return [vector3(x, y, z) for x, y, z in values.tolist()]
    made = Color if t == T_PACKED_COLOR_ARRAY else Vector4
    return [made(*row) for row in values.tolist()]

cdef int packed_new(object values, int t, void* out) except -1:
    """Construct a packed array in 16 uninitialised bytes. OWNED by the caller."""
    cdef PackedKind* kind = &packed_kinds[t]
    cdef int64_t count, resized = 0, i
    cdef Py_buffer source
    cdef const void* arguments[1]
    if t == T_PACKED_STRING_ARRAY:
        values = list(values)
        count = len(values)
        for value in values:
            if not isinstance(value, str):
                raise TypeError(f"PackedStringArray needs str, got {type(value).__name__}")
    else:
        values = packed_source(values, t)
        count = values.shape[0]
    constructors[t](out, NULL)
    arguments[0] = &count
    kind.resize(out, arguments, &resized, 1)
    if t == T_PACKED_STRING_ARRAY:
        for i in range(count):
            destructors[T_STRING](kind.element(out, i))
            try:
                string_new(values[i], kind.element(out, i))
            except BaseException:    # what Unicode cannot encode
                constructors[T_STRING](kind.element(out, i), NULL)
                destructors[t](out)
                raise
    elif count:
        PyObject_GetBuffer(values, &source, PyBUF_C_CONTIGUOUS)
        memcpy(kind.element(out, 0), source.buf, count * kind.item_bytes)
        PyBuffer_Release(&source)

cdef object packed_source(object values, int t):
    """Return ``values`` as a C-contiguous array of the element type, copied only if necessary."""
    columns = packed_kinds[t].columns
    if isinstance(values, (bytes, bytearray, memoryview)) and t == T_PACKED_BYTE_ARRAY:
        return numpy.frombuffer(values, numpy.uint8)
    if not isinstance(values, numpy.ndarray) and columns > 1:
        values = [tuple(value) for value in values]
    array = numpy.ascontiguousarray(values, packed_dtypes[t])
    if array.size == 0:
        return array.reshape(-1)
    if array.ndim != (1 if columns == 1 else 2) or (columns > 1 and array.shape[1] != columns):
        raise TypeError(f"{type_name(t)} needs shape {'(n,)' if columns == 1 else f'(n, {columns})'}, got {array.shape}")
    return array
