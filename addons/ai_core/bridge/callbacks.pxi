# Callbacks of the engine.
#
# GIL: taken here, in every callback. Nothing is thrown: each callback catches
#   everything, reports it, and always writes its return slot, because a stale slot
#   gives the caller an earlier call's result.

cdef int depth = 0               # calls from the engine on the main thread that are under way, one inside the other
cdef uint64_t entries = 0        # calls from the engine so far: while it stays, no Python code of this thread ran

def callback_depth():
    """Return the nesting depth of the engine's calls on the main thread."""
    return depth

cdef inline void begin_entry() noexcept:
    global depth, entries
    depth += thread_is_main()
    entries += 1

cdef inline void enter_thread() noexcept:
    if thread_pin_once():
        PyGILState_Ensure()      # never given back: the next entry of this thread costs 0.1 us, not 10

cdef inline int need_main_thread() except -1:
    if not thread_is_main():
        enter_thread()
        raise RuntimeError("nodes written in Python run on the main thread only; use call_deferred() from a thread")

cdef inline int need_thread_for(object self, int kind) except -1:
    """Allow another thread to read and write settings of a scene or resource that is being loaded."""
    if not thread_is_main():
        enter_thread()
        if kind == FUNCTION or (self.is_class("Node") and self.is_inside_tree()):
            need_main_thread()

# ---- methods and properties

cdef double LARGEST_WHOLE = 9223372036854775808.0      # 2 to the 63rd

cdef object argument_to_python(MethodData* method, int index, const void* variant, CallError* error):
    """Check and convert one argument; on a mismatch fill ``error`` and return None."""
    cdef int wanted = method.types[index]
    cdef int got = gd_variant_get_type(variant)
    cdef void* pointer
    if wanted == T_OBJECT_IDS:
        if got == T_ARRAY:
            return ids_of_array(internal[T_ARRAY](<void*>variant))
        wanted = T_ARRAY
    elif wanted == T_OBJECT and (got == T_OBJECT or got == T_NIL):
        if got == T_NIL or (<const uint64_t*>variant)[1] == 0:
            return None
        pointer = gd_object_get_instance_from_id((<const uint64_t*>variant)[1])
        if pointer != NULL and (method.class_tags[index] == NULL
                                or is_of_class(pointer, method.class_tags[index])):
            return object_to_python(pointer)
    elif got == wanted or wanted == T_NIL:
        return variant_to_python(variant)
    elif wanted == T_FLOAT and got == T_INT:
        return <double>(<const int64_t*>variant)[1]
    elif wanted == T_INT and got == T_FLOAT and is_whole((<const double*>variant)[1]):
        return <int64_t>(<const double*>variant)[1]
    elif wanted == T_BOOL and got == T_INT:
        return (<const int64_t*>variant)[1] != 0
    elif wanted in (T_STRING, T_STRING_NAME, T_NODE_PATH) and got in (T_STRING, T_STRING_NAME, T_NODE_PATH):
        text = str(variant_to_python(variant))
        return text if wanted == T_STRING else NodePath(text) if wanted == T_NODE_PATH else StringName(text)
    elif wanted == T_ARRAY and is_packed(got):
        return packed_items(got, internal[got](<void*>variant))
    elif is_packed(wanted) and got == T_ARRAY:
        values = variant_to_python(variant)
        try:
            if wanted != T_PACKED_STRING_ARRAY:
                return packed_source(values, wanted)
            if all([isinstance(one, str) for one in values]):
                return [str(one) for one in values]
        except (TypeError, ValueError, OverflowError):
            pass                 # refused below
    error.error = 2              # INVALID_ARGUMENT
    error.argument = index
    error.expected = wanted
    return None

cdef inline bint is_whole(double number) noexcept:
    """Return whether a number is of one of the engine's integer types."""
    return -LARGEST_WHOLE <= number < LARGEST_WHOLE and number == floor(number)

cdef object run_method(MethodData* method, object self, list arguments):
    if method.kind == GETTER:
        return getattr(self, <object>method.target)
    if method.kind == SETTER:
        setattr(self, <object>method.target, arguments[0])
        return None
    return (<object>method.target)(self, *arguments)

