# cython: language_level=3, binding=False
"""Kernel of ``notes``: the same function, the same text.

Values are written at once as ``marshal`` writes them in its version 2, so that
nothing is kept alive: keeping costs more than writing, because memory used
again is warm. What is rare is left to ``marshal`` itself.
"""
from marshal import dumps

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

INTERFACE = 1
"""Changes with any change of names, arguments or results, here and in the twin."""

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size)
    object PyUnicode_DecodeASCII(const char* text, Py_ssize_t size, const char* errors)
    void PyErr_Clear()
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1

cdef enum:
    VERSION = 2         # packed.MARSHAL_VERSION
    FIELDS = 6          # notes.FIELDS_OF_A_RUN
    KINDS = 4           # len(notes.TOLD)
    ROOM = 4096         # bytes a page begins with
    DEEPEST = 200       # levels of lists in lists; without a limit one that holds itself ends the process


cdef const char* LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


cdef struct Page:
    char* bytes         # OWNED by the notes, freed with them
    Py_ssize_t size
    Py_ssize_t kept     # of it; what is beyond was given up halfway, and is written over
    Py_ssize_t room
    int32_t count       # values on it


cdef class Notes:
    cdef Page runs
    cdef Page told[KINDS]
    cdef int32_t depth
    cdef int nested
    cdef object frozen

    def __cinit__(self, frozen):
        self.frozen = frozen

    def __dealloc__(self):
        free(self.runs.bytes)
        for kind in range(KINDS):
            free(self.told[kind].bytes)

    def clear(self):
        self.depth = 0
        self.runs.kept = self.runs.count = 0
        for kind in range(KINDS):
            self.told[kind].kept = self.told[kind].count = 0

    def packed(self, grants, /):
        cdef Page page
        page.bytes, page.size, page.room = NULL, 0, 0
        try:
            put_size(&page, b"(", 3)
            put_page(&page, &self.runs)
            put_size(&page, b"(", KINDS)
            for kind in range(KINDS):
                put_page(&page, &self.told[kind])
            put_bytes(&page, dumps(grants, VERSION))
            return base64_of(<const unsigned char*>page.bytes, page.size)
        finally:
            free(page.bytes)

    def before_task(self, name, now, /):
        self.depth += 1

    def task_ran(self, name, now, granted, steps, used_us, result, /):
        cdef Page* page = &self.runs
        self.depth -= 1
        self.nested = 0
        page.size = page.kept
        self.put(page, name)
        put_whole(page, self.depth)
        self.put(page, granted)
        self.put(page, steps)
        self.put(page, used_us)
        self.put(page, result)
        page.kept = page.size
        page.count += FIELDS

    def event_sent(self, event, now, /):
        sender = None if event.sender is None else type(event.sender).__name__
        self.tell(&self.told[0], (event.code, event.arguments, sender, event.due_at))

    def sensed(self, sensor_id, source_id, modality_name, intensity, now, /):
        self.tell(&self.told[1], (sensor_id, source_id, modality_name, intensity))

    def state_entered(self, owner_name, state_path, reason, now, /):
        self.tell(&self.told[2], (owner_name, state_path, reason))

    def path_done(self, ticket, now, /):
        self.tell(&self.told[3], ticket)

    cdef int tell(self, Page* page, what) except -1:
        self.nested = 0
        page.size = page.kept
        self.put(page, what)
        page.kept = page.size
        page.count += 1
        return 0

    cdef int put(self, Page* page, value) except -1:
        cdef int overflow = 0
        cdef long long whole
        kind = type(value)
        if kind is float:
            return put_float(page, value)
        if kind is int:
            whole = PyLong_AsLongLongAndOverflow(value, &overflow)
            if overflow == 0 and -0x80000000 <= whole <= 0x7FFFFFFF:
                return put_whole(page, <int32_t>whole)
            return put_bytes(page, dumps(value, VERSION))
        if kind is str:
            return put_text(page, value)
        if value is None:
            return put_tag(page, b"N")
        if kind is bool:
            return put_tag(page, b"T" if value else b"F")
        if kind is tuple or kind is list:
            return self.put_row(page, value)
        return put_bytes(page, dumps(self.frozen(value), VERSION))

    cdef int put_row(self, Page* page, row) except -1:
        values = tuple(row)  # a list may change while a foreign object is frozen
        put_size(page, b"(", <int32_t>len(values))
        if self.nested == DEEPEST:
            raise RecursionError(f"what is recorded must not be nested deeper than {DEEPEST} levels")
        self.nested += 1  # begins anew with each thing noted, however this one ends
        for one in values:
            self.put(page, one)
        self.nested -= 1
        return 0


