# Registering Python classes with the engine.
#
# Class, method and virtual records are allocated once per registration and never
# freed: the engine keeps pointers to them until the process ends.

ctypedef enum MethodKind:
    FUNCTION = 0
    GETTER = 1
    SETTER = 2

ctypedef struct MethodData:
    int kind
    PyObject* target             # the function, or the property's name
    PyObject* defaults           # tuple
    PyObject* where              # "Class.method", for messages
    int count
    int default_count
    int result                   # Variant type, -1 for none
    bint result_is_ref           # the declared class is RefCounted: the slot is a Ref
    int* types
    void** class_tags            # NULL where any object will do
    PyObject* wanted             # tuple of what each argument needs, for messages

ctypedef struct VirtualData:
    uint64_t name
    PyObject* function
    PyObject* where
    int count
    int result
    bint once                    # called every frame: an error is printed once
    int types[4]                 # MOST_VIRTUAL_ARGUMENTS

ctypedef struct NotificationData:
    int what
    PyObject* function
    PyObject* where
    bint once
    int branch_part              # of on_entered; see ``notified``

ctypedef struct ClassData:
    PyObject* cls
    void* name
    void* native                 # nearest engine class: what has to be constructed
    PyObject* varying            # slots of properties by name whose default depends on the dimension, else NULL
    PyObject* shown_as           # in the editor, tells how properties are shown, else NULL
    PyObject* reverts_to         # in the editor, tells a default that depends on the dimension, else NULL
    int virtual_count
    VirtualData* virtuals
    int notification_count
    NotificationData* notifications
    int signal_count
    uint64_t* signals            # their names, inherited ones too

cdef enum:
    MOST_VIRTUAL_ARGUMENTS = 4

cdef list _registered = []       # names, in registration order

cdef PyObject* keep(object value) noexcept:
    Py_INCREF(value)             # OWNED by a record that is never freed
    return <PyObject*>value

cdef int fill_property(PropertyInfo* info, dict declared) except -1:
    info.type = declared["type"]
    info.name = name_ptr(declared.get("name", ""))
    info.class_name = name_ptr(declared.get("class_name", ""))
    info.hint = declared.get("hint", 0)
    info.hint_string = string_forever(declared.get("hint_string", ""))
    info.usage = declared.get("usage", 6)                # PROPERTY_USAGE_DEFAULT
    if info.type == T_NIL:
        info.usage |= 1 << 17                            # PROPERTY_USAGE_NIL_IS_VARIANT

cdef PropertyInfo* property_infos(list declared) except? NULL:
    cdef PropertyInfo* infos = <PropertyInfo*>memory_of(len(declared), sizeof(PropertyInfo))
    for i, one in enumerate(declared):
        fill_property(&infos[i], one)
    return infos

ctypedef void (*register_f)(void*, const void*, const void*, const ClassCreationInfo*) noexcept nogil

cdef register_f register_in_engine = NULL

