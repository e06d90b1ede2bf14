/* Where Python is looked for, in this order; the first that fits is taken:
 *   1. $AI_CORE_PYTHON, a program or an environment's folder     (a wish: if it does not fit, none does)
 *   2. <addon>/bin/python.cfg: libpython= or program=, home=, path=     (a wish, too)
 *   3. <addon>/runtime/<platform>, a private Python that ships with the game
 *   4. .venv or venv in the project
 *   5. $VIRTUAL_ENV
 *   6. python3 on PATH
 * A candidate program is asked about itself; it fits if it is 3.11 or newer, has a shared
 * library and has NumPy. */
#include "loader_search.h"

#ifndef AI_CORE_PLATFORM
#error "define AI_CORE_PLATFORM as the name of the folder below bin/, such as linux.x86_64"
#endif

/* Asked in double quotes for the shell, so it holds none, and no $ ` \ % or newline. It answers in
 * lines: version, library or -, whether NumPy is there, program; file names as bytes that are read
 * alike whatever the encoding of the console. Old Pythons end early. */
static const char QUESTION[] =
    "import sys, os; v = sys.version_info;"
    "sys.stdout.write(str(v[0]) + '.' + str(v[1]) + chr(10)); sys.stdout.flush(); v < (3, 11) and sys.exit(0);"
    "import sysconfig, importlib.util; g = lambda n: sysconfig.get_config_var(n) or '';"
    "w = lambda text: os.write(1, os.fsencode(text + chr(10)));"
    "b = sys.base_prefix; l = g('LIBDIR') or b;"
    "d = [l, os.path.join(l, g('MULTIARCH')), os.path.join(b, 'lib'), b, g('PYTHONFRAMEWORKPREFIX')];"
    "n = [g('INSTSONAME'), g('LDLIBRARY'), 'python3' + str(v[1]) + '.dll'];"
    "f = [os.path.join(x, y) for y in n for x in d if x and y and not y.endswith('.a')];"
    "f = [x for x in f if os.path.isfile(x)] + ['-'];"
    "w(f[0]); w(str(importlib.util.find_spec('numpy') is not None)); w(sys.executable);";

int find_folders(struct folders *folders) {
    char nested[TEXT_SIZE];
    if (!own_file(folders->own, sizeof folders->own)) return 0;
    to_parent(folders->own);
    /* An exported game: Godot puts the loader beside the program, the addon's files below. */
    if (put(nested, sizeof nested, "%s/addons/ai_core", folders->own) && is_folder(nested)) {
        memcpy(folders->project, folders->own, sizeof folders->project);
        memcpy(folders->addon, nested, sizeof folders->addon);
        return 1;
    }
    memcpy(folders->addon, folders->own, sizeof folders->addon); /* <addon>/bin/<platform> */
    to_parent(folders->addon);
    to_parent(folders->addon);
    memcpy(folders->project, folders->addon, sizeof folders->project);
    to_parent(folders->project);
    to_parent(folders->project);
    return 1;
}

/* Add one line to the list of what was tried. */
static int refuse(char *tried, size_t size, const char *place, const char *reason) {
    size_t used = strlen(tried);
    put(tried + used, size - used, "\n  %s: %s", place, reason);
    return 0;
}

/* Take the next line off a text. */
static void take_line(const char **text, char *to, size_t size) {
    size_t length = strcspn(*text, "\r\n");
    put(to, size, "%.*s", (int)length, *text);
    *text += length;
    *text += strspn(*text, "\r\n");
}

/* Ask a program that should be a Python whether it fits. */
static int ask(const char *program, struct python *found, char *tried, size_t size) {
    char said[3 * TEXT_SIZE], version[64], numpy[64], reason[TEXT_SIZE];
    const char *rest = said;
    int major = 0, minor = 0;
    if (!ask_program(program, QUESTION, said, sizeof said)) return refuse(tried, size, program, "cannot be started");
    take_line(&rest, version, sizeof version);
    take_line(&rest, found->library, sizeof found->library);
    take_line(&rest, numpy, sizeof numpy);
    take_line(&rest, found->program, sizeof found->program);
    if (sscanf(version, "%d.%d", &major, &minor) != 2) return refuse(tried, size, program, "does not run");
    if (major != 3 || minor < 11) {
        put(reason, sizeof reason, "is Python %s, needed is 3.11 or newer", version);
        return refuse(tried, size, program, reason);
    }
    if (!is_file(found->library)) {
        return refuse(tried, size, program, "has no shared library (built without --enable-shared, or libpython3 is not installed)");
    }
    if (strcmp(numpy, "True") != 0) return refuse(tried, size, program, "has no NumPy (install it there with pip)");
    return 1;
}