cdef inline bint is_short(const MethodData* method) noexcept:
    """Return whether ``run_short`` can call it: frequent signatures, without a list of arguments."""
    return method.kind == FUNCTION and method.count <= 3

cdef inline object run_short(MethodData* method, object self, object first, object second, object third):
    function = <object>method.target
    if method.count == 0:
        return PyObject_CallFunctionObjArgs(function, <PyObject*>self, <PyObject*>NULL)
    if method.count == 1:
        return PyObject_CallFunctionObjArgs(function, <PyObject*>self, <PyObject*>first, <PyObject*>NULL)
    if method.count == 2:
        return PyObject_CallFunctionObjArgs(function, <PyObject*>self, <PyObject*>first, <PyObject*>second, <PyObject*>NULL)
    return PyObject_CallFunctionObjArgs(
        function, <PyObject*>self, <PyObject*>first, <PyObject*>second, <PyObject*>third, <PyObject*>NULL)

cdef inline object argument_of(MethodData* method, int index, const void* const* arguments, int64_t count, CallError* error):
    """Return an argument, or its default if it was not passed; None without a default."""
    if index >= method.count or error.error:
        return None
    if index < count:
        return argument_to_python(method, index, arguments[index], error)
    return (<tuple>method.defaults)[index - (method.count - method.default_count)]

cdef int refuse_value(MethodData* method, object self, const void* variant) except -1:
    """Report a value of the wrong type for a property; the old value stays."""
    cdef int got = gd_variant_get_type(variant)
    name = <object>method.target
    if got == T_OBJECT:
        shown = repr(variant_to_python(variant)) if gd_object_get_instance_from_id((<const uint64_t*>variant)[1]) != NULL else "a freed object"
    else:
        shown = "null" if got == T_NIL else f"{type_name(got)} {shown_variant(variant)}"
    stays = getattr(type(self), name).shown(getattr(self, name))
    raise RefusedValue(f"{name} needs {(<tuple>method.wanted)[0]}, got {shown}; it stays {stays}")

cdef str shown_variant(const void* variant):
    """Return the start of a refused value's repr, for a message; empty for a value without a Python form."""
    try:
        return brief(variant_to_python(variant))
    except RefusedValue:
        return "that has no Python form"

cdef void on_call(void* userdata, void* instance, const void* const* arguments, int64_t count, void* result, CallError* error) noexcept with gil:
    global depth
    cdef MethodData* method = <MethodData*>userdata
    cdef int64_t i
    error.error = 0
    if count > method.count:
        error.error = 3          # TOO_MANY_ARGUMENTS
        error.expected = method.count
        return
    if count < method.count - method.default_count:
        error.error = 4          # TOO_FEW_ARGUMENTS
        error.expected = method.count - method.default_count
        return
    if (<Instance*>instance).python == NULL:
        error.error = 5          # INSTANCE_IS_NULL: the Python side is gone already
        return
    self = <object>(<Instance*>instance).python
    begin_entry()
    try:
        need_thread_for(self, method.kind)
        if is_short(method):
            first = argument_of(method, 0, arguments, count, error)
            second = argument_of(method, 1, arguments, count, error)
            third = argument_of(method, 2, arguments, count, error)
            if error.error:
                return
            returned = run_short(method, self, first, second, third)
        else:
            values = []
            for i in range(method.count):
                values.append(argument_of(method, i, arguments, count, error))
                if error.error:
                    if method.kind == SETTER:
                        error.error = 0
                        refuse_value(method, self, arguments[i])
                    return
            returned = run_method(method, self, values)
        if method.result >= 0:
            gd_variant_destroy(result)
            result_new(returned, method.result, result)
    except BaseException as problem:
        if not (method.kind == SETTER and hold_refusal(<Instance*>instance, method, problem)):
            report(problem, <object>method.where, self)
        if method.result > 0 and method.result != T_OBJECT:
            default_new(method.result, result)
        elif method.result == T_NIL:
            after_error(method, self, result)
    finally:
        depth -= thread_is_main()

