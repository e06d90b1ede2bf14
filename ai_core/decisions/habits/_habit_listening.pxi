# Whether somebody wants to be told who begins and ends, for _habit_ticking.pyx; the twin asks each time.


cdef bint is_heard(HabitTicking tree) except -1:
    """Return whether somebody wants to be told who begins and ends; asked once until other code has run."""
    if tree.on_entered is None and tree.on_exited is None:
        return False
    if tree.listening is None:
        return True
    if tree.listener_changes != NULL and tree.listener_changes[0] == tree.seen_changes and (
        tree.listened_s <= tree._now_s < tree.listened_s + LISTENS_AGAIN_S
    ):
        return False
    if not tree._is_quiet:
        ask_listeners(tree)
    return not tree._is_quiet


cdef int ask_listeners(HabitTicking tree) except -1:
    cdef uint64_t changes = 0 if tree.listener_changes == NULL else tree.listener_changes[0]
    other_code_ran(tree)
    answer = tree.listening()
    tree._is_quiet = not answer
    tree.listened_s = inf
    if answer is False and tree.listener_changes != NULL:
        tree.seen_changes = changes
        tree.listened_s = tree._now_s
    return 0
