# How habits begin and end, for _habit_ticking.pyx; twin: habit_launching.py, which describes it.


cdef inline called(callback, HabitContext context):
    other_code_ran(context._tree)
    return PyObject_CallFunctionObjArgs(callback, <void*>context, NULL)


cdef own_tick(HabitTicking tree, HabitContext run, PlaceFields place):
    cdef int number
    run.elapsed_s = tree._now_s - run.ticked_s
    run.ticked_s = tree._now_s
    if run.wake_s != AWAKE:
        run.wake_s = AWAKE
        run.waits_for = ()
    if not place.is_known:
        know(place)
    try:
        if place.tick_calls != NULL:
            other_code_ran(tree)
            number = place.tick_calls.call(
                <void*>place.tick, <void*>tree.row, place.index, run.elapsed_s, <void*>run)
            return RUNNING if number == 0 else SUCCEEDED if number == 1 else FAILED
        status = called(place.tick, run)
        if status is RUNNING or status is None:
            return RUNNING
        if status is SUCCEEDED or status is FAILED:
            return status
        raise TypeError(f"tick of {run.path!r} must return a Status, got {shown(status)}")
    except Exception as error:
        run.is_faulty = True
        tree._report(place, "tick", error)
        return FAILED


cdef int choose_child(HabitTicking tree, HabitContext run, tuple begun) except -1:
    cdef PlaceFields place
    cdef tuple places = run.place.blocking
    cdef Py_ssize_t index, count = len(places)
    cdef bint found
    while True:
        if begun:
            tree._asks_all = True
        found = False
        for index in range(count):
            place = <PlaceFields>places[index]      # unchecked, here and below: a plan holds nothing else
            if (not begun or place not in begun) and can_begin(tree, place):
                found = True
                break
        if not found:
            return 0
        if not may_begin_more(tree) or start(tree, place, run, "can activate") is RUNNING:
            return 0
        begun = (*begun, place)


cdef go_on(HabitTicking tree, HabitContext run):
    cdef PlaceFields place
    cdef tuple steps = run.place.blocking
    cdef Py_ssize_t count = len(steps)
    cdef object wanted = SUCCEEDED, unwanted = FAILED
    if run.place.launch is RANDOM:
        return draw(tree, run)
    if run.place.launch is not SEQUENTIAL:
        wanted = FAILED
        unwanted = SUCCEEDED
    while run.number < count:
        if not may_begin_more(tree):
            return RUNNING
        place = <PlaceFields>steps[run.number]
        if can_begin(tree, place):
            status = start(tree, place, run, "next in sequence" if run.number else "first in sequence")
            if status is not wanted:
                return status
        elif wanted is SUCCEEDED:
            note_ending(tree, place, "could not activate in its turn")
            return unwanted
        run.number += 1
    return wanted


cdef draw(HabitTicking tree, HabitContext run):
    cdef PlaceFields place, chosen
    cdef list places = []
    for place in run.place.blocking:
        if can_begin(tree, place):
            places.append(place)
    if not places:
        return FAILED
    if not may_begin_more(tree):
        return RUNNING
    chosen = pick(places, tree._random)
    return start(tree, chosen, run, f"chosen {chosen.number + 1} of {len(run.place.blocking)}")


cdef bint may_begin_more(HabitTicking tree) except -1:
    if tree._begun < MOST_BEGUN_IN_A_TICK:
        return True
    tree._asks_all = True
    tree._agenda = None
    tree._wake_at_s = AWAKE
    return False


