# What is due, for _habit_ticking.pyx; twin: habit_agenda.py, which describes it.


cdef list plan_ahead(HabitTicking tree):
    cdef list agenda = []
    cdef set due = set()
    cdef bint asks_all = tree._asks_all
    cdef tuple asked
    tree._rebuild_at_s = inf
    tree._is_lasting = True
    noticed = tree._noticed
    tree._noticed = None
    if noticed is not None:
        for name in noticed:
            due.update(tree.plan.listeners.get(name, ()))
    else:
        noticed = ()
    tree._asks_all = False
    if tree.top_run is not None:
        plan_run(tree, agenda, tree.top_run, noticed, due, asks_all)
    else:
        asked = to_ask(tree, (tree.plan.root,), 1, due, asks_all)
        if asked:
            agenda.append((BEGIN, None, asked))
    tree._agenda = agenda if tree._is_lasting else None
    tree._wake_at_s = tree._rebuild_at_s if tree._is_lasting and not agenda else AWAKE
    return agenda


cdef int plan_run(
    HabitTicking tree, list agenda, HabitContext run, noticed, set due, bint asks_all
) except -1:
    cdef PlaceFields place = run.place, beside
    cdef HabitContext child, one
    cdef Py_ssize_t rivals
    cdef bint joins
    cdef tuple asked
    cdef dict active
    if run.begins_next:
        agenda.append((RESTART, run, ()))
        tree._is_lasting = False
        return 0
    if place.timeout_s != inf and is_due(tree, run.began_s + place.timeout_s - ROUNDING_S):
        agenda.append((TIME_OUT, run, ()))
        tree._is_lasting = False
        return 0
    if run.batch_status is not None:
        agenda.append((RESULT, run, ()))
        tree._is_lasting = False
    elif run.batch is None and place.tick is not None and is_awake(tree, run, noticed):
        joins = place.tick_batch is not None and tree._member is not None
        agenda.append((JOIN if joins else TICK, run, ()))
        tree._is_lasting = tree._is_lasting and not joins
    child = run.child
    if place.launch is PRIORITIZED:
        rivals = len(place.blocking) if child is None else child.place.number
        if rivals:
            asked = to_ask(tree, place.blocking, rivals, due, asks_all)
            if asked:
                if ask_alike(asked):
                    agenda.append((ASK, run, asked, tuple([beside.index for beside in asked])))
                else:
                    agenda.append((CHALLENGE, run, asked))
    elif child is None:
        agenda.append((CONTINUE, run, ()))
        tree._is_lasting = False
    if child is not None:
        plan_run(tree, agenda, child, noticed, due, asks_all)
    if place.non_blocking:
        active = {}
        if run.beside is not None:
            for one in run.beside:
                active[one.place.index] = one
        for beside in place.non_blocking:
            if beside.index in active:
                plan_run(tree, agenda, active[beside.index], noticed, due, asks_all)
            else:
                asked = to_ask(tree, (beside,), 1, due, asks_all)
                if asked:
                    agenda.append((BESIDE, run, asked))
    return 0


cdef bint ask_alike(tuple asked) except -1:
    """Return whether several are to be asked, all by one condition that can ask them in one go."""
    cdef PlaceFields place, first = asked[0]
    if len(asked) < 2:
        return False
    for place in asked:
        if not place.asks_together or place.can_activate is not first.can_activate:
            return False
    return True


cdef bint is_awake(HabitTicking tree, HabitContext run, noticed) except -1:
    if run.wake_s == AWAKE or is_due(tree, run.wake_s):
        return True
    for name in run.waits_for:
        if name in noticed:
            run.wake_s = AWAKE
            run.woken_by = name
            return True
    return False


cdef tuple to_ask(HabitTicking tree, tuple places, Py_ssize_t count, set due, bint asks_all):
    cdef list asked = []
    cdef PlaceFields place
    cdef Py_ssize_t index
    for index in range(count):
        place = places[index]
        if tree._cooldowns and place.index in tree._cooldowns:
            if not is_due(tree, tree._cooldowns[place.index]):
                continue
            del tree._cooldowns[place.index]
            tree._is_lasting = tree._is_lasting and place.is_polled
            asked.append(place)
        elif place.is_polled:
            asked.append(place)
        elif asks_all or place.index in due or asks_now(tree, place):
            tree._is_lasting = False
            asked.append(place)
    return tuple(asked)


cdef bint asks_now(HabitTicking tree, PlaceFields place) except -1:
    if not place.asks_every_s:
        return False
    at_s = tree._asks_at_s.get(place.index) if tree._asks_at_s else None
    return at_s is None or is_due(tree, at_s)


cdef bint is_due(HabitTicking tree, double at_s) noexcept:
    if tree._now_s >= at_s:
        return True
    if at_s < tree._rebuild_at_s:
        tree._rebuild_at_s = at_s
    return False


cdef bint was_told(HabitTicking tree, PlaceFields place, began) except -1:
    for name in place.begins_on:
        told = tree._told.get(name) if tree._told else None
        if told is not None and told.tick_number > began and (
            told.tick_number == tree._tick_number or tree._now_s - told.at_s <= place.remembers_s
        ):
            return True
    return False


cdef int hear(HabitTicking tree) except -1:
    for name, told in list(tree._told.items()):
        if not told.tick_number:
            told.tick_number, told.at_s = tree._tick_number, tree._now_s
        elif tree._now_s - told.at_s > tree.plan.remembers_s.get(name, -1.0):
            del tree._told[name]
    if not tree._told:
        tree._told = None
    return 0
