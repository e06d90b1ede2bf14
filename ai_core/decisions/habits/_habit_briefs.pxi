# Habits that do nothing but launch others, for _habit_ticking.pyx: most of them end in the tick in which they
# began. They get a run only if they last, if somebody looks, or if more is to be done at an end than noting it.
# The twin makes a run for each: nobody can tell the difference.

cdef struct Brief:
    PyObject* place         # BORROWED from the plan
    PyObject* reason        # BORROWED from who lets it begin
    PyObject* parent        # BORROWED, a run; NULL for the root, and where ``above`` has or will have it
    PyObject* run           # OWNED once it is made
    PyObject* leaf          # BORROWED, the run of what it launched just now
    Brief* above            # what launched it, if that is brief itself
    Py_ssize_t number       # of the child whose turn it is


cdef class HabitTicking
cdef class HabitContext
cdef class PlaceFields


cdef int make_runs(HabitTicking tree) except -1:
    """Give a run to each habit that is active without one."""
    if tree.brief != NULL:
        make_run(tree, tree.brief)
    return 0


cdef int make_run(HabitTicking tree, Brief* brief) except -1:
    cdef HabitContext run, leaf, parent = None
    if brief.run == NULL:
        if brief.parent != NULL:
            parent = <HabitContext>brief.parent
        elif brief.above != NULL:
            make_run(tree, brief.above)
            parent = <HabitContext>brief.above.run
        run = new_run(tree, <PlaceFields>brief.place, parent, <object>brief.reason)
        run.number = brief.number
        Py_INCREF(run)
        brief.run = <PyObject*>run
        attach(tree, run)
    if brief.leaf != NULL:
        leaf = <HabitContext>brief.leaf
        brief.leaf = NULL
        leaf.above = <HabitContext>brief.run
        attach(tree, leaf)
    return 0


cdef inline bint ends_quietly(HabitTicking tree) except -1:
    """Return whether nothing is to be done at an end but noting it."""
    return tree._faults is None and not tree.holds and not tree._is_traced and not is_heard(tree)


cdef launch(HabitTicking tree, PlaceFields place, Brief* above, HabitContext parent, reason):
    """Let a LAUNCHER begin, where all ends quietly; return how it stands for its parent."""
    cdef Brief brief
    cdef HabitContext run, leaf
    memset(&brief, 0, sizeof(Brief))
    brief.place = <PyObject*>place
    brief.reason = <PyObject*>reason
    brief.parent = <PyObject*>parent if parent is not None else NULL
    brief.above = above
    tree._begun += 1
    tree._agenda = None
    tree._wake_at_s = AWAKE
    tree.known_key = NULL
    tree.brief = &brief
    try:
        status = launch_children(tree, &brief, place)
        if status is not RUNNING and brief.run == NULL and ends_quietly(tree):
            return end_briefly(tree, place, parent is None and above == NULL, status)
        make_run(tree, &brief)
    finally:
        tree.brief = above
        run = None
        if brief.run != NULL:
            run = <HabitContext>brief.run
            Py_DECREF(run)
        if above == NULL and tree.spare_leaf is not None:
            leaf = tree.spare_leaf
            tree.spare_leaf = None
            recycle(leaf)
    return RUNNING if status is RUNNING else close_run(tree, run, status, says(status))


cdef end_briefly(HabitTicking tree, PlaceFields place, bint is_root, status):
    """Do what ``close_run`` would come to."""
    note_end(tree, place, status is SUCCEEDED)
    tree._agenda = None
    tree._wake_at_s = AWAKE
    if place.outcome is not None:
        status = as_told(place, status)
    if is_root:
        tree._over = status
        tree._asks_all = True
    return status


cdef launch_children(HabitTicking tree, Brief* brief, PlaceFields place):
    """As ``go_on`` does, from the first child on."""
    cdef PlaceFields child
    cdef tuple steps = place.blocking
    cdef Py_ssize_t count = len(steps)
    cdef object wanted = SUCCEEDED, unwanted = FAILED
    if place.launch is not SEQUENTIAL:
        wanted = FAILED
        unwanted = SUCCEEDED
    while brief.number < count:
        if not may_begin_more(tree):
            make_run(tree, brief)
            return RUNNING
        child = <PlaceFields>steps[brief.number]
        if not child.is_known:
            know(child)
        if (child.is_free and tree._cooldowns is None and tree._faults is None) or can_begin(tree, child):
            status = launch_child(tree, brief, child)
            if status is not wanted:
                return status
        elif wanted is SUCCEEDED:
            note_ending(tree, child, "could not activate in its turn")
            return unwanted
        brief.number += 1
        if brief.run != NULL:
            (<HabitContext>brief.run).number = brief.number
    return wanted


cdef launch_child(HabitTicking tree, Brief* brief, PlaceFields child):
    """Let the child whose turn it is begin; return how it stands."""
    cdef int outcome
    reason = "next in sequence" if brief.number else "first in sequence"
    if brief.run == NULL and ends_quietly(tree):
        if child.kind == AT_ONCE:
            outcome = at_once(tree, child)
            if outcome >= 0:
                tree._begun += 1
                note_end(tree, child, outcome)
                return SUCCEEDED if outcome else FAILED
        elif child.kind == LAUNCHER:
            return launch(tree, child, brief, None, reason)
        elif child.kind == SIMPLE:
            return live_below(tree, brief, child, reason)
    make_run(tree, brief)
    return start(tree, child, <HabitContext>brief.run, reason)


cdef live_below(HabitTicking tree, Brief* brief, PlaceFields place, reason):
    """Let a simple habit begin below a brief one."""
    cdef HabitContext run = tree.spare_leaf
    if run is None:
        run = new_run(tree, place, None, reason)
    else:                       # that of a leaf of this very tick, which has changed nothing else
        tree.spare_leaf = None
        run.place = place
        run.reason = reason
        run.status = RUNNING
        run.ticked_s = run.began_s
    tree._begun += 1
    brief.leaf = <PyObject*>run
    try:
        status = own_tick(tree, run, place)
        if status is not RUNNING and brief.run == NULL and run.generator is None and ends_quietly(tree):
            run.status = status
            note_end(tree, place, status is SUCCEEDED)
            if Py_REFCNT(run) <= 1 and run._memory is None and run.wake_s == AWAKE and run.restart_point == "":
                tree.spare_leaf = run
            else:
                recycle(run)
            return status
        make_run(tree, brief)
    finally:
        brief.leaf = NULL
    if status is not RUNNING:
        status = close_run(tree, run, status, says(status))
        recycle(run)
    return status
