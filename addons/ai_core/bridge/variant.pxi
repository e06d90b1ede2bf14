# Variants <-> Python. A Variant is 24 bytes; `internal` reaches the value inside, so
# one reader serves Variants, ptrcall arguments and virtual arguments alike.

cdef enum:
    T_NIL = 0
    T_BOOL = 1
    T_INT = 2
    T_FLOAT = 3
    T_STRING = 4
    T_VECTOR2 = 5
    T_VECTOR3 = 9
    T_STRING_NAME = 21
    T_NODE_PATH = 22
    T_RID = 23
    T_OBJECT = 24
    T_CALLABLE = 25
    T_SIGNAL = 26
    T_DICTIONARY = 27
    T_ARRAY = 28
    T_OBJECT_IDS = -28           # of ours: an Array, of which Python gets the ids of objects
    T_PACKED_BYTE_ARRAY = 29
    T_PACKED_INT32_ARRAY = 30
    T_PACKED_INT64_ARRAY = 31
    T_PACKED_FLOAT32_ARRAY = 32
    T_PACKED_FLOAT64_ARRAY = 33
    T_PACKED_STRING_ARRAY = 34
    T_PACKED_VECTOR2_ARRAY = 35
    T_PACKED_VECTOR3_ARRAY = 36
    T_PACKED_COLOR_ARRAY = 37
    T_PACKED_VECTOR4_ARRAY = 38
    T_MAX = 39

ctypedef struct GDVariant:
    uint64_t words[3]

cdef from_type_f from_type[39]
cdef internal_f internal[39]
cdef destructor_f destructors[39]
cdef constructor_f constructors[39]
cdef constructor_f string_from_name, string_from_path, path_from_string, callable_copy, signal_new
cdef builtin_method_f array_size, array_resize, dictionary_keys, callable_call_deferred
cdef builtin_method_f signal_object, signal_name, callable_object_id
cdef int number_count[39]            # numbers in a Numbers type, 0 for other types
cdef bint number_is_int[39]
cdef list number_class = [None] * 39
cdef dict type_of_class = {}         # exact Python class -> Variant type
cdef list type_names = [None] * 39

cdef int open_variants() except -1:
    global string_from_name, string_from_path, path_from_string, callable_copy, signal_new
    global array_size, array_resize, dictionary_keys, callable_call_deferred, signal_object, signal_name, callable_object_id
    cdef int t
    cdef uint64_t name
    for t in range(T_MAX):
        gd_variant_get_type_name(t, &name)
        type_names[t] = string_to_python(&name)
        if t > 0:
            from_type[t] = gd_get_variant_from_type_constructor(t)
            internal[t] = gd_variant_get_ptr_internal_getter(t)
            destructors[t] = gd_variant_get_ptr_destructor(t)
            constructors[t] = gd_variant_get_ptr_constructor(t, 0)
    # Constructor numbers are positions in the engine's documentation of each type.
    string_from_name = gd_variant_get_ptr_constructor(T_STRING, 2)
    string_from_path = gd_variant_get_ptr_constructor(T_STRING, 3)
    path_from_string = gd_variant_get_ptr_constructor(T_NODE_PATH, 2)
    callable_copy = gd_variant_get_ptr_constructor(T_CALLABLE, 1)
    signal_new = gd_variant_get_ptr_constructor(T_SIGNAL, 2)
    array_size = gd_variant_get_ptr_builtin_method(T_ARRAY, name_ptr("size"), HASH_Array_size)
    array_resize = gd_variant_get_ptr_builtin_method(T_ARRAY, name_ptr("resize"), HASH_Array_resize)
    dictionary_keys = gd_variant_get_ptr_builtin_method(T_DICTIONARY, name_ptr("keys"), HASH_Dictionary_keys)
    callable_call_deferred = gd_variant_get_ptr_builtin_method(T_CALLABLE, name_ptr("call_deferred"), HASH_Callable_call_deferred)
    callable_object_id = gd_variant_get_ptr_builtin_method(T_CALLABLE, name_ptr("get_object_id"), HASH_Callable_get_object_id)
    signal_object = gd_variant_get_ptr_builtin_method(T_SIGNAL, name_ptr("get_object"), HASH_Signal_get_object)
    signal_name = gd_variant_get_ptr_builtin_method(T_SIGNAL, name_ptr("get_name"), HASH_Signal_get_name)
    kinds = {6: Vector2i, 7: Rect2, 8: Rect2i, 10: Vector3i, 11: Transform2D, 12: Vector4, 13: Vector4i, 14: Plane,
             15: Quaternion, 16: AABB, 17: Basis, 18: Transform3D, 19: Projection, 20: Color}
    for t, cls in kinds.items():
        number_class[t] = cls
        number_count[t] = cls._length
        number_is_int[t] = cls.__name__.endswith("i")
        type_of_class[cls] = t
    type_of_class.update({
        type(None): T_NIL, bool: T_BOOL, int: T_INT, float: T_FLOAT, str: T_STRING, Vector2: T_VECTOR2, Vector3: T_VECTOR3,
        StringName: T_STRING_NAME, NodePath: T_NODE_PATH, RID: T_RID, GDObject: T_OBJECT, GDCallable: T_CALLABLE,
        Signal: T_SIGNAL, dict: T_DICTIONARY, list: T_ARRAY, tuple: T_ARRAY, bytes: T_PACKED_BYTE_ARRAY, bytearray: T_PACKED_BYTE_ARRAY,
        PackedStringArray: T_PACKED_STRING_ARRAY, PackedVector4Array: T_PACKED_VECTOR4_ARRAY,
    })

