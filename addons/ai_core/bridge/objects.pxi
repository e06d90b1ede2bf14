# Engine objects seen from Python.
#
# BORROWED: a wrapper of a foreign object is (pointer, instance id), checked on
#   each use, never bound, never cached; a RefCounted one holds one reference.
# OWNED by the engine: an instance of a declared class. The engine holds a small C
#   struct that points at the Python object, so that freeing either side first is safe.

cdef extern from "Python.h":
    object PyObject_GenericGetAttr(object instance, object name)
    object PyObject_GenericGetDict(object instance, void* context)


class GodotFreedError(ReferenceError):
    """The engine object was freed; keep ids or connect to tree_exiting instead of keeping the object."""

class GodotCallError(RuntimeError):
    """The engine refused a call: unknown method, wrong number or type of arguments."""

cdef uint64_t listener_changes = 0   # of anything that may change who listens to signals of nodes of ours

ctypedef struct Instance:
    PyObject* python             # NULL once the Python side is gone
    uint8_t is_strong            # the engine's handle counts as a Python reference
    uint8_t has_entered          # the tree, with all its branch, and has not left it
    uint8_t has_refused          # a value, which is reported once it enters the tree; see ``hold_refusal``
    uint8_t names_signals        # somebody has named a signal of it, and may have connected to it since
    int32_t places               # rows of NodePlaces that hold it, or whose NodePlaces is gone
    void* data                   # its ClassData

cdef const void* bind_init_ref = NULL
cdef const void* bind_unreference = NULL
cdef const void* bind_reference_count = NULL
cdef const void* bind_notification = NULL

cdef dict _class_texts = {}      # name of a class -> address of its String, which is never freed

cdef inline bint is_ref_counted_id(uint64_t instance_id):
    return instance_id >> 63      # the engine marks RefCounted ids with the top bit

cdef class GDObject:
    """An engine object: common base of foreign objects and instances of declared classes."""
    cdef void* pointer
    cdef uint64_t id
    cdef bint holds_reference
    cdef Instance* instance      # set for instances of classes of ours
    cdef object __weakref__

    def __dealloc__(self):
        cdef uint8_t was_last = 0
        if self.instance != NULL:
            self.instance.python = NULL      # free_instance must not touch a dying object
        if self.holds_reference and self.pointer != NULL:
            gd_object_method_bind_ptrcall(bind_unreference, self.pointer, NULL, &was_last)
            if was_last:
                gd_object_destroy(self.pointer)

    cdef void* live(self) except NULL:
        if self.pointer != NULL and (self.instance != NULL or self.holds_reference
                                     or gd_object_get_instance_from_id(self.id) != NULL):
            return self.pointer
        self.pointer = NULL
        name = type(self).__name__
        if self.id == 0:                     # only the engine makes instances that it knows
            raise TypeError(f"{name}() makes no engine object; use construct({name!r})")
        raise GodotFreedError(f"{name} #{self.id} has been freed; check is_valid() before using a kept object")

    @property
    def instance_id(self): return self.id

    def is_valid(self):
        """Return whether the engine object still exists."""
        return self.pointer != NULL and gd_object_get_instance_from_id(self.id) != NULL

    def get_class(self):
        cdef uint64_t name = 0
        gd_object_get_class_name(self.live(), library, &name)
        text = name_to_python(&name)
        destructors[T_STRING_NAME](&name)
        return text

    def is_class(self, name):
        cdef uint8_t found = 0
        cdef const void* arguments[1]
        known = _class_texts.get(name)
        if known is None:
            known = _class_texts[name] = <uintptr_t>string_forever(str(name))
        arguments[0] = <const void*><uintptr_t>known
        gd_object_method_bind_ptrcall(bind_is_class, self.live(), arguments, &found)
        return bool(found)

    def call(self, method, *arguments):
        """Call any method by name."""
        return variant_call(self, method, arguments)

    def has_method(self, name):
        return object_has_method(self, name)

    def get(self, name):
        """Return a property; AttributeError if there is none of that name."""
        return object_get(self, name)

    def set(self, name, value):
        """Set a property; AttributeError if there is none of that name."""
        object_set(self, name, value)

    def emit_signal(self, signal, *arguments):
        return bind_emit_signal.call(self, StringName(signal), *arguments)

    def connect(self, signal, callback, int flags=0):
        global listener_changes
        if self.instance != NULL:
            self.instance.names_signals = 1
            listener_changes += 1
        return bind_connect.call(self, StringName(signal), callback, flags)

    def __repr__(self):
        return f"<{self.get_class()}#{self.id}>" if self.is_valid() else f"<freed {type(self).__name__}#{self.id}>"

    def __eq__(self, other): return isinstance(other, GDObject) and (<GDObject>other).id == self.id
    def __hash__(self): return <Py_ssize_t>(self.id & 0x1FFFFFFFFFFFFFFF)


@cython.final
cdef class EngineObject(GDObject):
    """An object of an engine class. Members are accessed by name: ``node.get_name()``, ``ray.enabled = False``.

    Not subclassed: a class with ``__getattr__`` makes every attribute of its subclasses slow.
    """

    def __getattribute__(self, name):
        # Not __getattr__: the AttributeError before it would cost as much as the engine's call.
        if name in _own_names or name.startswith("__"):
            return PyObject_GenericGetAttr(self, name)
        if object_has_method(self, name):
            return EngineMethod(self, name)
        return object_get(self, name)

    def __setattr__(self, name, value):
        object_set(self, name, value)

    def __bool__(self):
        if self.holds_reference and self.is_class("GDScriptFunctionState"):
            raise RefusedValue(
                "a method with await was called where its answer is needed at once; let it return without await, and"
                " keep what it waits for in a variable")
        return True


