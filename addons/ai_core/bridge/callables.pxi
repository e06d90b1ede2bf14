# Callables both ways.
#
# A bound method of an instance of a declared class is stored as (instance id, method name) and
# looked up at the call: after a reload the new code runs, and a freed object is
# noticed. object_id makes the engine drop the connection together with the object.

cdef class GDCallable:
    """An engine Callable; call it like a function."""
    cdef uint64_t words[2]
    cdef uint64_t id             # of the object it calls, 0 for none
    cdef bint is_open

    def __dealloc__(self):
        if self.is_open and not have_scripts_ended:
            destructors[T_CALLABLE](self.words)

    def __call__(self, *arguments):
        # Through a Variant: the Callable's own call drops the error of what it calls.
        cdef GDVariant self_variant
        from_type[T_CALLABLE](&self_variant, self.words)
        try:
            return call_variant(&self_variant, "call", arguments)
        except GodotCallError as problem:
            raise GodotCallError(f"{self!r} cannot be called: {problem}") from None
        finally:
            gd_variant_destroy(&self_variant)

    def is_live(self):
        """Return whether the called object still exists; True for functions without an object."""
        return self.id == 0 or gd_object_get_instance_from_id(self.id) != NULL

    def is_valid(self):
        """Return whether the Callable can be called."""
        return bool(self.get("is_valid"))

    def get(self, name, *arguments):
        """Call a method of the Callable itself, such as ``get_object`` or ``bind``."""
        cdef GDVariant self_variant
        from_type[T_CALLABLE](&self_variant, self.words)
        try:
            return call_variant(&self_variant, name, arguments)
        finally:
            gd_variant_destroy(&self_variant)

    def __eq__(self, other): return isinstance(other, GDCallable) and self.get("hash") == other.get("hash")
    def __hash__(self): return self.get("hash")
    def __repr__(self):
        if self.get("is_null"):
            return "an empty Callable"
        return f"<Callable {self.get('get_method')} of {self.get('get_object')!r}>"


@cython.final
cdef class Target:
    """Target of a Callable made in Python: a function, or a method that is looked up by name at the call."""
    cdef object function         # None for a method of an instance of ours
    cdef object name
    cdef uint64_t id

    cdef object owner(self):
        cdef void* pointer = gd_object_get_instance_from_id(self.id)
        return None if pointer == NULL else object_to_python(pointer)

    cdef object resolve(self):
        if self.function is not None:
            return self.function
        owner = self.owner()
        return None if owner is None else getattr(owner, self.name)

    def describe(self):
        if self.function is not None:
            return getattr(self.function, "__qualname__", None) or repr(self.function)
        return self.name

    def __eq__(self, other):
        if not isinstance(other, Target):
            return False
        if self.function is not None:
            return self.function == (<Target>other).function
        return (self.id, self.name) == ((<Target>other).id, (<Target>other).name)
    def __hash__(self): return hash(self.function if self.function is not None else (self.id, self.name))


cdef object callable_to_python(const void* callable):
    cdef void* target = gd_callable_custom_get_userdata(callable, library)
    cdef GDCallable wrapper
    cdef const void* arguments[1]
    if target != NULL:
        return (<Target>target).resolve()
    wrapper = GDCallable.__new__(GDCallable)
    arguments[0] = callable
    callable_copy(wrapper.words, arguments)
    wrapper.is_open = True
    callable_object_id(wrapper.words, NULL, &wrapper.id, 0)
    return wrapper

cdef int callable_new(object function, void* out) except -1:
    """Construct a Callable in 16 uninitialised bytes. OWNED by the caller."""
    cdef CallableInfo info
    cdef Target target = Target.__new__(Target)
    memset(&info, 0, sizeof(info))
    owner = getattr(function, "__self__", None)
    if isinstance(owner, GDObject):
        info.object_id = target.id = (<GDObject>owner).id
        if getattr(owner, function.__name__, None) == function:
            target.name = function.__name__
        else:
            target.function = function
    else:
        target.function = function
    info.callable_userdata = <void*>target
    info.token = library
    info.call_func = <void*>on_callable_call
    info.free_func = <void*>on_callable_free
    info.hash_func = <void*>on_callable_hash
    info.equal_func = <void*>on_callable_equal
    info.less_than_func = <void*>on_callable_less_than
    info.to_string_func = <void*>on_callable_to_string
    Py_INCREF(target)            # OWNED by the engine until on_callable_free
    gd_callable_custom_create2(out, &info)

# GIL: every function below is entered by the engine, which never holds it.

cdef void on_callable_call(void* userdata, const void* const* arguments, int64_t count, void* result, CallError* error) noexcept with gil:
    global depth
    cdef Target target = <Target>userdata
    cdef int64_t i
    error.error = 0
    begin_entry()
    try:
        enter_thread()
        if target.function is None and count <= 2:       # the hot shapes, without a bound method
            owner = target.owner()
            if owner is None:
                error.error = 5  # INSTANCE_IS_NULL
                return
            first = variant_to_python(arguments[0]) if count > 0 else None
            second = variant_to_python(arguments[1]) if count > 1 else None
            returned = PyObject_CallMethodObjArgs(
                owner, target.name, <PyObject*>first if count > 0 else NULL, <PyObject*>second if count > 1 else NULL, <PyObject*>NULL)
        else:
            function = target.resolve()
            if function is None:
                error.error = 5
                return
            returned = function(*[variant_to_python(arguments[i]) for i in range(count)])
        if returned is not None:
            gd_variant_destroy(result)
            variant_new(returned, result)
    except BaseException as problem:
        report(problem, target.describe(), get_object(target.id) if target.id else None)
    finally:
        depth -= thread_is_main()

cdef void on_callable_free(void* userdata) noexcept with gil:
    Py_DECREF(<Target>userdata)

cdef uint32_t on_callable_hash(void* userdata) noexcept with gil:
    try:
        return <uint32_t>(hash(<Target>userdata) & 0xffffffff)
    except BaseException:
        return 0                 # unhashable functions share a bucket; equality tells them apart

cdef uint8_t on_callable_equal(void* a, void* b) noexcept with gil:
    try:
        return <Target>a == <Target>b
    except BaseException:
        return a == b

cdef uint8_t on_callable_less_than(void* a, void* b) noexcept nogil:
    return a < b

cdef void on_callable_to_string(void* userdata, uint8_t* is_valid, void* out) noexcept with gil:
    try:
        string_new(f"<Python {(<Target>userdata).describe()}>", out)
        is_valid[0] = 1
    except BaseException:
        is_valid[0] = 0
