# Objects whose signals code has accessed: other objects can have connections by text name only.
#
# GIL: not taken.

cdef uint8_t on_get(void* instance, const void* name, void* out) noexcept nogil:
    # Asked before the engine looks for a property, or for the signal in ``node.signal.connect(…)``.
    global listener_changes
    cdef ClassData* data
    cdef int i
    if instance != NULL and not (<Instance*>instance).names_signals:
        data = <ClassData*>(<Instance*>instance).data
        for i in range(data.signal_count):
            if data.signals[i] == (<const uint64_t*>name)[0]:
                (<Instance*>instance).names_signals = 1
                listener_changes += 1
                break
    return 0                     # the engine finds it itself
