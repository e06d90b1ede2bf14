/* L0: find a Python, start it once, hand over to the bridge. Knows nothing else.
 *
 * Linked to libc alone: every function of Python is looked up at run time, and only such
 * are used as every version from 3.11 has, so that one loader serves them all. Python is
 * never ended and never started twice (NumPy refuses the second time): after a reload of
 * this extension it is found running, with the bridge in memory.
 *
 * GIL: taken for each call of the bridge's entry, released while the engine runs. */
#include "gdextension_interface.h"
#include "loader_search.h"
#include <wchar.h>

typedef int (*bridge_entry)(GDExtensionInterfaceGetProcAddress, GDExtensionClassLibraryPtr, int starting, int level);
typedef struct object object; /* a PyObject, whose inside is none of our business */

static GDExtensionInterfaceGetProcAddress get_function;
static GDExtensionClassLibraryPtr extension;
static void *library;      /* libpython, never closed */
static bridge_entry enter; /* NULL until the bridge runs */

#define PYTHON(result, name, ...) ((result (*)(__VA_ARGS__))library_symbol(library, name))

static void report(const char *problem, const char *detail) {
    char text[4 * TEXT_SIZE];
    put(text, sizeof text, "[ai_core] %s%s", problem, detail);
    GDExtensionInterfacePrintErrorWithMessage print =
        (GDExtensionInterfacePrintErrorWithMessage)(void *)get_function("print_error_with_message");
    print("ai_core cannot start", text, __func__, "loader.c", __LINE__, 1);
}

/* Python 3.14 and later: a configuration that is isolated from the user's settings. */
static int start_with_configuration(const struct python *chosen, void *configuration) {
    const char *problem = "unknown";
    int (*set)(void *, const char *, const char *) = PYTHON(int, "PyInitConfig_SetStr", void *, const char *, const char *);
    int failed = chosen->program[0] && set(configuration, "executable", chosen->program) < 0;
    failed = failed || (chosen->home[0] && set(configuration, "home", chosen->home) < 0);
    failed = failed || PYTHON(int, "Py_InitializeFromInitConfig", void *)(configuration) < 0;
    if (failed) {
        PYTHON(int, "PyInitConfig_GetError", void *, const char **)(configuration, &problem);
        report("Python does not start: ", problem);
    }
    PYTHON(void, "PyInitConfig_Free", void *)(configuration);
    return !failed;
}

/* Python 3.11 to 3.13: PyConfig's layout differs by version, these older calls do not.
 * The two texts are OWNED by Python from here on. */
static int start_with_globals(const struct python *chosen) {
    static const char *const FLAGS[] = {"Py_IgnoreEnvironmentFlag", "Py_NoUserSiteDirectory"};
    wchar_t *(*decode)(const char *, size_t *) = PYTHON(wchar_t *, "Py_DecodeLocale", const char *, size_t *);
    for (int i = 0; i < 2; i++) {
        int *flag = (int *)library_symbol(library, FLAGS[i]);
        if (flag) *flag = 1;
    }
    if (chosen->program[0]) PYTHON(void, "Py_SetProgramName", const wchar_t *)(decode(chosen->program, NULL));
    if (chosen->home[0]) PYTHON(void, "Py_SetPythonHome", const wchar_t *)(decode(chosen->home, NULL));
    PYTHON(void, "Py_InitializeEx", int)(0); /* 0: signals stay the engine's */
    return 1;
}

static int start_python(const struct folders *folders) {
    static struct python chosen; /* static: 16 KiB are much for a foreign stack */
    static char tried[2 * TEXT_SIZE];
    char problem[TEXT_SIZE];
    if (!find_python(folders, &chosen, tried, sizeof tried)) {
        size_t used = strlen(tried);
        put(tried + used, sizeof tried - used,
            "\nPut Python 3.11 or newer with NumPy into a virtual environment .venv in the project, or name one with $AI_CORE_PYTHON.");
        report("no Python was found that can run inside Godot. Looked at:", tried);
        return 0;
    }
    to_native(chosen.library);
    to_native(chosen.program);
    to_native(chosen.home);
    open_companions(chosen.library, chosen.home[0] != 0);
    library = library_open(chosen.library);
    if (!library) {
        library_problem(problem, sizeof problem);
        report("the Python library cannot be loaded: ", problem);
        return 0;
    }
    void *(*configure)(void) = PYTHON(void *, "PyInitConfig_Create", void);
    if (!(configure ? start_with_configuration(&chosen, configure()) : start_with_globals(&chosen))) return 0;
    for (char *rest = chosen.path; *rest;) { /* kept in sys.path in the order of the file */
        size_t length = strcspn(rest, (const char[]){LIST_SEPARATOR, 0});
        object *entry = PYTHON(object *, "PyUnicode_DecodeFSDefaultAndSize", const char *, ptrdiff_t)(rest, (ptrdiff_t)length);
        PYTHON(int, "PyList_Append", object *, object *)(PYTHON(object *, "PySys_GetObject", const char *)("path"), entry);
        rest += length + (rest[length] != 0);
    }
    return 1;
}