cdef bint can_begin(HabitTicking tree, PlaceFields place) except -1:
    cdef HabitContext context
    cdef bint answer
    cdef int said
    if tree._cooldowns and <double>tree._cooldowns.get(place.index, AWAKE) > tree._now_s:
        return False
    if place.begins_on and not was_told(
        tree, place, 0 if tree._answered is None else tree._answered.get(place.index, 0)
    ):
        return False
    if tree._faults is not None and tree._is_left_out(place):
        note_ending(tree, place, "left out, it kept failing")
        return False
    if place.asks_every_s:
        if tree._asks_at_s is None:
            tree._asks_at_s = {}
        tree._asks_at_s[place.index] = tree._now_s + place.asks_every_s - ROUNDING_S
    if place.can_activate is None:
        return True
    if not place.is_known:
        know(place)
    if place.is_compared and tree._faults is None:
        tree.known_key = NULL
        said = (<ValuesAre>place.can_activate).answer(tree)
        if said >= 0:
            return said
    context = tree._asking
    if context is None:
        context = tree._asking = new_run(tree, place, None, "")
        context.status = None
    context.place = place
    context.began_s = tree._now_s
    context._memory = None
    try:
        if place.ask_calls != NULL:
            other_code_ran(tree)
            answer = place.ask_calls.call(
                <void*>place.can_activate, <void*>tree.row, place.index, 0.0, <void*>context)
        else:
            answer = bool(called(place.can_activate, context))
    except Exception as error:
        tree._report(place, "can_activate", error)
        return False
    if tree._faults is not None:
        tree._note_success(place, of_asking=True)
    return answer


cdef HabitContext new_run(HabitTicking tree, PlaceFields place, HabitContext parent, reason):
    global first_spare_run, spare_count
    cdef HabitContext run = first_spare_run
    if run is not None:
        first_spare_run = run.above
        spare_count -= 1
    else:
        run = HabitContext.__new__(HabitContext)
    run._fill(tree, place, parent, reason)
    return run


cdef start(HabitTicking tree, PlaceFields place, HabitContext parent, reason):
    cdef HabitContext run
    cdef int kind, outcome
    if not place.is_known:
        know(place)
    kind = place.kind
    if (
        kind == AT_ONCE and parent is not None
        and tree._faults is None and not tree.holds and not tree._is_traced and not is_heard(tree)
    ):
        tree.known_key = NULL
        outcome = at_once(tree, place)
        if outcome >= 0:
            tree._begun += 1
            tree._agenda = None
            tree._wake_at_s = AWAKE
            note_end(tree, place, outcome)
            return SUCCEEDED if outcome else FAILED
    elif kind == LAUNCHER and ends_quietly(tree):
        return launch(tree, place, tree.brief, parent, reason)
    run = new_run(tree, place, parent, reason)
    attach(tree, run)
    if (kind == SIMPLE or kind == AT_ONCE) and not tree._is_traced and not is_heard(tree):
        status = live_briefly(tree, run, place)
    else:
        status = live(tree, run)
    if status is not RUNNING:
        recycle(run)
    return status


cdef int recycle(HabitContext run) except -1:
    """Let the next run take the memory of one that is over, if nobody but the caller knows it."""
    global first_spare_run, spare_count
    if Py_REFCNT(run) <= 1 and run.generator is None and spare_count < MOST_SPARE:
        run._empty()
        run.above = first_spare_run
        first_spare_run = run
        spare_count += 1
    return 0


cdef live_briefly(HabitTicking tree, HabitContext run, PlaceFields place):
    """Let a simple habit begin; if it ends at once, do what ``close_run`` would come to."""
    cdef HabitContext parent = run.above
    tree._begun += 1
    tree._agenda = None
    tree._wake_at_s = AWAKE
    status = own_tick(tree, run, place)
    if status is RUNNING:
        return RUNNING
    if parent is None or run.generator is not None or tree._faults is not None or tree.holds or is_heard(tree):
        return close_run(tree, run, status, says(status))
    run.status = status
    note_end(tree, place, status is SUCCEEDED)
    tree._agenda = None
    tree._wake_at_s = AWAKE
    run.above = None
    parent.child = None
    return status


cdef int attach(HabitTicking tree, HabitContext run) except -1:
    cdef HabitContext parent = run.above
    if parent is None:
        tree.top_run = run
    elif not run.place.is_beside:
        parent.child = run
    elif parent.beside is None:
        parent.beside = [run]
    else:
        parent.beside.append(run)
    return 0