cdef str type_name(int t):
    return type_names[t]

# ---- engine -> Python

cdef object slot_to_python(int t, const void* slot):
    """The value of type ``t`` at ``slot``; ``t`` 0 means that the slot holds a Variant."""
    cdef Vector2 two
    cdef Vector3 three
    if t == T_FLOAT:
        return (<const double*>slot)[0]
    if t == T_INT:
        return (<const int64_t*>slot)[0]
    if t == T_BOOL:
        return (<const uint8_t*>slot)[0] != 0
    if t == T_VECTOR3:
        three = Vector3.__new__(Vector3)
        memcpy(three.v, slot, 12)
        return three
    if t == T_OBJECT:
        return object_to_python((<void* const*>slot)[0])
    if t == T_STRING:
        return string_to_python(slot)
    if t == T_STRING_NAME:
        return name_to_python(slot)
    if t == T_NIL:
        return variant_to_python(slot) if slot != NULL else None
    if t == T_VECTOR2:
        two = Vector2.__new__(Vector2)
        memcpy(two.v, slot, 8)
        return two
    if t == T_ARRAY:
        return array_to_python(slot)
    if t == T_DICTIONARY:
        return dictionary_to_python(slot)
    return rare_to_python(t, slot)

cdef object rare_to_python(int t, const void* slot):
    cdef int i
    if t == T_OBJECT_IDS:
        return ids_of_array(slot)
    if is_packed(t):
        return packed_to_python(t, slot)
    if number_count[t]:
        if number_is_int[t]:
            numbers = tuple([(<const int32_t*>slot)[i] for i in range(number_count[t])])
        else:
            numbers = tuple([(<const float*>slot)[i] for i in range(number_count[t])])
        return tuple.__new__(number_class[t], numbers)
    if t == T_CALLABLE:
        return callable_to_python(slot)
    if t == T_NODE_PATH:
        return NodePath(path_to_python(slot))
    if t == T_RID:
        return RID((<const uint64_t*>slot)[0])
    if t == T_SIGNAL:
        return signal_to_python(slot)
    raise TypeError(f"no Python form for the engine type {type_name(t)}")

cdef object variant_to_python(const void* variant):
    cdef int t = gd_variant_get_type(variant)
    cdef void* pointer
    if t == T_NIL:
        return None
    if t == T_OBJECT:
        # A Variant may outlive its object: its id is in the second word, checked before the pointer is used.
        pointer = gd_object_get_instance_from_id((<const uint64_t*>variant)[1])
        return object_to_python(pointer)
    return slot_to_python(t, internal[t](<void*>variant))

DEEPEST_NESTING = 200
"""Nesting depth of Arrays and Dictionaries; deeper values, or one that contains itself, would exhaust the C stack."""

cdef int nesting = 0

cdef int enter_nested() except -1:
    global nesting
    if nesting >= DEEPEST_NESTING:
        raise RefusedValue(f"an Array or Dictionary is nested deeper than {DEEPEST_NESTING} levels, or contains itself")
    nesting += 1

