# Positions of many nodes, read repeatedly in one crossing.
#
# GIL: kept; a node takes tens of nanoseconds.
# BORROWED: nodes of declared classes are pointers that are valid until an instance of a declared class is freed;
#   then those that are freed are found. Other nodes are looked up by their ids each time.

ctypedef struct PlacedNode:
    void* node                   # NULL once it is freed
    void* parent                 # to have it brought nearer, never to be used: it may be gone
    uint64_t id                  # of one that is not of our classes; else 0
    bint is_none                 # a row without a node

ctypedef struct Rows:            # BORROWED for one call
    char* data                   # NULL for none
    Py_ssize_t row               # bytes from one to the next
    Py_ssize_t column            # bytes from one to the next
    Py_ssize_t columns           # that are written

cdef enum:
    # Where in a Node3D stands what is read to say where it is, and in its parent, by which it goes: bytes, as
    # Godot 4.6 has it in games. Where it stands elsewhere reading takes some 10 ns a node longer.
    IN_TREE = 0x1B8
    PLACE_FIRST = 0x348
    PLACE_LAST = 0x41F
    PLACES_AHEAD = 8             # nodes: memory brings them meanwhile, and caches hold them so long


@cython.final
cdef class NodePlaces:
    """Nodes whose positions and directions are read repeatedly, each into a row of arrays.

    Args:
        nodes: n Node3D; or Node2D, if ``pixel_m`` is given.
        pixel_m: length of a pixel (m); 0 for Node3D.

    Attributes:
        nodes: node by row, None for a row without one; read-only.
    """
    cdef readonly list nodes
    cdef double pixel_m
    cdef PlacedNode* all         # OWNED
    cdef Py_ssize_t count        # rows
    cdef Py_ssize_t capacity     # rows that ``all`` has memory for
    cdef int64_t seen_freed      # ``placed_freed`` as freed nodes were found last
    cdef object positions        # the arrays that were filled last, and where they are
    cdef object forwards
    cdef float[:, :] at
    cdef float[:, :] ahead

    def __init__(self, nodes=(), double pixel_m=0):
        cdef Py_ssize_t i
        self.nodes, self.pixel_m, self.count = [], pixel_m, 0
        self.seen_freed = placed_freed
        nodes = list(nodes)
        for i in range(len(nodes)):
            self.put(i, nodes[i])

    def __dealloc__(self):
        free(self.all)

    def put(self, Py_ssize_t row, GDObject node not None):
        """Let a node be read into a row, 0 or more, in place of the node that was.

        Cost: two engine calls, apart from doubling.
        """
        cdef PlacedNode found
        if row < 0:
            raise ValueError(f"a row must be 0 or more, got {row}")
        self.find(node, &found)
        self.have_memory(row + 1)
        while self.count <= row:
            self.nodes.append(None)
            self.all[self.count].is_none = True
            self.all[self.count].node = self.all[self.count].parent = NULL
            self.count += 1
            self.positions = self.forwards = None        # whose number of rows is to be checked again
        self.count_places(row, -1)
        self.nodes[row], self.all[row] = node, found
        self.count_places(row, 1)

    def drop(self, Py_ssize_t row):
        """Leave a row without a node; ``read`` does not change it."""
        if not 0 <= row < self.count:
            raise IndexError(f"row must be one of {self.count} rows, got {row}")
        self.count_places(row, -1)
        self.nodes[row] = None
        self.all[row].is_none = True
        self.all[row].node = self.all[row].parent = NULL
        while self.count and self.all[self.count - 1].is_none:
            self.count -= 1
            self.nodes.pop()

    cdef int count_places(self, Py_ssize_t row, int more) except -1:
        """Count in a node of a declared class that a row holds it more, or less, often."""
        cdef GDObject node = self.nodes[row]
        if node is not None and node.instance != NULL:
            node.instance.places += more
        return 0

    cdef int have_memory(self, Py_ssize_t rows) except -1:
        cdef Py_ssize_t capacity = max(rows, 2 * self.capacity)
        cdef PlacedNode* larger
        if rows <= self.capacity:
            return 0
        larger = <PlacedNode*>memory_of(capacity, sizeof(PlacedNode))
        if self.count:
            memcpy(larger, self.all, self.count * sizeof(PlacedNode))
        free(self.all)
        self.all, self.capacity = larger, capacity
        return 0

    cdef int find(self, GDObject node, PlacedNode* one) except -1:
        one.is_none = False
        one.id = node.id if node.instance == NULL else 0
        one.node = node.pointer if one.id == 0 else gd_object_get_instance_from_id(one.id)
        one.parent = NULL
        if one.node != NULL:
            if not is_of_class(one.node, in_plane.node_tag if self.pixel_m else in_space.node_tag):
                raise TypeError(f"needs a {'Node2D' if self.pixel_m else 'Node3D'}, got {node!r}")
            gd_object_method_bind_ptrcall(bind_get_parent, one.node, NULL, &one.parent)
        return 0

    cdef int find_freed(self) except -1:
        """Find again the nodes of declared classes whose instances are freed."""
        cdef Py_ssize_t i
        cdef GDObject node
        if len(self.nodes) != self.count:
            raise ValueError(f"the number of nodes changed from {self.count} to {len(self.nodes)}; use put() and drop()")
        for i in range(self.count):
            if self.all[i].is_none or self.all[i].id != 0:
                continue
            node = <GDObject?>self.nodes[i]
            if node.instance == NULL:
                self.find(node, &self.all[i])
        self.seen_freed = placed_freed
        return 0

    def read(self, positions, forwards=None):
        """Read the positions and directions of all nodes.

        Args:
            positions: shape (n or more, 3) float32; their rows are overwritten with global positions (m), for Node2D
                in the first two columns.
            forwards: shape (n or more, 3) float32, overwritten with unit vectors along -z, for Node2D along x; or None.

        Returns:
            Rows of nodes that are freed, or whose transform holds a NaN or infinity; their rows do not change.

        Cost: one engine call per node, about 30 ns; no allocation.
        """
        cdef Py_ssize_t i, count = self.count, columns = 2 if self.pixel_m else 3
        cdef Rows at, ahead
        cdef list lost = []
        if positions is not self.positions or forwards is not self.forwards:
            self.view_arrays(positions, forwards, columns)
            self.positions, self.forwards = positions, forwards
        if count == 0:
            return lost
        at.data, at.row, at.column = <char*>&self.at[0, 0], self.at.strides[0], self.at.strides[1]
        at.columns = columns
        ahead.data = NULL
        if forwards is not None:
            ahead.data, ahead.row, ahead.column = <char*>&self.ahead[0, 0], self.ahead.strides[0], self.ahead.strides[1]
            ahead.columns = self.ahead.shape[1]
        if self.seen_freed != placed_freed:
            self.find_freed()
        for i in range(min(<Py_ssize_t>PLACES_AHEAD, count)):
            fetch_place(&self.all[i])
        for i in range(count):
            if i + PLACES_AHEAD < count:
                fetch_place(&self.all[i + PLACES_AHEAD])
            if self.all[i].is_none:
                continue
            if self.all[i].id != 0:
                self.all[i].node = gd_object_get_instance_from_id(self.all[i].id)
            if self.all[i].node == NULL or not (
                    read_flat(self.all[i].node, self.pixel_m, &at, &ahead, i) if self.pixel_m
                    else read_solid(self.all[i].node, &at, &ahead, i)):
                lost.append(i)
        return lost

    cdef int view_arrays(self, float[:, :] positions, float[:, :] forwards, Py_ssize_t columns) except -1:
        """Take views of the arrays if they are others than before: a view takes longer than reading a node."""
        cdef Py_ssize_t most = positions.shape[0] if forwards is None else min(positions.shape[0], forwards.shape[0])
        if most < self.count:
            raise ValueError(f"{self.count} nodes need {self.count} rows, got {most}")
        if positions.shape[1] < columns or (forwards is not None and forwards.shape[1] < columns):
            raise ValueError(f"rows must have {columns} columns, got {positions.shape[1]}")
        self.positions = self.forwards = None
        self.at, self.ahead = positions, forwards