cdef frozenset _own_names = frozenset(dir(EngineObject))


@cython.final
cdef class EngineMethod:
    """An engine method bound to its object: the value of ``node.method``."""
    cdef GDObject object
    cdef object name

    def __init__(self, GDObject object, name):
        self.object = object
        self.name = name

    def __call__(self, *arguments): return variant_call(self.object, self.name, arguments)
    def __repr__(self): return f"<method {self.name} of {self.object!r}>"


@cython.final
cdef class EngineMember:
    """A method or property of an engine class, as an attribute of the Python base of that class."""
    cdef readonly object name
    cdef bint is_method

    def __init__(self, name, bint is_method):
        self.name = name
        self.is_method = is_method

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return EngineMethod(instance, self.name) if self.is_method else object_get(instance, self.name)

    def __set__(self, instance, value):
        object_set(instance, self.name, value)


cdef object object_to_python(void* pointer):
    cdef void* bound
    cdef EngineObject wrapper
    cdef uint8_t ok = 0
    if pointer == NULL:
        return None
    bound = gd_object_get_instance_binding(pointer, library, NULL)
    if bound != NULL and (<Instance*>bound).python != NULL:
        return <object>(<Instance*>bound).python
    wrapper = EngineObject.__new__(EngineObject)
    wrapper.pointer = pointer
    wrapper.id = gd_object_get_instance_id(pointer)
    if is_ref_counted_id(wrapper.id):
        gd_object_method_bind_ptrcall(bind_init_ref, pointer, NULL, &ok)
        wrapper.holds_reference = True
    return wrapper

cdef bint object_has_method(GDObject self, object name) except -1:
    cdef GDVariant self_variant
    cdef void* pointer = self.live()
    from_type[T_OBJECT](&self_variant, &pointer)
    found = gd_variant_has_method(&self_variant, name_ptr(name))
    gd_variant_destroy(&self_variant)
    return found

cdef object object_get(GDObject self, object name):
    cdef GDVariant self_variant, value
    cdef uint8_t is_valid = 0
    cdef void* pointer = self.live()
    cdef void* key = name_ptr(name)
    from_type[T_OBJECT](&self_variant, &pointer)
    with nogil:                  # a property may have a getter in GDScript, which may do anything
        gd_variant_get_named(&self_variant, key, &value, &is_valid)
    gd_variant_destroy(&self_variant)
    try:
        if not is_valid:
            raise AttributeError(f"{self.get_class()} has no property or method {name!r}")
        return variant_to_python(&value)
    finally:
        gd_variant_destroy(&value)

cdef int object_set(GDObject self, object name, object new) except -1:
    cdef GDVariant self_variant, value
    cdef uint8_t is_valid = 0
    cdef void* pointer = self.live()
    cdef void* key = name_ptr(name)
    variant_new(new, &value)
    from_type[T_OBJECT](&self_variant, &pointer)
    with nogil:
        gd_variant_set_named(&self_variant, key, &value, &is_valid)
    gd_variant_destroy(&self_variant)
    gd_variant_destroy(&value)
    if not is_valid:
        raise AttributeError(f"{self.get_class()} has no property {name!r}, or it does not take a {type(new).__name__}")

def get_object(uint64_t instance_id):
    """Return the object of an instance id, or None if it is gone."""
    return object_to_python(gd_object_get_instance_from_id(instance_id))

def singleton(name):
    """Return an engine singleton such as ``"Engine"``; LookupError if there is none."""
    cdef void* pointer = gd_global_get_singleton(name_ptr(name))
    if pointer == NULL:
        raise LookupError(f"the engine has no singleton {name!r}")
    return object_to_python(pointer)

def construct(class_name):
    """Make an engine object of a class; LookupError if it cannot be made."""
    cdef void* pointer = gd_classdb_construct_object2(name_ptr(class_name))
    if pointer == NULL:
        raise LookupError(f"the engine cannot construct {class_name!r}: unknown or abstract class")
    notify_postinitialize(pointer)
    return object_to_python(pointer)

cdef void notify_postinitialize(void* pointer) noexcept nogil:
    cdef int64_t what = 0            # NOTIFICATION_POSTINITIALIZE
    cdef uint8_t reverse = 0
    cdef const void* arguments[2]
    arguments[0] = &what
    arguments[1] = &reverse
    gd_object_method_bind_ptrcall(bind_notification, pointer, arguments, NULL)

# Python objects whose last outside reference went away inside RefCounted::unreference().
# Destroying them there would free memory that the engine still uses, so they wait for the
# end of the frame.
cdef list _to_release = []

cdef int release_later(GDObject instance) except -1:
    cdef uint64_t callable[2]
    _to_release.append(instance)
    if len(_to_release) == 1:
        callable_new(drain_releases, callable)
        callable_call_deferred(callable, NULL, NULL, 0)
        destructors[T_CALLABLE](callable)

def drain_releases():
    """Release the queued references; called once per frame by the engine's message queue."""
    global _to_release
    waiting = _to_release
    _to_release = []
    waiting.clear()

def live_instances():
    """Return how many instances of Python classes the engine holds (created minus freed)."""
    return instances_created - instances_freed