cdef list array_to_python(const void* array):
    global nesting
    cdef int64_t count = 0, i
    enter_nested()
    try:
        array_size(<void*>array, NULL, &count, 0)
        return [variant_to_python(gd_array_operator_index_const(array, i)) for i in range(count)]
    finally:
        nesting -= 1

cdef object key_to_python(const void* variant):
    """A Dictionary's key: Arrays become tuples, because a key must be hashable."""
    key = variant_to_python(variant)
    if type(key) is list:
        key = tuple(key)
    try:
        hash(key)
    except TypeError:
        raise RefusedValue(
            f"a Dictionary with a key of type {type_name(gd_variant_get_type(variant))} has no Python form;"
            " use a text, a number or a vector as key") from None
    return key

cdef dict dictionary_to_python(const void* dictionary):
    global nesting
    cdef uint64_t keys = 0
    cdef int64_t count = 0, i
    cdef const void* key
    enter_nested()
    constructors[T_ARRAY](&keys, NULL)
    dictionary_keys(<void*>dictionary, NULL, &keys, 0)
    array_size(&keys, NULL, &count, 0)
    result = {}
    try:
        for i in range(count):
            key = gd_array_operator_index_const(&keys, i)
            result[key_to_python(key)] = variant_to_python(gd_dictionary_operator_index_const(dictionary, key))
    finally:
        nesting -= 1
        destructors[T_ARRAY](&keys)
    return result

cdef object signal_to_python(const void* signal):
    cdef void* pointer = NULL
    cdef uint64_t name = 0
    signal_object(<void*>signal, NULL, &pointer, 0)
    constructors[T_STRING_NAME](&name, NULL)
    signal_name(<void*>signal, NULL, &name, 0)
    text = name_to_python(&name)
    destructors[T_STRING_NAME](&name)
    return Signal(object_to_python(pointer), text)

# ---- Python -> engine

cdef int type_of(object value) except -1:
    known = type_of_class.get(type(value))
    if known is not None:
        return known
    if isinstance(value, GDObject):
        return T_OBJECT
    if isinstance(value, numpy.ndarray):
        columns = 1 if value.ndim == 1 else value.shape[1] if value.ndim == 2 else 0
        packed = packed_type_of.get((value.dtype, columns))
        if packed is None:
            raise TypeError(f"no packed array for a {value.dtype} array of shape {value.shape}")
        return packed
    if isinstance(value, numpy.generic):
        value = value.item()
    for cls, t in ((bool, T_BOOL), (int, T_INT), (float, T_FLOAT), (str, T_STRING), (dict, T_DICTIONARY), (list, T_ARRAY), (tuple, T_ARRAY)):
        if isinstance(value, cls):
            return t
    if callable(value):
        return T_CALLABLE
    raise TypeError(f"cannot pass a {type(value).__name__} to the engine; use a number, str, list, dict, NumPy array, engine value or object")

cdef int slot_new(object value, int t, void* slot) except -1:
    """Construct a value of type ``t`` in uninitialised memory. OWNED by the caller."""
    cdef const void* arguments[1]
    if t == T_NIL:
        variant_new(value, slot)
    elif t == T_FLOAT:
        (<double*>slot)[0] = value
    elif t == T_INT:
        (<int64_t*>slot)[0] = value
    elif t == T_BOOL:
        (<uint8_t*>slot)[0] = 1 if value else 0
    elif t == T_VECTOR3:
        memcpy(slot, (<Vector3?>value).v, 12)
    elif t == T_OBJECT:
        (<void**>slot)[0] = NULL if value is None else (<GDObject?>value).live()
    elif t == T_STRING:
        string_new(as_text(value), slot)
    elif t == T_STRING_NAME:
        text_name_new(as_text(value), slot)
    elif t == T_VECTOR2:
        memcpy(slot, (<Vector2?>value).v, 8)
    elif t == T_ARRAY:
        array_new(value, slot)
    elif t == T_DICTIONARY:
        dictionary_new(value, slot)
    elif is_packed(t):
        packed_new(value, t, slot)
    elif number_count[t]:
        numbers_new(value, t, slot)
    elif t == T_NODE_PATH:
        path_new(as_text(value), slot)
    elif t == T_RID:
        (<uint64_t*>slot)[0] = value
    elif t == T_CALLABLE:
        if type(value) is GDCallable:
            arguments[0] = (<GDCallable>value).words
            callable_copy(slot, arguments)
        else:
            callable_new(value, slot)
    elif t == T_SIGNAL:
        signal_to_slot(value, slot)
    else:
        raise TypeError(f"no engine form for {type_name(t)}")

