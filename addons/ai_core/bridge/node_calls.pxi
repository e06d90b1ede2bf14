# The engine's methods of a Node that nodes call most, as methods: a fifth to a half of the time of a call by name.
#
# GIL: held; every call is a short getter of the engine, which runs no script.

cdef const void* bind_get_viewport = NULL
cdef const void* bind_get_node_or_null = NULL
cdef const void* bind_get_path = NULL

cdef int open_node_calls() except -1:
    global bind_get_viewport, bind_get_node_or_null, bind_get_path
    bind_get_viewport = need_bind("Node", "get_viewport", HASH_Node_get_viewport)
    bind_get_node_or_null = need_bind("Node", "get_node_or_null", HASH_Node_get_node_or_null)
    bind_get_path = need_bind("Node", "get_path", HASH_Node_get_path)

cdef class NodeObject(GDObject):
    """Base of the Python base of Node; its other methods are called by name."""

    def is_inside_tree(self): return is_inside_tree(self.live())

    def can_process(self):
        cdef uint8_t can = 0
        gd_object_method_bind_ptrcall(bind_can_process, self.live(), NULL, &can)
        return bool(can)

    def get_name(self):
        cdef uint64_t name = 0
        gd_object_method_bind_ptrcall(bind_name, self.live(), NULL, &name)
        text = name_to_python(&name)
        if name:
            destructors[T_STRING_NAME](&name)
        return text

    def get_parent(self): return parent_of(self)

    def get_viewport(self):
        cdef void* viewport = NULL
        gd_object_method_bind_ptrcall(bind_get_viewport, self.live(), NULL, &viewport)
        return object_to_python(viewport)

    def get_node_or_null(self, path):
        cdef uint64_t named[2]
        cdef const void* arguments[1]
        cdef void* found = NULL
        cdef void* pointer = self.live()
        slot_new(path, T_NODE_PATH, named)
        arguments[0] = named
        gd_object_method_bind_ptrcall(bind_get_node_or_null, pointer, arguments, &found)
        destructors[T_NODE_PATH](named)
        return object_to_python(found)

    def get_path(self):
        cdef uint64_t path[2]
        memset(path, 0, sizeof(path))
        gd_object_method_bind_ptrcall(bind_get_path, self.live(), NULL, path)
        text = slot_to_python(T_NODE_PATH, path)
        destructors[T_NODE_PATH](path)
        return text