def register_class(dict declared):
    """Register one class; ``declared`` is the result of the declaration layer."""
    cdef ClassCreationInfo info
    cdef ClassData* data = <ClassData*>memory_of(1, sizeof(ClassData))
    cdef void* parent = name_ptr(declared["parent"])
    data.cls = keep(declared["cls"])
    data.name = name_ptr(declared["name"])
    data.native = name_ptr(declared["native"])
    fill_virtuals(data, declared["virtuals"])
    fill_notifications(data, declared["notifications"])
    fill_signals(data, declared["signal_names"])
    data.varying = keep(declared["varying"]) if declared["varying"] else NULL
    data.shown_as = keep(declared["shown_as"]) if declared.get("shown_as") else NULL
    data.reverts_to = keep(declared["reverts_to"]) if declared.get("reverts_to") else NULL
    memset(&info, 0, sizeof(info))
    info.is_exposed = 1
    info.is_runtime = declared["is_runtime"]
    info.icon_path = string_forever(declared["icon"]) if declared["icon"] else NULL
    info.create_instance_func = <void*>on_create
    info.free_instance_func = <void*>on_free
    info.recreate_instance_func = <void*>on_recreate     # without it the engine turns reloading off
    info.get_virtual_call_data_func = <void*>on_get_virtual
    info.call_virtual_with_data_func = <void*>on_call_virtual
    info.get_func = <void*>on_get if data.signal_count else NULL
    info.validate_property_func = <void*>on_validate_property if data.shown_as or data.varying else NULL
    info.property_can_revert_func = <void*>on_can_revert if data.reverts_to else NULL
    info.property_get_revert_func = <void*>on_get_revert if data.reverts_to else NULL
    info.to_string_func = <void*>on_to_string
    info.reference_func = <void*>on_reference
    info.unreference_func = <void*>on_unreference
    info.notification_func = <void*>on_notification if data.notification_count else NULL
    info.class_userdata = data
    register_in_engine(library, data.name, parent, &info)
    _registered.append(declared["name"])
    for method in declared["methods"]:
        register_method(data, method)
    for hook in declared["hooks"]:
        register_hook(data, hook)
    for enum, name, value in declared["constants"]:
        gd_classdb_register_extension_class_integer_constant(library, data.name, name_ptr(enum), name_ptr(name), value, 0)
    register_properties(data, declared["properties"])
    for signal in declared["signals"]:
        gd_classdb_register_extension_class_signal(
            library, data.name, name_ptr(signal["name"]), property_infos(signal["arguments"]), len(signal["arguments"]))

cdef int fill_virtuals(ClassData* data, list virtuals) except -1:
    cdef VirtualData* record
    data.virtuals = <VirtualData*>memory_of(len(virtuals), sizeof(VirtualData))
    for virtual in virtuals:
        record = &data.virtuals[data.virtual_count]
        record.name = (<uint64_t*>name_ptr(virtual["name"]))[0]
        record.function = keep(virtual["function"])
        record.where = keep(virtual["where"])
        record.count = len(virtual["types"])
        if record.count > MOST_VIRTUAL_ARGUMENTS:
            raise TypeError(f"a virtual has at most {MOST_VIRTUAL_ARGUMENTS} arguments here, {virtual['name']} has {record.count}")
        record.result = virtual["result"]
        record.once = virtual["once"]
        for i, t in enumerate(virtual["types"]):
            record.types[i] = t
        data.virtual_count += 1

cdef int fill_notifications(ClassData* data, list notifications) except -1:
    cdef NotificationData* record
    data.notifications = <NotificationData*>memory_of(len(notifications), sizeof(NotificationData))
    for what, function, where, once, branch_part in notifications:
        record = &data.notifications[data.notification_count]
        record.what = what
        record.function = keep(function)
        record.where = keep(where)
        record.once = once
        record.branch_part = branch_part
        data.notification_count += 1

cdef int fill_signals(ClassData* data, list names) except -1:
    data.signals = <uint64_t*>memory_of(len(names), sizeof(uint64_t))
    for name in names:
        data.signals[data.signal_count] = (<uint64_t*>name_ptr(name))[0]
        data.signal_count += 1

cdef int register_properties(ClassData* data, list properties) except -1:
    cdef PropertyInfo info
    for declared in properties:
        if declared.get("group") is not None:
            gd_classdb_register_extension_class_property_group(
                library, data.name, string_forever(declared["group"]), string_forever(""))
        fill_property(&info, declared)
        gd_classdb_register_extension_class_property(
            library, data.name, &info, name_ptr(declared["setter"]), name_ptr(declared["getter"]))