cdef object as_text(object value):
    if not isinstance(value, str):
        raise TypeError(f"expected str, got {type(value).__name__}")
    return value

cdef int text_name_new(object text, void* slot) except -1:
    cdef Py_ssize_t length
    cdef const char* utf8 = PyUnicode_AsUTF8AndSize(text, &length)
    gd_string_name_new_with_utf8_chars_and_len(slot, utf8, length)

cdef int numbers_new(object value, int t, void* slot) except -1:
    cdef int i
    if not isinstance(value, number_class[t]):
        raise TypeError(f"expected {type_name(t)}, got {type(value).__name__}")
    for i in range(number_count[t]):
        if number_is_int[t]:
            (<int32_t*>slot)[i] = value[i]
        else:
            (<float*>slot)[i] = value[i]

cdef int array_new(object values, void* slot) except -1:
    global nesting
    if type(values) is Bools:
        return bools_new(values, slot)
    cdef int64_t count = len(values), resized = 0, i = 0
    cdef const void* arguments[1]
    cdef uint64_t* place
    enter_nested()
    constructors[T_ARRAY](slot, NULL)
    arguments[0] = &count
    array_resize(slot, arguments, &resized, 1)
    try:
        for value in values:
            if i == count:
                break
            place = <uint64_t*>gd_array_operator_index(slot, i)     # NIL after resize: nothing to destroy
            if value is True or value is False:
                place[0], place[1] = T_BOOL, value is True
            else:
                item_new(value, place)
            i += 1
    except BaseException:
        destructors[T_ARRAY](slot)
        raise
    finally:
        nesting -= 1

cdef int dictionary_new(object values, void* slot) except -1:
    global nesting
    cdef GDVariant key, item
    cdef void* place
    enter_nested()
    constructors[T_DICTIONARY](slot, NULL)
    try:
        for k, v in values.items():
            item_new(v, &item)
            try:
                variant_new(k, &key)
            except BaseException:
                gd_variant_destroy(&item)
                raise
            place = gd_dictionary_operator_index(slot, &key)
            gd_variant_destroy(&key)
            gd_variant_destroy(place)
            memcpy(place, &item, sizeof(GDVariant))                  # the item moves; it is not copied
    except BaseException:
        destructors[T_DICTIONARY](slot)
        raise
    finally:
        nesting -= 1

cdef int item_new(object value, void* out) except -1:
    """As ``variant_new``; an object that was freed since it was put into an Array or Dictionary is null."""
    try:
        variant_new(value, out)
    except GodotFreedError:          # ``out`` is NIL
        pass

cdef int signal_to_slot(object value, void* slot) except -1:
    cdef void* pointer = NULL
    cdef const void* arguments[2]
    if value.object is not None and (<GDObject?>value.object).is_valid():
        pointer = (<GDObject>value.object).live()
    if pointer == NULL:              # of no object, or of one that is gone
        constructors[T_SIGNAL](slot, NULL)
        return 0
    arguments[0] = &pointer
    arguments[1] = name_ptr(str(value.name))
    signal_new(slot, arguments)

cdef int variant_new(object value, void* out) except -1:
    """Construct a Variant in uninitialised memory; NIL if this raises. OWNED by the caller."""
    cdef int t
    cdef uint64_t slot[8]            # the largest type, Projection, has 64 bytes
    gd_variant_new_nil(out)
    t = type_of(value)
    if t == T_NIL:
        return 0
    slot_new(value, t, slot)
    from_type[t](out, slot)
    if destructors[t] != NULL:
        destructors[t](slot)

# ---- what the engine would make of a value, asked before it gets it

def variant_type_of(value):
    """Return the number of the engine type that a value becomes, with all that is inside it.

    Raises TypeError, ValueError or OverflowError if the engine has no form for it. Cost: one conversion.
    """
    cdef GDVariant made
    variant_new(value, &made)
    try:
        return gd_variant_get_type(&made)
    finally:
        gd_variant_destroy(&made)

def variant_type_name(int t):
    """Return the engine's name of a type, such as "Dictionary"."""
    return type_name(t)

def converts_strictly(int source, int target):
    """Return whether a typed argument takes a value of another type, as a script's ``float`` takes an ``int``."""
    return source == target or bool(gd_variant_can_convert_strict(source, target))