def notes(frozen):
    return Notes(frozen)


cdef char* room_for(Page* page, Py_ssize_t size) except NULL:
    """Return where the next ``size`` bytes go; they count as written."""
    cdef Py_ssize_t room = page.room if page.room else ROOM
    cdef void* grown
    if page.size + size > page.room:
        while room < page.size + size:
            room *= 2
        grown = realloc(page.bytes, room)
        if grown == NULL:
            raise MemoryError()
        page.bytes, page.room = <char*>grown, room
    page.size += size
    return page.bytes + page.size - size


cdef int put_tag(Page* page, char tag) except -1:
    room_for(page, 1)[0] = tag
    return 0


cdef int put_size(Page* page, char tag, int32_t size) except -1:
    cdef char* at = room_for(page, 5)
    at[0] = tag
    # Lowest byte first, whatever the processor: so marshal has it.
    at[1] = <char>(size & 0xFF)
    at[2] = <char>((size >> 8) & 0xFF)
    at[3] = <char>((size >> 16) & 0xFF)
    at[4] = <char>((size >> 24) & 0xFF)
    return 0


cdef int put_whole(Page* page, int32_t whole) except -1:
    return put_size(page, b"i", whole)


cdef int put_float(Page* page, double number) except -1:
    cdef char* at = room_for(page, 9)
    at[0] = b"g"
    memcpy(at + 1, &number, 8)  # every platform of ours has the lowest byte first
    return 0


cdef int put_text(Page* page, text) except -1:
    cdef Py_ssize_t size = 0
    cdef const char* encoded = PyUnicode_AsUTF8AndSize(text, &size)
    if encoded == NULL:  # a lone surrogate; a `try` here would cost more than all the rest
        PyErr_Clear()
        return put_bytes(page, dumps(text, VERSION))
    put_size(page, b"u", <int32_t>size)
    memcpy(room_for(page, size), encoded, size)
    return 0


cdef int put_bytes(Page* page, bytes packed) except -1:
    memcpy(room_for(page, len(packed)), <char*>packed, len(packed))
    return 0


cdef base64_of(const unsigned char* data, Py_ssize_t size):
    """Return bytes as text, three of them in four characters."""
    cdef Py_ssize_t at = 0, length = (size + 2) // 3 * 4
    cdef const char* letters = LETTERS
    cdef char* text = <char*>malloc(length)
    cdef char* end = text
    cdef unsigned int three
    if text == NULL:
        raise MemoryError()
    while at + 3 <= size:
        end[0] = letters[data[at] >> 2]
        end[1] = letters[(data[at] & 3) << 4 | data[at + 1] >> 4]
        end[2] = letters[(data[at + 1] & 15) << 2 | data[at + 2] >> 6]
        end[3] = letters[data[at + 2] & 63]
        end += 4
        at += 3
    if at < size:
        three = data[at] << 16
        if at + 1 < size:
            three |= data[at + 1] << 8
        end[0] = letters[three >> 18]
        end[1] = letters[(three >> 12) & 63]
        end[2] = letters[(three >> 6) & 63] if at + 1 < size else b"="
        end[3] = b"="
    try:
        return PyUnicode_DecodeASCII(text, length, NULL)
    finally:
        free(text)


cdef int put_page(Page* page, Page* other) except -1:
    """Write another page as a list."""
    put_size(page, b"[", other.count)
    if other.kept:
        memcpy(room_for(page, other.kept), other.bytes, other.kept)
    return 0
