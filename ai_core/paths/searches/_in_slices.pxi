"""Work that is done in slices, for the kernels of searches.

Whoever includes this says ``LONG``: how much is so long a slice that other threads may run (count).

No kernel loops without a bound that follows from sizes. A turn of ``work`` takes an entry off what waits, and
an expanded cell adds at most one for each of its moves, so a slice of ``most`` cells ends. A path has at most as
many cells as the grid, a ring is empty after one round. Beyond such a bound what is known contradicts itself, which
is a fault of this library: it is raised, since a loop that does not end would freeze the game.
"""
cdef enum:
    NO_MEMORY = -1
    CONTRADICTION = -2

CONTRADICTORY = (
    "internal error in a search: its tables contradict each other; make a new search, and report this with the grid")


cdef inline Py_ssize_t checked_work(Py_ssize_t did) except -1:
    """Return what was done, or raise what went wrong."""
    if did == NO_MEMORY:
        raise MemoryError("no memory for a search")
    if did == CONTRADICTION:
        raise RuntimeError(CONTRADICTORY)
    return did


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
        return checked_work(did)

    cdef Py_ssize_t work(self, Py_ssize_t most) noexcept nogil:
        """Return how much was done, ``most`` or little more; else NO_MEMORY or CONTRADICTION."""
        return 0
