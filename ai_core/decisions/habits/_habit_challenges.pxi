# Who takes over from whom, for _habit_ticking.pyx; twin: habit_ticking.py, which describes it.


cdef int challenge(HabitTicking tree, HabitContext run, tuple places) except -1:
    cdef HabitContext child = run.child
    cdef PlaceFields place
    held = child.place.strongest(tree.holds) if child is not None and tree.holds else None
    tree.known_key = NULL
    for place in places:
        if place.is_only_compared and tree._cooldowns is None and tree._faults is None:
            if (<ValuesAre>place.can_activate).answer(tree) == 0:
                continue
        if (held is not None and place.urgency <= held) or not can_begin(tree, place):
            continue
        take_over(tree, run, place)
        return 0
    return 0


cdef int challenge_together(HabitTicking tree, HabitContext run, tuple places, tuple numbers) except -1:
    """Ask places that have one condition in one go, where nothing else decides."""
    cdef PlaceFields first = places[0]
    cdef Py_ssize_t said_no
    if tree._cooldowns or tree._faults is not None or tree.holds or tree.row is None:
        return challenge(tree, run, places)
    other_code_ran(tree)
    try:
        said_no = first_that_can(tree, first, places, numbers)
    except Exception:
        said_no = -1
    if said_no < 0:
        return challenge(tree, run, places[-1 - said_no:])      # says what is wrong
    if said_no < len(places):
        take_over(tree, run, places[said_no])
    return 0


cdef Py_ssize_t first_that_can(HabitTicking tree, PlaceFields first, tuple places, tuple numbers) except? -1:
    cdef Py_ssize_t at[32]
    cdef Py_ssize_t i, count = len(places)
    if not first.is_known:
        know(first)
    if first.ask_calls == NULL or count > 32:
        return first.can_activate.first_of(tree.row, numbers)
    for i in range(count):
        at[i] = (<PlaceFields>places[i]).index
    return first.ask_calls.first_of(<void*>first.can_activate, <void*>tree.row, at, count)


cdef int take_over(HabitTicking tree, HabitContext run, PlaceFields place) except -1:
    cdef HabitContext child = run.child
    if not may_begin_more(tree):
        return 0
    reason = "can activate"
    if child is not None:
        reason = child.place.interrupting
        end_run(tree, child, None, place.interrupted)
    if start(tree, place, run, reason) is not RUNNING:
        choose_child(tree, run, (place,))
    return 0
