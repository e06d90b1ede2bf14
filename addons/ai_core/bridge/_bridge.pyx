# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The boundary between Python and the engine: check, call, convert; no knowledge of games.

Parts: interface (functions of the engine), strings, values, packed, variant (conversions), array bytes,
objects (liveness), stored values (of exported properties), callables, methods (calling the engine), classes (registering),
callbacks (being called), batches (many calls in one crossing), branches (nodes below a node), node calls
(the most frequent methods of nodes), kept calls (one repeated call), kept rows (many of those), kept hooks (of scripts
and signals), direct calls (of those, from C), shared calls (many calls with the same arguments), walks (of characters),
path following, held courses (turns that need no decision), emissions (one signal of many objects), errors, and the
entry below.

Terms in comments. OWNED: the named owner must free it. BORROWED: valid during
this call only. ENGINE: memory that belongs to Godot. GIL: when it is held.
"""
cimport cython
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize, PyBytes_Size
from cpython.dict cimport PyDict_GetItemWithError
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, PyObject
from libc.math cimport INFINITY, NAN, atan2, fabs, floor, hypot, isfinite, remainder, sqrt, sqrtf
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcmp, memcpy, memset

import importlib
import os
import re
import sys
import traceback

# Worker threads of its linear algebra would take cores from the game, and spin while idle.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy

cdef void* memory_of(size_t count, size_t size) except NULL:
    """Return zeroed memory for ``count`` items of a size. OWNED by the caller."""
    cdef void* memory = calloc(count if count else 1, size)
    if memory == NULL:
        raise MemoryError(f"no memory for {count} times {size} bytes")
    return memory

include "interface.pxi"
include "variant.pxi"
include "array_bytes.pxi"
include "strings.pxi"
include "values.pxi"
include "packed.pxi"
include "objects.pxi"
include "stored_values.pxi"
include "methods.pxi"
include "callables.pxi"
include "kept_calls.pxi"
include "kept_rows.pxi"
include "kept_hooks.pxi"
include "direct_calls.pxi"
include "shared_calls.pxi"
include "classes.pxi"
include "callbacks.pxi"
include "instances.pxi"
include "named_signals.pxi"
include "places.pxi"
include "batches.pxi"
include "branches.pxi"
include "node_calls.pxi"
include "rays_through.pxi"
include "slides.pxi"
include "walks.pxi"
include "path_following.pxi"
include "held_courses.pxi"
include "emissions.pxi"
include "errors.pxi"

STARTUP_MODULE = "addons.ai_core.register"
"""Module whose ``start(level)`` and ``stop(level)`` the bridge calls; the bridge knows nothing else of its users."""

LEVEL_SCENE = 2
LEVEL_EDITOR = 3

cdef bint have_scripts_ended = False # the engine has ended their languages: a Callable that is let go of would end the process
cdef void* library = NULL            # the engine's token for this extension
engine_version = (0, 0, 0)
engine_lacks = ()                    # what it was built without and has another way for, for whoever asks

ctypedef void (*version_f)(void*) noexcept nogil

cdef version_f version_function(get_proc_f get_proc) except NULL:
    # The first is deprecated since 4.5, and an engine may be built without it; asking 4.4 for the second prints an error.
    cdef void* found = get_proc(b"get_godot_version")
    if found == NULL:
        found = get_proc(b"get_godot_version2")
    if found == NULL:
        raise RuntimeError("this engine does not tell its version; ai_core needs Godot 4.4 or newer")
    return <version_f>found

cdef bint open_bridge(get_proc_f get_proc, void* token) except False:
    global library, engine_version, engine_lacks, register_in_engine
    cdef uint64_t about[16]          # both structures of a version begin with three 32-bit numbers and end before this does
    cdef uint32_t* version = <uint32_t*>about
    cdef const char* missing = NULL
    version_function(get_proc)(about)
    engine_version = (version[0], version[1], version[2])
    if not engine_interface_load(get_proc, version[0], version[1], &missing):
        raise RuntimeError(f"Godot {version[0]}.{version[1]} lacks {missing.decode()}; ai_core needs Godot 4.4 or newer")
    register_in_engine = <register_f>get_proc(
        b"classdb_register_extension_class5" if engine_version >= (4, 5) else b"classdb_register_extension_class4")
    engine_lacks = () if has_class_tags else ("class tags (objects are asked for their class by name)",)
    library = token
    open_variants()
    open_packed_kinds()
    open_methods()
    open_batches()
    open_branches()
    open_node_calls()
    open_slides()
    open_walks()
    open_path_following()
    open_kept_calls()
    open_kept_hooks()
    open_shared_calls()
    if singleton("OS").call("has_feature", "double"):
        raise RuntimeError("this is a double-precision build of Godot; ai_core needs a single-precision one")
    return True

cdef int close_bridge() except -1:
    drain_releases()
    for name in reversed(registered_classes()):
        unregister_class(name)
    close_names()

cdef int entry(void* get_proc, void* token, int starting, int level) noexcept with gil:
    """Called by the loader; returns 1 on success."""
    global have_scripts_ended
    try:
        thread_becomes_main()
        if starting:
            if level == LEVEL_SCENE:
                if sys.stdout is None or not hasattr(sys.stdout, "descriptor"):
                    sys.stdout, sys.stderr = EngineOutput(1), EngineOutput(2)
                open_bridge(<get_proc_f>get_proc, token)
            importlib.import_module(STARTUP_MODULE).start(level)
        else:
            have_scripts_ended = singleton("Engine").call("get_main_loop") is None     # else it is read anew
            module = sys.modules.get(STARTUP_MODULE)
            if module is not None:
                module.stop(level)
            if level == LEVEL_SCENE:
                close_bridge()
        return 1
    except BaseException as problem:
        if library != NULL:
            report(problem, "starting the extension" if starting else "ending the extension")
        else:
            traceback.print_exc()
        return 0

_entry = PyCapsule_New(<void*>entry, b"ai_core.bridge.entry", NULL)
