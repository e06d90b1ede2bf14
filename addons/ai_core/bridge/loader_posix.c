/* Linux and macOS. */
#ifndef _WIN32
#include "loader_platform.h"
#include <dlfcn.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int is_folder(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

int is_file(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

FILE *open_text(const char *path) { return fopen(path, "r"); }

int environment_value(const char *name, char *to, size_t size) {
    const char *value = getenv(name);
    return value && *value && put(to, size, "%s", value);
}

/* Quote a program's name for the shell. */
static int quote(const char *name, char *to, size_t size) {
    size_t used = 0;
    if (size < 8) return 0;
    to[used++] = '\'';
    for (; *name && used + 8 < size; name++) {
        if (*name == '\'') {
            memcpy(to + used, "'\\''", 4);
            used += 4;
        } else {
            to[used++] = *name;
        }
    }
    to[used++] = '\'';
    to[used] = 0;
    return *name == 0;
}

int ask_program(const char *program, const char *question, char *to, size_t size) {
    char quoted[TEXT_SIZE], command[3 * TEXT_SIZE];
    *to = 0;
    if (!quote(program, quoted, sizeof quoted)
        || !put(command, sizeof command, "%s -I -c \"%s\" 2>/dev/null </dev/null", quoted, question)) return 0;
    FILE *answer = popen(command, "r");
    if (!answer) return 0;
    to[fread(to, 1, size - 1, answer)] = 0;
    pclose(answer);
    return 1;
}

int own_file(char *to, size_t size) {
    Dl_info facts;
    char here[TEXT_SIZE];
    if (!dladdr((void *)&own_file, &facts) || !facts.dli_fname) return 0;
    if (facts.dli_fname[0] == '/') return put(to, size, "%s", facts.dli_fname);
    return getcwd(here, sizeof here) && put(to, size, "%s/%s", here, facts.dli_fname);
}

int private_library(const char *folder, char *to, size_t size) {
    glob_t found;
    char wanted[TEXT_SIZE];
    if (!put(wanted, sizeof wanted, "%s/%s", folder, PRIVATE_LIBRARY_PATTERN)) return 0;
    int fits = glob(wanted, 0, NULL, &found) == 0 && put(to, size, "%s", found.gl_pathv[0]);
    globfree(&found);
    return fits;
}

/* A companion that this system's libc is too old for is passed over, and the system's own serves. */
void open_companions(const char *library, int is_private) {
    glob_t found;
    char wanted[TEXT_SIZE];
    if (!is_private || !put(wanted, sizeof wanted, "%s", library)) return;
    to_parent(wanted);
    size_t used = strlen(wanted);
    if (!put(wanted + used, sizeof wanted - used, "/lib*.so.[0-9]") || glob(wanted, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (!dlopen(strrchr(found.gl_pathv[i], '/') + 1, RTLD_NOW | RTLD_NOLOAD)) dlopen(found.gl_pathv[i], RTLD_NOW);
    }
    globfree(&found);
}

/* RTLD_GLOBAL: extension modules such as NumPy's find Python's symbols in the process. */
void *library_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL); }

void *library_symbol(void *library, const char *name) { return dlsym(library, name); }

void library_problem(char *to, size_t size) {
    const char *text = dlerror();
    put(to, size, "%s", text ? text : "unknown");
}

int has_loaded_python(void **library) {
    *library = RTLD_DEFAULT;
    return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != NULL;
}
#endif