cdef void after_error(MethodData* method, object self, void* result) noexcept:
    """Put what a failed method returns that declares Variant into its result, which is null."""
    name = getattr(<object>method.target, "__after_error__", "") if method.kind == FUNCTION else ""
    if name:
        write_slot(getattr(self, name), T_NIL, False, result)

cdef void default_new(int t, void* out) noexcept:
    """Put the empty value of a type into a Variant, the result of a failed call."""
    cdef uint64_t slot[8]
    constructors[t](slot, NULL)
    gd_variant_destroy(out)
    from_type[t](out, slot)
    if destructors[t] != NULL:
        destructors[t](slot)

cdef int result_new(object value, int t, void* out) except -1:
    """Construct a Variant of the declared type, so that an int returned as float arrives as float."""
    cdef uint64_t slot[8]
    gd_variant_new_nil(out)
    if t == T_NIL or t == T_OBJECT:
        variant_new(value, out)
        return 0
    slot_new(value, t, slot)
    from_type[t](out, slot)
    if destructors[t] != NULL:
        destructors[t](slot)

cdef void on_ptrcall(void* userdata, void* instance, const void* const* arguments, void* result) noexcept with gil:
    global depth
    cdef MethodData* method = <MethodData*>userdata
    cdef int i
    if (<Instance*>instance).python == NULL:
        if method.result >= 0:
            write_default(method.result, result)
        return
    self = <object>(<Instance*>instance).python
    begin_entry()
    try:
        need_thread_for(self, method.kind)
        if is_short(method):
            first = slot_to_python(method.types[0], arguments[0]) if method.count > 0 else None
            second = slot_to_python(method.types[1], arguments[1]) if method.count > 1 else None
            third = slot_to_python(method.types[2], arguments[2]) if method.count > 2 else None
            returned = run_short(method, self, first, second, third)
        else:
            returned = run_method(method, self, [slot_to_python(method.types[i], arguments[i]) for i in range(method.count)])
        if method.result >= 0:
            write_slot(returned, method.result, method.result_is_ref, result)
    except BaseException as problem:
        if method.result >= 0:
            write_default(method.result, result)
        if not (method.kind == SETTER and hold_refusal(<Instance*>instance, method, problem)):
            report(problem, <object>method.where, self)
        if method.result == T_NIL:
            after_error(method, self, result)
    depth -= thread_is_main()

# ---- refused values of nodes that have no name yet, as while a scene is instanced

cdef dict _refusals = {}         # by instance id: message by name of the property

cdef bint hold_refusal(Instance* instance, MethodData* method, problem) noexcept:
    """Keep a refusal until its node enters the tree, so that the report has its path; False if it has a name already.

    It is reported without a path if the node is freed before.
    """
    cdef GDObject node
    try:
        node = <GDObject>instance.python
        if not (isinstance(problem, RefusedValue) and (<ClassData*>instance.data).notification_count
                and node.is_class("Node")) or is_inside_tree(node.live()) or name_of(node.live()):
            return False
        _refusals.setdefault(node.id, {})[<object>method.target] = str(problem)
        instance.has_refused = 1
        return True
    except BaseException as another:
        report(another, "holding a refused value")
        return False

cdef void report_refusals(Instance* instance) noexcept with gil:
    """Report what was refused before the node had a name."""
    instance.has_refused = 0
    if instance.python != NULL:
        node = <object>instance.python
        for message in _refusals.pop((<GDObject>node).id, {}).values():
            report(RefusedValue(message), "", node)

