"""Searches from a cell to the nearest of some goals, for the kernels of searches on a ``Grid``."""
cimport cython
from cpython.bytes cimport PyBytes_AsString, PyBytes_FromStringAndSize


cdef class ToGoals(Grid):
    """A base that knows the start, the goals and the box around these."""

    cdef int32_t start
    cdef int32_t top, bottom, left, right   # of the box; in rows of hexagons half columns count
    cdef bint is_one_goal
    cdef int32_t goal                   # the one, or the last
    cdef object goals                   # bytearray, a flag a cell, if there are many
    cdef char* goal_flags               # BORROWED from it
    cdef readonly int reached

    @cython.final
    cdef int set_ends(self, int start, goals, bint is_hexagonal) except -1:
        if not 0 <= start < self.cells:
            raise IndexError("the start is not on the grid")
        self.set_goals(goals, is_hexagonal)
        self.start = start
        self.done = self.is_goal(start)
        self.reached = start if self.done else NOWHERE
        return 0

    @cython.final
    cdef int set_goals(self, goals, bint is_hexagonal) except -1:
        cdef int32_t row, column
        self.top = self.left = 0x7FFFFFFF
        self.bottom = self.right = -1
        numbers = goals.tolist()
        self.is_one_goal = len(numbers) == 1
        self.goals = None if self.is_one_goal else bytearray(self.cells)
        if not self.is_one_goal:
            self.goal_flags = self.goals
        for cell in numbers:
            if not 0 <= cell < self.cells:
                raise IndexError("a goal is not on the grid")
            self.goal = cell
            if not self.is_one_goal:
                self.goal_flags[<int32_t> cell] = 1
            row, column = cell // self.width, cell % self.width
            if is_hexagonal:
                column = 2 * column + (row & 1)
            self.top = row if row < self.top else self.top
            self.bottom = row if row > self.bottom else self.bottom
            self.left = column if column < self.left else self.left
            self.right = column if column > self.right else self.right
        return 0

    @cython.final
    cdef inline bint is_goal(self, int32_t cell) noexcept nogil:
        return cell == self.goal if self.is_one_goal else self.goal_flags[cell]

    cdef bint is_known(self, int32_t cell) noexcept nogil:
        """Return whether this search has been at a cell."""
        return False

    cdef int32_t came_from(self, int32_t cell) noexcept nogil:
        """Return the cell before one on the way to it."""
        return NOWHERE

    def way_to(self, int cell):
        cdef int32_t length = 1, at = cell
        cdef int32_t* out
        if not 0 <= cell < self.cells or not self.is_known(cell):
            raise ValueError("there is no way to that cell")
        while at != self.start:
            at = self.came_from(at)
            length += 1
            if length > self.cells or not 0 <= at < self.cells:
                raise RuntimeError(CONTRADICTORY)
        found = PyBytes_FromStringAndSize(NULL, length * sizeof(int32_t))
        out = <int32_t*> PyBytes_AsString(found)
        at = cell
        while length > 0:
            length -= 1
            out[length] = at
            if length:
                at = self.came_from(at)
        return found
