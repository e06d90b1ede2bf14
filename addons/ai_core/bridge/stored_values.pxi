# Exported properties of declared classes: their values, in the dictionaries of instances. GIL: kept.

cdef class StoredValue:
    """Descriptor whose value is in the dictionary of the instance; read many times in each frame and for each new node.

    Attributes:
        name: name of the property.
        slot: key in the dictionary.
        default: value where the dictionary has none.
        has_flat_default: in 2D the default is ``default_2d``; ``default_of(instance)`` returns it if the instance does
            not hold ``_is_flat``.
        is_collection: an empty tuple stands for a new object of ``type``.
        takes_any: booleans and strings need no check.
        low, high: limits between which numbers need no check.
        members: numbers that need no check, None for all between the limits.
        on_set, on_live: names of the method that is called after a new value is stored; see ``export``.
    """
    cdef public object name, slot, default, default_2d, type, members, on_set, on_live
    cdef public bint has_flat_default, is_collection, takes_any
    cdef public double low, high

    def __get__(self, instance, owner):
        cdef PyObject* found
        if instance is None:
            return self
        found = PyDict_GetItemWithError(PyObject_GenericGetDict(instance, NULL), self.slot)
        if found != NULL:
            value = <object>found
        else:
            value = self.default
            if self.has_flat_default:
                found = PyDict_GetItemWithError(PyObject_GenericGetDict(instance, NULL), "_is_flat")
                if found == NULL:
                    value = self.default_of(instance)
                elif <object>found is True:
                    value = self.default_2d
        if self.is_collection and isinstance(value, tuple) and not value:
            return self.type()
        return value

    def __set__(self, instance, value):
        cdef dict values = PyObject_GenericGetDict(instance, NULL)
        old = values.get(self.slot, self)
        values[self.slot] = value if self.needs_no_check(value) else self.checked(instance, value)
        on_edit = self.on_edit
        if on_edit is not None and on_edit(instance, self):
            return
        on_set = self.on_set
        if not on_set:
            on_set = getattr(instance, "ON_ANY_SET", "")     # a node has it: an AttributeError takes 1 us
            if on_set and not is_inside_tree((<GDObject?>instance).live()):
                return                                   # most of a scene's values are set before it enters the tree
        if not on_set and not self.on_live:
            return
        act = getattr(instance, on_set) if on_set else getattr(instance, self.on_live, None)
        if act is None:
            return
        try:
            act()
        except RefusedValue as error:
            if old is self:
                del values[self.slot]
            else:
                values[self.slot] = old
            if self.name in str(error):
                raise
            raise RefusedValue(f"{self.name}: {error}") from None

    cdef bint needs_no_check(self, value):
        """Return whether ``checked`` would return a value as it is, as far as that is known at once."""
        if type(value) is float:
            return self.members is None and self.low <= <double>value <= self.high
        if type(value) is int:
            return self.low <= <double>value <= self.high if self.members is None else value in self.members
        return self.takes_any and (type(value) is bool or isinstance(value, str))


def values_of(instance, dict stored):
    """Return the values of an instance other than the defaults, with their slots; a list or dictionary is its repr().

    Args:
        instance: the instance.
        stored: StoredValues by slot.
    """
    cdef list found = []
    cdef dict values = PyObject_GenericGetDict(instance, NULL)
    cdef PyObject* known
    for slot, value in values.items():
        known = PyDict_GetItemWithError(stored, slot)
        if known == NULL:
            continue
        if isinstance(value, (list, dict)):
            found.append((slot, repr(value)))
        elif (<StoredValue>known).has_flat_default or value != (<StoredValue>known).default:
            if (<StoredValue>known).members is not None:
                value = int(value)                       # the hash of a member of an enum is a call
            found.append((slot, value))
    return frozenset(found)
