# Exported properties of declared classes: their values, in the dictionaries of instances. GIL: kept.

cdef extern from "Python.h":
    object PyObject_GenericGetDict(object instance, void* context)


cdef class StoredValue:
    """Descriptor whose value is in the dictionary of the instance; read many times in each frame and for each new node.

    Attributes:
        slot: key in the dictionary.
        default: value where the dictionary has none.
        has_flat_default: ``default_of(instance)`` returns the default instead.
        is_collection: an empty tuple stands for a new object of ``type``.
    """
    cdef public object slot, default, type
    cdef public bint has_flat_default, is_collection

    def __get__(self, instance, owner):
        cdef PyObject* found
        if instance is None:
            return self
        found = PyDict_GetItemWithError(PyObject_GenericGetDict(instance, NULL), self.slot)
        if found != NULL:
            value = <object>found
        else:
            value = self.default_of(instance) if self.has_flat_default else self.default
        if self.is_collection and isinstance(value, tuple) and not value:
            return self.type()
        return value