cdef int write_slot(object value, int t, bint is_ref, void* slot) except -1:
    """Assign to a return slot, which is initialised for every type that has a destructor."""
    cdef uint64_t made[8]
    if t == T_OBJECT:
        if not is_ref:
            (<void**>slot)[0] = NULL if value is None else (<GDObject?>value).live()
        elif value is not None:
            gd_ref_set_object(slot, (<GDObject?>value).live())
        return 0
    if t == T_NIL:
        variant_new(value, made)
        gd_variant_destroy(slot)
        memcpy(slot, made, sizeof(GDVariant))
        return 0
    if destructors[t] == NULL:
        slot_new(value, t, slot)
        return 0
    slot_new(value, t, made)                             # first make, then replace: a failure leaves the slot whole
    destructors[t](slot)
    memcpy(slot, made, 16 if (is_packed(t) or t == T_CALLABLE or t == T_SIGNAL) else 8)

cdef void write_default(int t, void* slot) noexcept:
    if t == T_NIL or destructors[t] != NULL:
        return                                           # initialised by the caller
    if number_count[t]:
        memset(slot, 0, number_count[t] * 4)
    else:
        memset(slot, 0, 1 if t == T_BOOL else 12 if t == T_VECTOR3 else 8)

# ---- virtuals, notifications, text

cdef void* on_get_virtual(void* userdata, const void* name, uint32_t method_hash) noexcept nogil:
    # StringNames are interned: comparing the 8-byte value compares the name.
    cdef ClassData* data = <ClassData*>userdata
    cdef int i
    for i in range(data.virtual_count):
        if data.virtuals[i].name == (<const uint64_t*>name)[0]:
            return &data.virtuals[i]
    return NULL

cdef void on_call_virtual(void* instance, const void* name, void* userdata, const void* const* arguments, void* result) noexcept with gil:
    global depth
    cdef VirtualData* virtual = <VirtualData*>userdata
    cdef int i
    if (<Instance*>instance).python == NULL:
        if virtual.result >= 0:
            write_default(virtual.result, result)
        return
    self = <object>(<Instance*>instance).python
    begin_entry()
    try:
        need_main_thread()
        if virtual.count == 1:
            first = slot_to_python(virtual.types[0], arguments[0])
            returned = PyObject_CallFunctionObjArgs(
                <object>virtual.function, <PyObject*>self, <PyObject*>first, <PyObject*>NULL)
        elif virtual.count == 0:
            returned = (<object>virtual.function)(self)
        else:
            returned = (<object>virtual.function)(self, *[slot_to_python(virtual.types[i], arguments[i]) for i in range(virtual.count)])
        if virtual.result >= 0:
            write_slot(returned, virtual.result, False, result)
    except BaseException as problem:
        if virtual.result >= 0:
            write_default(virtual.result, result)
        report(problem, <object>virtual.where, self, virtual.once)
    depth -= thread_is_main()

cdef enum:
    NOTIFICATION_PREDELETE = 1
    NOTIFICATION_ENTER_TREE = 10
    NOTIFICATION_EXIT_TREE = 11
    NOTIFICATION_ENTERED = 27
    BRANCH_MEMBER = 2

cdef bint is_read_by_parent(GDObject node) noexcept:
    """Return whether the parent of a member of a branch is part of it and has not entered yet, so that it enters next."""
    cdef void* parent = NULL
    cdef Instance* above
    cdef ClassData* data
    cdef int i
    gd_object_method_bind_ptrcall(bind_get_parent, node.pointer, NULL, &parent)
    above = <Instance*>gd_object_get_instance_binding(parent, library, NULL) if parent != NULL else NULL
    if above == NULL or above.python == NULL or above.has_entered:
        return False
    data = <ClassData*>above.data
    for i in range(data.notification_count):
        if data.notifications[i].what == NOTIFICATION_ENTERED:
            return data.notifications[i].branch_part > 0
    return False

def has_entered(GDObject node):
    """Return whether a node of a declared class is in the tree with all its branch, and is not about to leave it."""
    return node.instance != NULL and bool(node.instance.has_entered)

