# The engine's C interface as Cython sees it. Every gd_* name is a function
# pointer that engine_interface.h (generated at build time) declares; pointers to
# engine values are plain void* here, their layout is stated where it is used.

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object, Py_ssize_t*) except NULL
    object PyUnicode_DecodeUTF8(const char*, Py_ssize_t, const char*)
    object PyUnicode_DecodeUTF32(const char*, Py_ssize_t, const char*, int*)
    # In the limited API, and without a tuple: what Cython itself makes of f(a, b) there is slower.
    object PyObject_CallFunctionObjArgs(object, ...)
    object PyObject_CallMethodObjArgs(object, object, ...)
    ctypedef int PyGILState_STATE
    PyGILState_STATE PyGILState_Ensure() nogil

cdef extern from "thread_pin.h":
    int thread_is_main() nogil
    void thread_becomes_main() nogil
    int thread_pin_once() nogil      # 1 the first time a thread asks, 0 ever after

cdef extern from "engine_hashes.h":
    int64_t HASH_Object_is_class, HASH_Object_emit_signal, HASH_Object_has_connections, HASH_Object_connect, HASH_Object_notification
    int64_t HASH_RefCounted_init_ref, HASH_RefCounted_unreference, HASH_RefCounted_get_reference_count
    int64_t HASH_Node3D_get_global_transform
    int64_t HASH_Node_is_inside_tree, HASH_Node_can_process, HASH_Node_get_parent
    int64_t HASH_Node_get_viewport, HASH_Node_get_node_or_null, HASH_Node_get_path
    int64_t HASH_Node_get_child_count, HASH_Node_get_child, HASH_Node_get_name, HASH_Object_get_script
    int64_t HASH_Node_get_process_delta_time, HASH_Node_get_physics_process_delta_time
    int64_t HASH_Node3D_set_position, HASH_RayCast3D_set_target_position
    int64_t HASH_RayCast3D_force_raycast_update, HASH_RayCast3D_is_colliding, HASH_RayCast3D_get_collider
    int64_t HASH_CanvasItem_get_global_transform
    int64_t HASH_Node2D_set_position, HASH_Node2D_get_global_position, HASH_RayCast2D_set_target_position
    int64_t HASH_RayCast2D_force_raycast_update, HASH_RayCast2D_is_colliding, HASH_RayCast2D_get_collider
    int64_t HASH_RayCast3D_get_collision_point, HASH_RayCast2D_get_collision_point
    int64_t HASH_CharacterBody3D_get_slide_collision_count, HASH_CharacterBody3D_get_slide_collision
    int64_t HASH_CharacterBody2D_get_slide_collision_count, HASH_CharacterBody2D_get_slide_collision
    int64_t HASH_CharacterBody3D_set_velocity, HASH_CharacterBody3D_get_velocity, HASH_CharacterBody3D_move_and_slide
    int64_t HASH_Engine_is_in_physics_frame, HASH_Engine_get_physics_frames, HASH_Engine_get_process_frames
    int64_t HASH_NavigationAgent3D_get_target_position, HASH_NavigationAgent3D_get_next_path_position
    int64_t HASH_NavigationAgent3D_get_current_navigation_path, HASH_NavigationAgent3D_set_velocity
    int64_t HASH_NavigationAgent2D_get_target_position, HASH_NavigationAgent2D_get_next_path_position
    int64_t HASH_NavigationAgent2D_get_current_navigation_path, HASH_NavigationAgent2D_set_velocity
    int64_t HASH_NavigationAgent3D_get_navigation_map, HASH_NavigationAgent3D_set_target_position
    int64_t HASH_NavigationAgent3D_set_path_height_offset
    int64_t HASH_NavigationAgent2D_get_navigation_map, HASH_NavigationAgent2D_set_target_position
    int64_t HASH_NavigationServer3D_map_get_iteration_id, HASH_NavigationServer3D_map_get_closest_point
    int64_t HASH_NavigationServer3D_map_get_closest_point_normal, HASH_NavigationServer2D_map_get_iteration_id
    int64_t HASH_CharacterBody3D_is_on_floor, HASH_CharacterBody3D_is_on_wall
    int64_t HASH_CharacterBody3D_get_wall_normal, HASH_PhysicsBody3D_test_move
    int64_t HASH_CharacterBody3D_apply_floor_snap
    int64_t HASH_CharacterBody3D_get_floor_normal, HASH_CharacterBody3D_get_motion_mode
    int64_t HASH_CharacterBody2D_set_velocity, HASH_CharacterBody2D_get_velocity, HASH_CharacterBody2D_move_and_slide
    int64_t HASH_Node3D_get_global_position, HASH_Node3D_set_global_position
    int64_t HASH_Node3D_get_global_rotation, HASH_Node3D_set_global_rotation
    int64_t HASH_Node2D_set_global_position, HASH_Node2D_get_global_rotation, HASH_Node2D_set_global_rotation
    int64_t HASH_KinematicCollision3D_get_collider_id, HASH_KinematicCollision3D_get_collision_count
    int64_t HASH_KinematicCollision2D_get_collider_id
    int64_t HASH_Array_size, HASH_Array_resize, HASH_Array_make_read_only, HASH_Dictionary_keys
    int64_t HASH_Callable_call_deferred, HASH_Callable_get_object_id
    int64_t HASH_Signal_get_object, HASH_Signal_get_name
    int64_t HASH_PackedByteArray_size, HASH_PackedByteArray_resize

