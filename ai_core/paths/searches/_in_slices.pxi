"""Work that is done in slices, for the kernels of searches.

Whoever includes this says ``LONG``: how much is so long a slice that other threads may run (count).
"""


cdef class InSlices:
    """A base; ``work`` does it, and sets ``done``."""

    cdef bint done

    @property
    def is_done(self):
        return self.done

    def advance(self, Py_ssize_t most):
        return self.slice(most)

    cdef Py_ssize_t slice(self, Py_ssize_t most) except -1:
        cdef Py_ssize_t did
        if self.done:
            return 0
        if most >= LONG:
            with nogil:
                did = self.work(most)
        else:
            did = self.work(most)
        if did < 0:
            raise MemoryError("no memory for a search")
        return did

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        """Return how much was done, ``most`` or little more; -1 if there is no memory."""
        return 0