cdef void on_notification(void* instance_, int32_t what, uint8_t reverse) noexcept nogil:
    # Most notifications interest nobody, so they are turned away before the GIL is taken.
    cdef Instance* instance = <Instance*>instance_
    cdef ClassData* data
    cdef int i
    if instance == NULL:
        return
    data = <ClassData*>instance.data
    if instance.has_refused and (what == NOTIFICATION_ENTER_TREE or what == NOTIFICATION_PREDELETE):
        report_refusals(instance)
    if what == NOTIFICATION_ENTERED:
        instance.has_entered = 1
    elif what == NOTIFICATION_EXIT_TREE:
        instance.has_entered = 0
    for i in range(data.notification_count):
        if data.notifications[i].what == what:
            notify_python(instance, &data.notifications[i])
            return

cdef void notify_python(Instance* instance, NotificationData* notification) noexcept with gil:
    global depth
    if instance.python == NULL:
        return
    self = <object>instance.python
    if notification.branch_part == BRANCH_MEMBER and is_read_by_parent(<GDObject>self):
        return
    begin_entry()
    try:
        enter_thread()
        (<object>notification.function)(self)
    except BaseException as problem:
        report(problem, <object>notification.where, self, notification.once)
    depth -= thread_is_main()

cdef void on_to_string(void* instance, uint8_t* is_valid, void* out) noexcept with gil:
    is_valid[0] = 0
    try:
        text = repr(<object>(<Instance*>instance).python)
        destructors[T_STRING](out)
        string_new(text, out)
        is_valid[0] = 1
    except BaseException as problem:
        report(problem, "__repr__")

cdef enum:
    USAGE_STORAGE = 2
    USAGE_EDITOR = 4

cdef uint8_t on_validate_property(void* instance, PropertyInfo* property) noexcept with gil:
    # The info is BORROWED. A property whose default depends on the dimension is stored if, and only if, it was set. The
    # engine instead omits what equals its default, which it takes from a new node outside the tree, thus from 3D. So
    # such a node does not list the property unless it was set, and the engine knows no default of it.
    # Scenes are packed and copied on other threads, too.
    # In the editor, a property that does not apply is kept and saved, and not shown.
    global depth
    cdef uint8_t changed = 0
    cdef ClassData* data
    if instance == NULL or (<Instance*>instance).python == NULL:
        return 0
    self = <object>(<Instance*>instance).python
    data = <ClassData*>(<Instance*>instance).data
    begin_entry()
    try:
        enter_thread()
        name = name_to_python(property.name)
        slot = None if data.varying == NULL else (<dict>data.varying).get(name)
        if slot is not None and slot not in <dict>PyObject_GenericGetDict(self, NULL):
            property.usage &= ~USAGE_STORAGE
            if not is_inside_tree((<GDObject>self).live()):
                property.usage &= ~USAGE_EDITOR
            changed = 1
        shown = True if data.shown_as == NULL or not thread_is_main() else (<object>data.shown_as)(self, name)
        if shown is False:
            property.usage &= ~USAGE_EDITOR
            changed = 1
        elif type(shown) is int:
            property.type = shown
            changed = 1
        elif type(shown) is tuple:
            property.hint = shown[0]
            changed = 1
        elif shown is not True:
            destructors[T_STRING](property.hint_string)
            memset(property.hint_string, 0, sizeof(uint64_t))
            string_new(shown, property.hint_string)
            changed = 1
    except BaseException as problem:
        report(problem, "what applies", self)
    depth -= thread_is_main()
    return changed

cdef uint8_t on_can_revert(void* instance, const void* name) noexcept with gil:
    # In the editor only: a default that depends on the dimension is not the one the engine has of a new instance.
    return default_here(instance, name) is not None

cdef uint8_t on_get_revert(void* instance, const void* name, void* out) noexcept with gil:
    value = default_here(instance, name)
    if value is None:
        return 0
    try:
        variant_new(value, out)
    except BaseException as problem:
        report(problem, "the default of a property")
        return 0
    return 1

cdef object default_here(void* instance, const void* name):
    if instance == NULL or (<Instance*>instance).python == NULL or not thread_is_main():
        return None
    self = <object>(<Instance*>instance).python
    try:
        return (<object>(<ClassData*>(<Instance*>instance).data).reverts_to)(self, name_to_python(name))
    except BaseException as problem:
        report(problem, "the default of a property", self)
        return None
