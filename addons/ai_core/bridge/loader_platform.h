/* What differs between systems, as few plain functions: loader_posix.c and loader_windows.c.
 *
 * A text is in the encoding of Python's file names: UTF-8 on Windows, where every call of the
 * system takes wide characters, because its byte encoding lacks most letters. */
#pragma once
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#define ENVIRONMENT_PROGRAM "Scripts/python.exe"
#define PRIVATE_PROGRAM "python.exe"
#define PRIVATE_LIBRARY_PATTERN "python3[0-9]*.dll"
#define SYSTEM_PROGRAM "python"
#define LIST_SEPARATOR ';'
#else
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

/* Cut the last part off a path; both kinds of slash, for Windows writes both. */
static inline void to_parent(char *path) {
    char *last = path;
    for (char *here = path; *here; here++) {
        if (*here == '/' || *here == '\\') last = here;
    }
    *last = 0;
}

/* Separate the folders of a path as the system itself does; Python on Windows takes no other. */
static inline void to_native(char *path) {
#ifdef _WIN32
    for (; *path; path++) {
        if (*path == '/') *path = '\\';
    }
#else
    (void)path;
#endif
}

int is_folder(const char *path);
int is_file(const char *path);

/* Open a text file for reading; NULL if that cannot be. */
FILE *open_text(const char *path);

/* Write the value of an environment variable; returns whether it is set, not empty, and fits. */
int environment_value(const char *name, char *to, size_t size);

/* Write what `program -I -c question` prints, without its errors; returns whether it was started.
 * The question holds no double quote. */
int ask_program(const char *program, const char *question, char *to, size_t size);

/* The file that holds this code; returns 0 if that cannot be told. */
int own_file(char *to, size_t size);

/* The first file of a folder whose name fits PRIVATE_LIBRARY_PATTERN. */
int private_library(const char *folder, char *to, size_t size);

/* Load what a Python's library needs and lies beside it, so that it is found by its name from then
 * on. Only a private Python brings more than compilers' run-time libraries (Windows). */
void open_companions(const char *library, int is_private);

void *library_open(const char *path);
void *library_symbol(void *library, const char *name);
void library_problem(char *to, size_t size); /* why the last call failed */

/* A Python that this process has loaded already, by us before a reload or by anyone. */
int has_loaded_python(void **library);
