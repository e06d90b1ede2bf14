# Python problems as engine errors. Nothing is ever thrown into the engine.

cdef dict _repeated = {}         # (where, kind, file, line) -> times seen, for frame callbacks

def repeated_errors():
    """Return the number of times that each error of a frame callback occurred: {(where, kind, file, line): times}."""
    return dict(_repeated)

cdef str described(object source):
    """Return class and node path of the object that an error is about, for the message."""
    cdef uint64_t path = 0
    cdef GDObject node
    if not isinstance(source, GDObject) or not source.is_valid():
        return ""
    node = source
    try:
        if node.is_class("Node"):
            if node.call("is_inside_tree"):
                return f"{node.get_class()} {placed(node)}: "
            return f"{node.get_class()} '{node.call('get_name')}' (outside the tree): "
        if node.is_class("Resource"):
            known_as = node.get("resource_path") or node.get("resource_name")
            return f"{node.get_class()} '{known_as}': " if known_as else f"{node.get_class()}: "
    except Exception:
        pass
    return f"{node.get_class()}: "

cdef str placed(GDObject node):
    """Return the path of a node in the tree; in the editor, its path in the edited scene."""
    cdef object root
    if not node.call("is_part_of_edited_scene"):
        return f"'{node.call('get_path')}'"
    root = node.call("get_tree").get_edited_scene_root()
    below = "" if root == node else f"/{root.get_path_to(node)}"
    return f"'{root.get_name()}{below}' ({root.scene_file_path or 'not saved yet'})"

cpdef bint is_misuse(object problem):
    """Return whether an error needs no traceback: a refused value or argument. Its class or its module says so."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_by = trace.tb_frame.f_globals if trace is not None else {}
    return getattr(problem, "is_misuse", False) or raised_by.get("RAISES_FOR_MISUSE", False)

cdef void report(object problem, object where, object source=None, bint once=False) noexcept:
    """Print one engine error with the Python traceback; the engine adds the script stack."""
    try:
        file, line, name = "<python>", 0, str(where)
        trace = problem.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            if not code.co_filename.endswith((".pyx", ".pxi")):
                file, line, name = code.co_filename, trace.tb_lineno, code.co_qualname
            trace = trace.tb_next
        if once:
            key = (str(where), type(problem).__name__, file, line)
            _repeated[key] = _repeated.get(key, 0) + 1
            if _repeated[key] > 1:
                return
        if is_misuse(problem):
            text = f"[ai_core] {described(source)}{in_engine_words(problem)}"
        else:
            stack = "".join(python_frames(traceback.TracebackException.from_exception(problem)).format()).rstrip()
            text = f"[ai_core] {described(source)}{where} raised {type(problem).__name__}: {problem}\n{stack}"
        print_error(text, name, file, line)
    except BaseException:
        gd_print_error_with_message(b"[ai_core]", b"[ai_core] an error could not be reported", b"report", b"errors.pxi", 0, 1)

cdef object python_frames(object shown):
    """Remove the bridge's own frames from a traceback."""
    if shown is not None:
        shown.stack[:] = [frame for frame in shown.stack if not frame.filename.endswith((".pyx", ".pxi"))]
        python_frames(shown.__cause__)
        python_frames(shown.__context__)
    return shown

MOST_SHOWN = 80
"""Longest value quoted in a message (characters): a longer one would bury the rule and the remedy."""

LONGEST_LINE = 1000
"""Longest line of a message (characters)."""

MOST_LINES = 200
"""Longest message (lines): tracebacks of recursion have a thousand."""

cdef str shortened(object text):
    """Return a message without the rest of long lines, and without the middle of many."""
    lines = str(text).split("\n")
    if len(lines) > MOST_LINES:
        left_out = f"… ({len(lines) - MOST_LINES} lines left out)"
        lines = [*lines[:MOST_LINES // 2], left_out, *lines[-MOST_LINES // 2:]]
    return "\n".join([
        line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… ({len(line) - LONGEST_LINE} characters left out)"
        for line in lines])

def brief(value):
    """Return the start of a value's repr, for a message."""
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."

cdef str in_engine_words(object text):
    """Return a message about a wrong value, of a collection only the start, with GDScript's word for None.

    Messages end their rule with "got VALUE".
    """
    words = re.sub(r"\b(got|or) None(Type)?\b", r"\1 null", str(text))
    collection = re.search(r"\bgot (?=[\[{(])", words)
    if collection is None:
        return words
    first = collection.end()
    depth, last = 0, first
    for last in range(first, len(words)):
        depth += (words[last] in "[{(") - (words[last] in ")}]")
        if depth == 0:
            break
    too_long = last + 1 - first > MOST_SHOWN
    return f"{words[:first + MOST_SHOWN]}...{words[last + 1:]}" if too_long else words

cdef int print_error(object text, object function, object file, int line) except -1:
    cdef bytes message = shortened(text).encode("utf-8", "replace")
    cdef bytes function_bytes = str(function).encode("utf-8", "replace")
    cdef bytes file_bytes = str(file).encode("utf-8", "replace")
    gd_print_error_with_message(b"[ai_core]", message, function_bytes, file_bytes, line, 1)

def report_exception(problem, where, source=None, once=False):
    """Report an exception as one engine error, with the node path of ``source`` and the traceback.

    With ``once`` the same error from the same place is printed the first time and counted afterwards.
    """
    report(problem, where, source, once)

def report_error(text, source=None):
    """Print an engine error without a traceback, for wrong settings: what, value, rule, remedy."""
    print_error(f"[ai_core] {described(source)}{in_engine_words(text)}", "", "", 0)

def report_warning(text, source=None):
    """Print an engine warning, for problems with which the game can continue."""
    cdef bytes message = shortened(f"[ai_core] {described(source)}{text}").encode("utf-8", "replace")
    gd_print_warning_with_message(b"[ai_core]", message, b"", b"", 0, 1)

class RefusedValue(ValueError):
    """A value was refused at a property or argument; the message needs no traceback."""
    is_misuse = True

class EngineOutput:
    """Sends Python's output to the engine's output; a buffered pipe would lose it in a crash."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, int descriptor):
        self.descriptor = descriptor

    def write(self, text):
        os.write(self.descriptor, text.encode("utf-8", "replace"))
        return len(text)

    def flush(self): pass
    def isatty(self): return False
    def fileno(self): return self.descriptor