cdef inline bint read_solid(void* node, const Rows* at, const Rows* ahead, Py_ssize_t i) noexcept nogil:
    """Write position and direction of a Node3D; return 0 if they are not finite."""
    cdef float transform[12]
    cdef float x, y, z
    cdef double squared, length
    gd_object_method_bind_ptrcall(bind_global_transform, node, NULL, transform)
    if not are_finite(transform, 9 if ahead.data == NULL else 0):
        return False
    put(at, i, transform[9], transform[10], transform[11])
    if ahead.data != NULL:
        x, y, z = -transform[2], -transform[5], -transform[8]
        squared = <double>x * x + <double>y * y + <double>z * z      # of a node scaled by 1e20, a float would be infinite
        if squared == 1:         # as of most: a root and three divisions less
            put(ahead, i, x, y, z)
        elif squared > 0:        # where there is no direction, what was there stays
            length = sqrt(squared)
            put(ahead, i, <float>(x / length), <float>(y / length), <float>(z / length))
    return True

cdef inline bint read_flat(void* node, double pixel_m, const Rows* at, const Rows* ahead, Py_ssize_t i) noexcept nogil:
    """As the above, for a Node2D."""
    cdef float transform[6]
    cdef double x, y, length
    gd_object_method_bind_ptrcall(bind_global_transform_2d, node, NULL, transform)
    x, y = transform[0], transform[1]
    if transform[4] * 0 + transform[5] * 0 != 0 or (ahead.data != NULL and x * 0 + y * 0 != 0):
        return False
    put(at, i, <float>(transform[4] * pixel_m), <float>(transform[5] * pixel_m), 0)
    if ahead.data != NULL:
        length = sqrt(x * x + y * y)
        if length == 0:
            x, length = 1, 1
        put(ahead, i, <float>(x / length), <float>(y / length), 0)
    return True