cdef live(HabitTicking tree, HabitContext run):
    cdef PlaceFields place = run.place, beside
    tree._begun += 1
    tree._agenda = None
    tree._wake_at_s = AWAKE
    if place.begins_on:
        if tree._answered is None:
            tree._answered = {}
        tree._answered[place.index] = tree._tick_number
    if place.held is not None:
        tree.holds[place.index] = place.held
    if tree._is_traced:
        tree._tell_trace(run)
    if tree.on_entered is not None and is_heard(tree):
        tell(tree, tree.on_entered, run)
    status = RUNNING
    if place.enter is not None:
        try:
            called(place.enter, run)
        except Exception as error:
            run.is_faulty = True
            tree._report(place, "enter", error)
            status = FAILED
    if status is RUNNING and place.tick is not None and run.wake_s == AWAKE:
        status = own_tick(tree, run, place)
    if status is RUNNING and place.blocking:
        if place.launch is PRIORITIZED:
            choose_child(tree, run, ())
        else:
            status = go_on(tree, run)
    if status is not RUNNING:
        return close_run(tree, run, status, says(status))
    for beside in place.non_blocking:
        if may_begin_more(tree) and can_begin(tree, beside):
            start(tree, beside, run, "beside the others")
    return RUNNING


cdef as_told(PlaceFields place, status):
    """Return what the parent is told of an end."""
    if place.outcome is INVERTED:
        return FAILED if status is SUCCEEDED else SUCCEEDED
    return SUCCEEDED if place.outcome is ALWAYS_SUCCEEDED else FAILED


cdef says(status):
    return "succeeded" if status is SUCCEEDED else "failed"


cdef close_run(HabitTicking tree, HabitContext run, status, ending):
    cdef PlaceFields place = run.place
    cdef HabitContext parent = run.above, again
    cdef Py_ssize_t successes = run.successes, failures = run.failures
    cdef bint is_over
    if status is SUCCEEDED:
        successes += 1
        is_over = successes >= place.repeats
    else:
        failures += 1
        is_over = run.begins_next or failures > place.retries
    end_run(tree, run, status, ending)
    if not is_over:
        again = new_run(tree, place, parent, f"again after it {says(status)}")
        again.successes = successes
        again.failures = failures
        again.begins_next = True
        attach(tree, again)
        if tree._cooldowns:
            tree._cooldowns.pop(place.index, None)
        return RUNNING
    if place.outcome is not None:
        status = as_told(place, status)
    if parent is None:
        tree._over = status
    return status


cdef int end_run(HabitTicking tree, HabitContext run, status, ending) except -1:
    cdef PlaceFields place = run.place
    cdef HabitContext parent, one
    if run.beside:
        for one in reversed(tuple(run.beside)):
            end_run(tree, one, None, "its parent ended")
    if run.child is not None:
        end_run(tree, run.child, None, "its parent ended")
    parent = run.above
    if run.batch is not None:
        run.batch.leave(run)
    run.status = status
    if not run.begins_next:
        if run.generator is not None:
            close_generator(tree, run)
        if place.exit is not None:
            try:
                called(place.exit, run)
            except Exception as error:
                run.is_faulty = True
                tree._report(place, "exit", error)
        if tree.on_exited is not None and is_heard(tree):
            tell(tree, tree.on_exited, run)
        if tree._faults is not None and not run.is_faulty:
            tree._note_success(place, of_asking=False)
    if tree.holds and tree.holds.pop(place.index, None) is not None:
        tree._asks_all = True
    if place.cooldown_s:
        if tree._cooldowns is None:
            tree._cooldowns = {}
        tree._cooldowns[place.index] = tree._now_s + place.cooldown_s - ROUNDING_S
    note_ending(tree, place, ending)
    tree._agenda = None
    tree._wake_at_s = AWAKE
    run.above = None
    if parent is None:
        tree.top_run = None
        tree._asks_all = True
    elif parent.child is run:
        parent.child = None
    elif parent.beside is not None:
        parent.beside.remove(run)
        tree._asks_all = True
    return 0


cdef int tell(HabitTicking tree, who, HabitContext run) except -1:
    try:
        called(who, run)
    except Exception as error:
        tree._keep(error)
    return 0


cdef int close_generator(HabitTicking tree, HabitContext run) except -1:
    generator = run.generator
    run.generator = None
    try:
        generator.close()
    except Exception as error:
        run.is_faulty = True
        tree._report(run.place, "exit", error)
    return 0
