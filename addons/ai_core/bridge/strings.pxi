# Strings and names. A String, StringName or NodePath is 8 bytes in the engine.

class StringName(str):
    """A name the engine compares by address; as a value it is a str."""

class NodePath(str):
    """The path from one node to another; as a value it is a str."""

cdef dict _names = {}            # str -> address of 8 bytes holding a StringName. OWNED until close_names()
cdef dict _texts = {}            # StringName value -> text of a name in _names, which keeps the value alive

cdef void* name_ptr(object text) except NULL:
    """The StringName for ``text``: a pointer that stays valid until the extension ends."""
    cdef Py_ssize_t length
    cdef const char* utf8
    cdef void* memory
    known = _names.get(text)
    if known is not None:
        return <void*><uintptr_t>known
    utf8 = PyUnicode_AsUTF8AndSize(text, &length)
    memory = memory_of(1, 8)
    gd_string_name_new_with_utf8_chars_and_len(memory, utf8, length)
    _names[text] = <uintptr_t>memory
    _texts[(<uint64_t*>memory)[0]] = StringName(text)
    return memory

cdef void close_names() noexcept:
    """Free every StringName; the engine would report them as leaked."""
    cdef uintptr_t address
    for address in _names.values():
        destructors[T_STRING_NAME](<void*>address)
        free(<void*>address)
    _names.clear()
    _texts.clear()

cdef int string_new(object text, void* out) except -1:
    """Construct a String in 8 uninitialised bytes. OWNED by the caller."""
    cdef Py_ssize_t length
    cdef const char* utf8 = PyUnicode_AsUTF8AndSize(text, &length)
    gd_string_new_with_utf8_chars_and_len2(out, utf8, length)

cdef void* string_forever(str text) except NULL:
    """A heap String for registration calls, which copy it; freed with the process."""
    cdef void* memory = memory_of(1, 8)
    string_new(text, memory)
    return memory

cdef enum:
    SHORT_TEXT = 64              # characters; of most names and events

cdef str string_to_python(const void* string):
    cdef int64_t length = gd_string_to_utf32_chars(string, NULL, 0), i
    cdef int byte_order = -1
    cdef char short_text[SHORT_TEXT]
    cdef const uint32_t* characters
    if length <= 0:
        return ""
    characters = <const uint32_t*>gd_string_operator_index_const(string, 0)
    if length <= SHORT_TEXT:     # plain ASCII takes a third of the time of what may be anything
        for i in range(length):
            if characters[i] > 127:
                break
            short_text[i] = <char>characters[i]
        else:
            return PyUnicode_DecodeUTF8(short_text, length, NULL)
    return PyUnicode_DecodeUTF32(<const char*>characters, length * 4, NULL, &byte_order)

cdef object name_to_python(const void* name):
    # StringNames are interned: equal names have equal 8-byte values while one of them lives. Names
    # that only the engine uses (node names: there is no end of them) are not kept.
    cdef uint64_t key = (<const uint64_t*>name)[0]
    cdef uint64_t string
    cdef const void* arguments[1]
    if key == 0:
        return StringName()
    known = _texts.get(key)
    if known is not None:
        return known
    arguments[0] = name
    string_from_name(&string, arguments)
    text = StringName(string_to_python(&string))
    destructors[T_STRING](&string)
    return text

cdef str path_to_python(const void* path):
    cdef uint64_t string
    cdef const void* arguments[1]
    arguments[0] = path
    string_from_path(&string, arguments)
    text = string_to_python(&string)
    destructors[T_STRING](&string)
    return text

cdef int path_new(object text, void* out) except -1:
    cdef uint64_t string
    cdef const void* arguments[1]
    string_new(text, &string)
    arguments[0] = &string
    path_from_string(out, arguments)
    destructors[T_STRING](&string)