cdef inline void put(const Rows* rows, Py_ssize_t i, float x, float y, float z) noexcept nogil:
    cdef char* row = rows.data + i * rows.row
    (<float*>row)[0] = x
    (<float*>(row + rows.column))[0] = y
    if rows.columns > 2:
        (<float*>(row + 2 * rows.column))[0] = z

cdef inline void fetch_place(const PlacedNode* one) noexcept nogil:
    fetch_lines_of_place(<char*>one.node)
    fetch_lines_of_place(<char*>one.parent)

cdef inline void fetch_lines_of_place(const char* node) noexcept nogil:
    """Prefetch the transform of a node; NULL is none."""
    cdef int at = PLACE_FIRST
    if node == NULL:
        return
    prefetch(node + IN_TREE)
    while at < PLACE_LAST:
        prefetch(node + at)
        at += CACHE_LINE
    prefetch(node + PLACE_LAST)

def read_transforms(list nodes, float[:, :] positions, float[:, :] forwards=None):
    """Read positions and directions of nodes once, as ``NodePlaces.read``."""
    return NodePlaces(nodes).read(positions, forwards)

def place_of(GDObject node, double pixel_m=0):
    """Return the position of a Node3D (m), or of a Node2D if ``pixel_m`` is given: three floats. Cost: one engine call."""
    cdef float transform[12]
    if not is_of_class(node.live(), in_plane.node_tag if pixel_m else in_space.node_tag):
        raise TypeError(f"place_of needs a Node3D, or a Node2D and its pixel_m, got {node!r}")
    if pixel_m:
        gd_object_method_bind_ptrcall(bind_global_position_2d, node.live(), NULL, transform)
        return transform[0] * pixel_m, transform[1] * pixel_m, 0.0
    gd_object_method_bind_ptrcall(bind_global_transform, node.live(), NULL, transform)
    return <double>transform[9], <double>transform[10], <double>transform[11]

def position_of(GDObject node):
    """Return the global position of a Node3D or Node2D as an engine vector. Cost: one engine call, 0.3 µs."""
    cdef float numbers[12]
    if is_of_class(node.live(), in_space.node_tag):
        gd_object_method_bind_ptrcall(bind_global_transform, node.live(), NULL, numbers)
        return vector3(numbers[9], numbers[10], numbers[11])
    if is_of_class(node.live(), in_plane.node_tag):
        gd_object_method_bind_ptrcall(bind_global_position_2d, node.live(), NULL, numbers)
        return Vector2(numbers[0], numbers[1])
    raise TypeError(f"position_of needs a Node3D or a Node2D, got {node!r}")

def pose_of(GDObject node, double pixel_m=0):
    """Return position (m) and direction of a node, three floats each, as ``NodePlaces.read``.

    Values that are not finite, and a missing direction, are 0.
    """
    cdef float numbers[6]
    cdef Rows at, ahead
    memset(numbers, 0, sizeof(numbers))
    at.data, at.row, at.column, at.columns = <char*>numbers, 0, sizeof(float), 3
    ahead.data, ahead.row, ahead.column, ahead.columns = <char*>&numbers[3], 0, sizeof(float), 3
    if not is_of_class(node.live(), in_plane.node_tag if pixel_m else in_space.node_tag):
        raise TypeError(f"pose_of needs a Node3D, or a Node2D and its pixel_m, got {node!r}")
    if pixel_m:
        read_flat(node.live(), pixel_m, &at, &ahead, 0)
    else:
        read_solid(node.live(), &at, &ahead, 0)
    return (
        (<double>numbers[0], <double>numbers[1], <double>numbers[2]),
        (<double>numbers[3], <double>numbers[4], <double>numbers[5]))

cdef inline bint are_finite(const float* numbers, int first) noexcept nogil:
    """Return whether ``count`` numbers of a transform, a multiple of 3, are finite: a NaN makes their sum a NaN."""
    cdef float one = 0, two = 0, three = 0       # three sums that need not wait for each other
    cdef int i = first
    while i < 12:
        one += numbers[i] * 0
        two += numbers[i + 1] * 0
        three += numbers[i + 2] * 0
        i += 3
    return one + two + three == 0