/* Return the index behind Python's own library on sys.path, before installed packages. */
static ptrdiff_t behind_the_library(object *path) {
    object *ending = PYTHON(object *, "PyUnicode_FromString", const char *)("-packages");
    ptrdiff_t count = PYTHON(ptrdiff_t, "PyList_Size", object *)(path), i = 0;
    while (i < count && PYTHON(ptrdiff_t, "PyUnicode_Tailmatch", object *, object *, ptrdiff_t, ptrdiff_t, int)(
                            PYTHON(object *, "PyList_GetItem", object *, ptrdiff_t)(path, i), ending, 0, PTRDIFF_MAX, 1) != 1) i++;
    PYTHON(void, "Py_DecRef", object *)(ending);
    return i;
}

/* Put a folder in front of sys.path unless it is on it; the project's behind Python's own library: a random.py of the
 * game would replace the module of this name for all that Python imports. */
static void add_to_path(char *folder, int is_project) {
    if (!is_folder(folder)) return;
    to_native(folder);
    object *path = PYTHON(object *, "PySys_GetObject", const char *)("path"); /* BORROWED */
    object *entry = PYTHON(object *, "PyUnicode_DecodeFSDefault", const char *)(folder);
    if (PYTHON(int, "PySequence_Contains", object *, object *)(path, entry) == 0) {
        PYTHON(int, "PyList_Insert", object *, ptrdiff_t, object *)(path, is_project ? behind_the_library(path) : 0, entry);
    }
    PYTHON(void, "Py_DecRef", object *)(entry);
}

/* Bytecode is read where an installer left it, and never written: a __pycache__ in a project
 * would be scanned and exported, and a stale one hides an edit of equal length that is
 * reloaded within the second. */
static void prepare_modules(struct folders *folders) {
    char folder[TEXT_SIZE];
    add_to_path(folders->project, 1);
    if (put(folder, sizeof folder, "%s/python", folders->addon)) add_to_path(folder, 0);
    if (put(folder, sizeof folder, "%s/bin/%s", folders->addon, AI_CORE_PLATFORM)) add_to_path(folder, 0);
    add_to_path(folders->own, 0);
    object *yes = PYTHON(object *, "PyBool_FromLong", long)(1);
    PYTHON(int, "PySys_SetObject", const char *, object *)("dont_write_bytecode", yes);
    PYTHON(void, "Py_DecRef", object *)(yes);
}

static int find_bridge(const struct folders *folders) {
    object *module = PYTHON(object *, "PyImport_ImportModule", const char *)("_bridge");
    object *capsule = module ? PYTHON(object *, "PyObject_GetAttrString", object *, const char *)(module, "_entry") : NULL;
    if (capsule) {
        enter = (bridge_entry)PYTHON(void *, "PyCapsule_GetPointer", object *, const char *)(capsule, "ai_core.bridge.entry");
    }
    if (!enter) { /* _bridge stays imported, so neither object is given back */
        PYTHON(void, "PyErr_Print", void)();
        report("the bridge cannot be imported (the reason is above); check that it was built for this platform. Its folder is ", folders->own);
    }
    return enter != NULL;
}

static void begin_scene_level(void) {
    static struct folders folders;
    int state = 0, was_running = has_loaded_python(&library) && PYTHON(int, "Py_IsInitialized", void)();
    if (!find_folders(&folders)) {
        report("the loader cannot tell in which folder it lies", "");
        return;
    }
    if (was_running) state = PYTHON(int, "PyGILState_Ensure", void)();
    else if (!start_python(&folders)) return;
    prepare_modules(&folders);
    if (find_bridge(&folders) && !enter(get_function, extension, 1, GDEXTENSION_INITIALIZATION_SCENE)) enter = NULL;
    if (was_running) PYTHON(void, "PyGILState_Release", int)(state);
    else PYTHON(void *, "PyEval_SaveThread", void)(); /* the main thread's state lives on, detached */
}

static void call_bridge(int starting, GDExtensionInitializationLevel level) {
    int state = PYTHON(int, "PyGILState_Ensure", void)();
    enter(get_function, extension, starting, (int)level);
    PYTHON(void, "PyGILState_Release", int)(state);
}

static void initialize(void *unused, GDExtensionInitializationLevel level) {
    (void)unused;
    if (level == GDEXTENSION_INITIALIZATION_SCENE) begin_scene_level();
    else if (level == GDEXTENSION_INITIALIZATION_EDITOR && enter) call_bridge(1, level);
}

static void deinitialize(void *unused, GDExtensionInitializationLevel level) {
    (void)unused;
    if (level >= GDEXTENSION_INITIALIZATION_SCENE && enter) call_bridge(0, level);
}

EXPORTED GDExtensionBool ai_core_entry(GDExtensionInterfaceGetProcAddress get, GDExtensionClassLibraryPtr token,
                                       GDExtensionInitialization *wanted) {
    get_function = get;
    extension = token;
    wanted->minimum_initialization_level = GDEXTENSION_INITIALIZATION_SCENE;
    wanted->initialize = initialize;
    wanted->deinitialize = deinitialize;
    wanted->userdata = NULL;
    return 1;
}