cdef extern from "engine_interface.h":
    ctypedef void (*from_type_f "GDExtensionVariantFromTypeConstructorFunc")(void*, void*) noexcept nogil
    ctypedef void* (*internal_f "GDExtensionVariantGetInternalPtrFunc")(void*) noexcept nogil
    ctypedef void (*builtin_method_f "GDExtensionPtrBuiltInMethod")(void*, const void* const*, void*, int) noexcept nogil
    ctypedef void (*constructor_f "GDExtensionPtrConstructor")(void*, const void* const*) noexcept nogil
    ctypedef void (*destructor_f "GDExtensionPtrDestructor")(void*) noexcept nogil
    ctypedef void* (*get_proc_f "GDExtensionInterfaceGetProcAddress")(const char*) noexcept nogil

    ctypedef struct CallError "GDExtensionCallError":
        int error
        int32_t argument
        int32_t expected
    ctypedef struct PropertyInfo "GDExtensionPropertyInfo":
        int type
        void* name
        void* class_name
        uint32_t hint
        void* hint_string
        uint32_t usage
    ctypedef struct BindingCallbacks "GDExtensionInstanceBindingCallbacks":
        void* create_callback
        void* free_callback
        void* reference_callback
    ctypedef struct ClassCreationInfo "GDExtensionClassCreationInfo4":
        uint8_t is_virtual
        uint8_t is_abstract
        uint8_t is_exposed
        uint8_t is_runtime
        void* icon_path
        void* get_func
        void* property_can_revert_func
        void* property_get_revert_func
        void* validate_property_func
        void* notification_func
        void* to_string_func
        void* reference_func
        void* unreference_func
        void* create_instance_func
        void* free_instance_func
        void* recreate_instance_func
        void* get_virtual_call_data_func
        void* call_virtual_with_data_func
        void* class_userdata
    ctypedef enum ArgumentMetadata "GDExtensionClassMethodArgumentMetadata":
        pass
    ctypedef struct MethodInfo "GDExtensionClassMethodInfo":
        void* name
        void* method_userdata
        void* call_func
        void* ptrcall_func
        uint32_t method_flags
        uint8_t has_return_value
        PropertyInfo* return_value_info
        int return_value_metadata
        uint32_t argument_count
        PropertyInfo* arguments_info
        ArgumentMetadata* arguments_metadata
        uint32_t default_argument_count
        void** default_arguments
    ctypedef struct VirtualMethodInfo "GDExtensionClassVirtualMethodInfo":
        void* name
        uint32_t method_flags
        PropertyInfo return_value
        int return_value_metadata
        uint32_t argument_count
        PropertyInfo* arguments
        ArgumentMetadata* arguments_metadata
    ctypedef struct CallableInfo "GDExtensionCallableCustomInfo2":
        void* callable_userdata
        void* token
        uint64_t object_id
        void* call_func
        void* is_valid_func
        void* free_func
        void* hash_func
        void* equal_func
        void* less_than_func
        void* to_string_func
        void* get_argument_count_func

    int engine_interface_load(get_proc_f, uint32_t, uint32_t, const char**) nogil
    void gd_print_error_with_message(const char*, const char*, const char*, const char*, int32_t, uint8_t) nogil
    void gd_print_warning_with_message(const char*, const char*, const char*, const char*, int32_t, uint8_t) nogil
    void gd_variant_new_nil(void*) nogil
    void gd_variant_destroy(void*) nogil
    void gd_variant_call(void*, const void*, const void* const*, int64_t, void*, CallError*) nogil
    void gd_variant_get_named(const void*, const void*, void*, uint8_t*) nogil
    void gd_variant_set_named(void*, const void*, const void*, uint8_t*) nogil
    uint8_t gd_variant_has_method(const void*, const void*) nogil
    int gd_variant_get_type(const void*) nogil
    void gd_variant_get_type_name(int, void*) nogil
    uint8_t gd_variant_can_convert_strict(int, int) nogil
    from_type_f gd_get_variant_from_type_constructor(int) nogil
    internal_f gd_variant_get_ptr_internal_getter(int) nogil
    builtin_method_f gd_variant_get_ptr_builtin_method(int, const void*, int64_t) nogil
    constructor_f gd_variant_get_ptr_constructor(int, int32_t) nogil
    destructor_f gd_variant_get_ptr_destructor(int) nogil
    int64_t gd_string_new_with_utf8_chars_and_len2(void*, const char*, int64_t) nogil
    int64_t gd_string_to_utf32_chars(const void*, void*, int64_t) nogil
    const void* gd_string_operator_index_const(const void*, int64_t) nogil
    void gd_string_name_new_with_utf8_chars_and_len(void*, const char*, int64_t) nogil
    void* gd_packed_byte_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_int32_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_int64_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_float32_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_float64_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_string_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_vector2_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_vector3_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_color_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_vector4_array_operator_index_const(const void*, int64_t) nogil
    void* gd_packed_byte_array_operator_index(void*, int64_t) nogil
    void* gd_packed_int32_array_operator_index(void*, int64_t) nogil
    void* gd_packed_int64_array_operator_index(void*, int64_t) nogil
    void* gd_packed_float32_array_operator_index(void*, int64_t) nogil
    void* gd_packed_float64_array_operator_index(void*, int64_t) nogil
    void* gd_packed_string_array_operator_index(void*, int64_t) nogil
    void* gd_packed_vector2_array_operator_index(void*, int64_t) nogil
    void* gd_packed_vector3_array_operator_index(void*, int64_t) nogil
    void* gd_packed_color_array_operator_index(void*, int64_t) nogil
    void* gd_packed_vector4_array_operator_index(void*, int64_t) nogil
    void* gd_array_operator_index(void*, int64_t) nogil
    void* gd_array_operator_index_const(const void*, int64_t) nogil
    void* gd_dictionary_operator_index(void*, const void*) nogil
    void* gd_dictionary_operator_index_const(const void*, const void*) nogil
    void gd_object_method_bind_call(const void*, void*, const void* const*, int64_t, void*, CallError*) nogil
    void gd_object_method_bind_ptrcall(const void*, void*, const void* const*, void*) nogil
    void gd_object_destroy(void*) nogil
    void* gd_global_get_singleton(const void*) nogil
    void* gd_object_get_instance_binding(void*, void*, const BindingCallbacks*) nogil
    void gd_object_set_instance_binding(void*, void*, void*, const BindingCallbacks*) nogil
    void gd_object_set_instance(void*, const void*, void*) nogil
    uint8_t gd_object_get_class_name(const void*, void*, void*) nogil
    void* gd_object_get_instance_from_id(uint64_t) nogil
    uint64_t gd_object_get_instance_id(const void*) nogil
    # Deprecated in Godot 4.7: NULL in an engine that is built without what is deprecated.
    bint has_class_tags "(gd_object_cast_to != NULL && gd_classdb_get_class_tag != NULL)"
    void* gd_object_cast_to(const void*, void*) nogil
    uint8_t gd_object_has_script_method(const void*, const void*) nogil
    void gd_object_call_script_method(void*, const void*, const void* const*, int64_t, void*, CallError*) nogil
    void gd_ref_set_object(void*, void*) nogil
    void gd_callable_custom_create2(void*, CallableInfo*) nogil
    void* gd_callable_custom_get_userdata(const void*, void*) nogil
    void* gd_classdb_construct_object2(const void*) nogil
    const void* gd_classdb_get_method_bind(const void*, const void*, int64_t) nogil
    void* gd_classdb_get_class_tag(const void*) nogil
    void gd_classdb_register_extension_class_method(void*, const void*, const MethodInfo*) nogil
    void gd_classdb_register_extension_class_virtual_method(void*, const void*, const VirtualMethodInfo*) nogil
    void gd_classdb_register_extension_class_integer_constant(void*, const void*, const void*, const void*, int64_t, uint8_t) nogil
    void gd_classdb_register_extension_class_property(void*, const void*, const PropertyInfo*, const void*, const void*) nogil
    void gd_classdb_register_extension_class_property_group(void*, const void*, const void*, const void*) nogil
    void gd_classdb_register_extension_class_signal(void*, const void*, const void*, const PropertyInfo*, int64_t) nogil
    void gd_classdb_unregister_extension_class(void*, const void*) nogil
    void gd_editor_help_load_xml_from_utf8_chars(const char*) nogil