/* Ask the Python of an environment's folder. */
static int ask_environment(const char *folder, struct python *found, char *tried, size_t size) {
    char program[TEXT_SIZE];
    if (!is_folder(folder)) return refuse(tried, size, folder, "there is none");
    if (!put(program, sizeof program, "%s/%s", folder, ENVIRONMENT_PROGRAM) || !is_file(program)) {
        return refuse(tried, size, folder, "holds no " ENVIRONMENT_PROGRAM);
    }
    return ask(program, found, tried, size);
}

/* Put a setting's value into `to`, with {dir} as the folder of the file. */
static int expand(const char *value, const char *folder, char *to, size_t size) {
    const char *mark;
    size_t used = 0;
    *to = 0;
    while ((mark = strstr(value, "{dir}"))) {
        if (!put(to + used, size - used, "%.*s%s", (int)(mark - value), value, folder)) return 0;
        used = strlen(to);
        value = mark + strlen("{dir}");
    }
    return put(to + used, size - used, "%s", value);
}

/* Read python.cfg. `program` alone is asked; `libpython` is taken as it is. */
static int read_settings(FILE *file, const char *name, struct python *found, char *tried, size_t size) {
    char line[TEXT_SIZE], folder[TEXT_SIZE], path[TEXT_SIZE];
    memcpy(folder, name, strlen(name) + 1);
    to_parent(folder);
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = 0;
        char *value = strchr(line, '=');
        if (line[0] == '#' || line[0] == 0) continue;
        if (!value) return refuse(tried, size, name, "each line must be name=value");
        *value++ = 0;
        char *to = !strcmp(line, "libpython") ? found->library
                 : !strcmp(line, "program")   ? found->program
                 : !strcmp(line, "home")      ? found->home
                 : !strcmp(line, "path")      ? found->path : NULL;
        if (!to) return refuse(tried, size, name, "knows only libpython, program, home and path");
        if (!expand(value, folder, to, TEXT_SIZE)) return refuse(tried, size, name, "a value is too long");
    }
    if (found->library[0]) return is_file(found->library) ? 1 : refuse(tried, size, name, "libpython is no file");
    if (!found->program[0]) return refuse(tried, size, name, "needs libpython= or program=");
    memcpy(path, found->program, sizeof path);
    return ask(path, found, tried, size);
}

static int find_private(const struct folders *folders, struct python *found, char *tried, size_t size) {
    if (!put(found->home, sizeof found->home, "%s/runtime/%s", folders->addon, AI_CORE_PLATFORM)
        || !is_folder(found->home)) {
        refuse(tried, size, found->home, "there is none");
    } else if (!private_library(found->home, found->library, sizeof found->library)) {
        refuse(tried, size, found->home, "holds no " PRIVATE_LIBRARY_PATTERN);
    } else {
        return put(found->program, sizeof found->program, "%s/%s", found->home, PRIVATE_PROGRAM);
    }
    found->home[0] = 0;
    return 0;
}

int find_python(const struct folders *folders, struct python *found, char *tried, size_t size) {
    static const char *const NAMES[] = {".venv", "venv"};
    char place[TEXT_SIZE], wish[TEXT_SIZE];
    memset(found, 0, sizeof *found);
    *tried = 0;
    if (environment_value("AI_CORE_PYTHON", wish, sizeof wish)) {
        refuse(tried, size, "$AI_CORE_PYTHON", wish);
        return is_folder(wish) ? ask_environment(wish, found, tried, size) : ask(wish, found, tried, size);
    }
    refuse(tried, size, "$AI_CORE_PYTHON", "is not set");
    if (put(place, sizeof place, "%s/bin/python.cfg", folders->addon) && is_file(place)) {
        FILE *file = open_text(place);
        if (!file) return refuse(tried, size, place, "cannot be read");
        int fits = read_settings(file, place, found, tried, size);
        fclose(file);
        return fits;
    }
    refuse(tried, size, place, "there is none");
    if (find_private(folders, found, tried, size)) return 1;
    for (int i = 0; i < 2; i++) {
        if (!put(place, sizeof place, "%s/%s", folders->project, NAMES[i])) continue;
        if (ask_environment(place, found, tried, size)) return 1;
    }
    if (!environment_value("VIRTUAL_ENV", wish, sizeof wish)) refuse(tried, size, "$VIRTUAL_ENV", "is not set");
    else if (ask_environment(wish, found, tried, size)) return 1;
    return ask(SYSTEM_PROGRAM, found, tried, size);
}