cdef int register_method(ClassData* data, dict declared) except -1:
    cdef MethodInfo info
    cdef PropertyInfo result
    cdef Arguments defaults = Arguments(declared["defaults"])
    cdef MethodData* record = <MethodData*>memory_of(1, sizeof(MethodData))
    record.kind = declared["kind"]
    record.target = keep(declared["target"])
    record.defaults = keep(tuple(declared["defaults"]))
    record.where = keep(declared["where"])
    record.count = len(declared["arguments"])
    record.default_count = len(declared["defaults"])
    record.result = declared["result"]["type"] if declared["result"] else -1
    record.result_is_ref = bool(declared["result"] and declared["result"].get("is_ref"))
    record.types = <int*>memory_of(record.count, sizeof(int))
    record.class_tags = <void**>memory_of(record.count, sizeof(void*))
    record.wanted = keep(tuple([one.get("class_name") or type_name(one["type"]) for one in declared["arguments"]]))
    for i, argument in enumerate(declared["arguments"]):
        record.types[i] = T_OBJECT_IDS if argument.get("as_ids") else argument["type"]
        if argument.get("class_name"):
            record.class_tags[i] = class_tag(argument["class_name"])
    memset(&info, 0, sizeof(info))
    info.name = name_ptr(declared["name"])
    info.method_userdata = record
    info.call_func = <void*>on_call
    info.ptrcall_func = <void*>on_ptrcall
    info.method_flags = 1                                # METHOD_FLAG_NORMAL
    if record.result >= 0:
        fill_property(&result, declared["result"])
        info.has_return_value = 1
        info.return_value_info = &result
    info.argument_count = record.count
    info.arguments_info = property_infos(declared["arguments"])
    info.arguments_metadata = <ArgumentMetadata*>memory_of(record.count, sizeof(ArgumentMetadata))
    info.default_argument_count = record.default_count
    info.default_arguments = <void**>defaults.pointers
    gd_classdb_register_extension_class_method(library, data.name, &info)

cdef int register_hook(ClassData* data, dict declared) except -1:
    cdef VirtualMethodInfo info
    memset(&info, 0, sizeof(info))
    info.name = name_ptr(declared["name"])
    info.method_flags = 1 | 8                            # METHOD_FLAG_NORMAL | METHOD_FLAG_VIRTUAL
    fill_property(&info.return_value, declared["result"] or {"type": T_NIL, "usage": 0})
    if not declared["result"]:
        info.return_value.usage = 6
    info.argument_count = len(declared["arguments"])
    info.arguments = property_infos(declared["arguments"])
    info.arguments_metadata = <ArgumentMetadata*>memory_of(info.argument_count, sizeof(ArgumentMetadata))
    gd_classdb_register_extension_class_virtual_method(library, data.name, &info)

def unregister_class(name):
    """Unregister a class; no instance of it may exist."""
    _registered.remove(name)
    gd_classdb_unregister_extension_class(library, name_ptr(name))

def registered_classes():
    """Return the names of the registered classes, parents before children."""
    return list(_registered)

def load_documentation(xml):
    """Pass the documentation of a class to the editor; only at start level EDITOR."""
    cdef bytes text = xml.encode()
    gd_editor_help_load_xml_from_utf8_chars(text)

def call_hook(GDObject self, name, default, *values):
    """Call the script's override of a virtual method, or ``default(self, *values)`` without one."""
    cdef GDVariant result
    cdef CallError error
    cdef void* pointer = self.live()
    cdef void* method = name_ptr(name)
    if not gd_object_has_script_method(pointer, method):
        return default(self, *values)
    cdef Arguments arguments = Arguments(values)
    error.error = 0
    gd_variant_new_nil(&result)
    with nogil:
        gd_object_call_script_method(pointer, method, arguments.pointers, arguments.count, &result, &error)
    try:
        check_call(&error, name, values)
        return variant_to_python(&result)
    finally:
        gd_variant_destroy(&result)

def has_script_method(GDObject self, name):
    """Return whether the script on ``self`` defines a method."""
    return bool(gd_object_has_script_method(self.live(), name_ptr(name)))

def is_overridden(GDObject self, name):
    """Return whether the script on an instance of a declared class, or its class in Python, overrides a hook."""
    return bool(gd_object_has_script_method(self.live(), name_ptr(name))) or name in type(self).overridden_hooks
