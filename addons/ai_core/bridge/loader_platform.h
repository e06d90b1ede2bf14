/* What differs between systems, as few plain functions. Windows and macOS: untested. */
#pragma once
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifdef _WIN32
#include <windows.h>
#define EXPORTED __declspec(dllexport)
#define ENVIRONMENT_PROGRAM "Scripts/python.exe"
#define PRIVATE_PROGRAM "python.exe"
#define PRIVATE_LIBRARY_PATTERN "python3??.dll"
#define SYSTEM_PROGRAM "python"
#define LIST_SEPARATOR ';'
#define popen _popen
#define pclose _pclose
#else
#include <dlfcn.h>
#include <glob.h>
#include <unistd.h>
#define EXPORTED __attribute__((visibility("default")))
#define ENVIRONMENT_PROGRAM "bin/python3"
#define PRIVATE_PROGRAM "bin/python3"
#ifdef __APPLE__
#define PRIVATE_LIBRARY_PATTERN "lib/libpython3.[0-9]*.dylib"
#else
#define PRIVATE_LIBRARY_PATTERN "lib/libpython3.[0-9]*.so*"
#endif
#define SYSTEM_PROGRAM "python3"
#define LIST_SEPARATOR ':'
#endif

#define TEXT_SIZE 4096 /* bytes of a path or message; longer ones count as not found */

/* Write a formatted text; what does not fit is cut off. Returns whether all of it did. */
static inline int put(char *to, size_t size, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = vsnprintf(to, size, format, values);
    va_end(values);
    return length >= 0 && (size_t)length < size;
}

static inline int is_folder(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && (facts.st_mode & S_IFMT) == S_IFDIR;
}

static inline int is_file(const char *path) {
    struct stat facts;
    return stat(path, &facts) == 0 && (facts.st_mode & S_IFMT) == S_IFREG;
}

/* Cut the last part off a path; both kinds of slash, for Windows writes both. */
static inline void to_parent(char *path) {
    char *last = path;
    for (char *here = path; *here; here++) {
        if (*here == '/' || *here == '\\') last = here;
    }
    *last = 0;
}

#ifdef _WIN32
static inline void *library_open(const char *path) {
    return (void *)LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}
static inline void library_problem(char *to, size_t size) { put(to, size, "Windows error %lu", GetLastError()); }
static inline void *library_symbol(void *library, const char *name) {
    return (void *)GetProcAddress((HMODULE)library, name);
}
static inline void open_companions(const char *home) { (void)home; } /* Windows looks beside the library itself */
static inline int has_loaded_python(void **library) {
    char name[32];
    for (int minor = 11; minor < 40; minor++) {
        put(name, sizeof name, "python3%d.dll", minor);
        if ((*library = (void *)GetModuleHandleA(name))) return 1;
    }
    return 0;
}
static inline int own_file(char *to, size_t size) {
    HMODULE own = NULL;
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    return GetModuleHandleExA(how, (LPCSTR)(void *)own_file, &own) && GetModuleFileNameA(own, to, (DWORD)size) < size;
}
static inline int first_match(const char *folder, const char *pattern, char *to, size_t size) {
    WIN32_FIND_DATAA found;
    char wanted[TEXT_SIZE];
    if (!put(wanted, sizeof wanted, "%s/%s", folder, pattern)) return 0;
    HANDLE search = FindFirstFileA(wanted, &found);
    if (search == INVALID_HANDLE_VALUE) return 0;
    FindClose(search);
    return put(to, size, "%s/%s", folder, found.cFileName);
}
#else
/* RTLD_GLOBAL: extension modules such as NumPy's find Python's symbols in the process. */
static inline void *library_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL); }
static inline void library_problem(char *to, size_t size) {
    const char *text = dlerror();
    put(to, size, "%s", text ? text : "unknown");
}
static inline void *library_symbol(void *library, const char *name) { return dlsym(library, name); }

/* Load what a private libpython needs and lies beside it, such as expat: it is then found there by
 * its name. One that this system's libc is too old for is passed over, and the system's own serves. */
static inline void open_companions(const char *home) {
    glob_t found;
    char wanted[TEXT_SIZE];
    if (!put(wanted, sizeof wanted, "%s/lib/lib*.so.[0-9]", home) || glob(wanted, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (!dlopen(strrchr(found.gl_pathv[i], '/') + 1, RTLD_NOW | RTLD_NOLOAD)) dlopen(found.gl_pathv[i], RTLD_NOW);
    }
    globfree(&found);
}

/* A Python that this process has loaded already, by us before a reload or by anyone. */
static inline int has_loaded_python(void **library) {
    *library = RTLD_DEFAULT;
    return dlsym(RTLD_DEFAULT, "Py_IsInitialized") != NULL;
}
static inline int own_file(char *to, size_t size) {
    Dl_info facts;
    char here[TEXT_SIZE];
    if (!dladdr((void *)&own_file, &facts) || !facts.dli_fname) return 0;
    if (facts.dli_fname[0] == '/') return put(to, size, "%s", facts.dli_fname);
    return getcwd(here, sizeof here) && put(to, size, "%s/%s", here, facts.dli_fname);
}
static inline int first_match(const char *folder, const char *pattern, char *to, size_t size) {
    glob_t found;
    char wanted[TEXT_SIZE];
    if (!put(wanted, sizeof wanted, "%s/%s", folder, pattern)) return 0;
    int fits = glob(wanted, 0, NULL, &found) == 0 && put(to, size, "%s", found.gl_pathv[0]);
    globfree(&found);
    return fits;
}
#endif
