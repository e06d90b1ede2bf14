# Reading and writing the slots of classes in Python.

cdef extern from "Python.h":
    """
    /* All slots of classes in Python are descriptors of one type, which are asked here without a look at names. */
    static descrgetfunc slot_get;
    static descrsetfunc slot_set;
    #define find_slot_functions(slot) \\
        (slot_get = (descrgetfunc)PyType_GetSlot(Py_TYPE(slot), Py_tp_descr_get), \\
         slot_set = (descrsetfunc)PyType_GetSlot(Py_TYPE(slot), Py_tp_descr_set))
    #define get_slot(slot, one) slot_get(slot, one, (PyObject*)Py_TYPE(one))
    #define put_slot(slot, one, value) slot_set(slot, one, value)
    """
    void find_slot_functions(object slot)
    object get_slot(object slot, object one)
    int put_slot(object slot, object one, object value) except -1
