/* Windows. Run under wine (tools/dev.py test windows), not yet on Windows itself. */
#ifdef _WIN32
#include "loader_platform.h"
#include <windows.h>
#include <wchar.h>

static int to_wide(const char *text, wchar_t *to) {
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, to, TEXT_SIZE) > 0;
}

static int from_wide(const wchar_t *text, char *to, size_t size) {
    return WideCharToMultiByte(CP_UTF8, 0, text, -1, to, (int)size, NULL, NULL) > 0;
}

/* The attributes of a file or folder, INVALID_FILE_ATTRIBUTES if there is none. */
static DWORD attributes(const char *path) {
    wchar_t wide[TEXT_SIZE];
    return to_wide(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
}

int is_folder(const char *path) {
    DWORD found = attributes(path);
    return found != INVALID_FILE_ATTRIBUTES && (found & FILE_ATTRIBUTE_DIRECTORY);
}

int is_file(const char *path) {
    DWORD found = attributes(path);
    return found != INVALID_FILE_ATTRIBUTES && !(found & FILE_ATTRIBUTE_DIRECTORY);
}

FILE *open_text(const char *path) {
    wchar_t wide[TEXT_SIZE];
    return to_wide(path, wide) ? _wfopen(wide, L"r") : NULL;
}

int environment_value(const char *name, char *to, size_t size) {
    wchar_t wide_name[64], value[TEXT_SIZE];
    if (MultiByteToWideChar(CP_UTF8, 0, name, -1, wide_name, 64) == 0) return 0;
    DWORD length = GetEnvironmentVariableW(wide_name, value, TEXT_SIZE);
    return length > 0 && length < TEXT_SIZE && from_wide(value, to, size);
}

static void read_all(HANDLE from, char *to, size_t size) {
    size_t used = 0;
    DWORD got = 0;
    while (used + 1 < size && ReadFile(from, to + used, (DWORD)(size - 1 - used), &got, NULL) && got) used += got;
    to[used] = 0;
}

/* Start a command line without a console window, its output into `output`. */
static int start_program(wchar_t *command, HANDLE output) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    STARTUPINFOW how = {.cb = sizeof how, .dwFlags = STARTF_USESTDHANDLES, .hStdOutput = output};
    PROCESS_INFORMATION made;
    how.hStdInput = CreateFileW(L"NUL", GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, NULL);
    how.hStdError = CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, NULL);
    int started = CreateProcessW(NULL, command, NULL, NULL, TRUE, CREATE_NO_WINDOW, NULL, NULL, &how, &made);
    if (started) {
        CloseHandle(made.hThread);
        CloseHandle(made.hProcess);
    }
    CloseHandle(how.hStdInput);
    CloseHandle(how.hStdError);
    return started;
}

int ask_program(const char *program, const char *question, char *to, size_t size) {
    SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
    char command[TEXT_SIZE];
    wchar_t wide[TEXT_SIZE];
    HANDLE ours, theirs;
    *to = 0;
    if (!put(command, sizeof command, "\"%s\" -I -c \"%s\"", program, question) || !to_wide(command, wide)) return 0;
    if (!CreatePipe(&ours, &theirs, &inherited, 0)) return 0;
    SetHandleInformation(ours, HANDLE_FLAG_INHERIT, 0);
    int started = start_program(wide, theirs);
    CloseHandle(theirs); /* the program's is the last one, so reading ends when the program does */
    if (started) read_all(ours, to, size);
    CloseHandle(ours);
    return started;
}

/* Godot opens libraries by \\?\ paths, in which no forward slash separates folders: that beginning is cut off. */
int own_file(char *to, size_t size) {
    HMODULE own = NULL;
    wchar_t path[TEXT_SIZE];
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExW(how, (LPCWSTR)(void *)own_file, &own)) return 0;
    DWORD length = GetModuleFileNameW(own, path, TEXT_SIZE);
    if (length == 0 || length >= TEXT_SIZE) return 0;
    const wchar_t *begin = path;
    if (wcsncmp(path, L"\\\\?\\UNC\\", 8) == 0) {
        path[6] = L'\\'; /* \\?\UNC\server is \\server */
        begin = path + 6;
    } else if (wcsncmp(path, L"\\\\?\\", 4) == 0) {
        begin = path + 4;
    }
    return from_wide(begin, to, size);
}

int private_library(const char *folder, char *to, size_t size) {
    WIN32_FIND_DATAW found;
    char wanted[TEXT_SIZE], name[TEXT_SIZE];
    wchar_t wide[TEXT_SIZE];
    int fits = 0;
    if (!put(wanted, sizeof wanted, "%s/python3*.dll", folder) || !to_wide(wanted, wide)) return 0;
    HANDLE search = FindFirstFileW(wide, &found);
    if (search == INVALID_HANDLE_VALUE) return 0;
    do { /* python3.dll, found first, has no function of its own; the system's patterns cannot leave it out */
        fits = from_wide(found.cFileName, name, sizeof name) && name[7] >= '0' && name[7] <= '9'
            && put(to, size, "%s/%s", folder, name);
    } while (!fits && FindNextFileW(search, &found));
    FindClose(search);
    return fits;
}

/* NumPy needs VCRUNTIME140_1.dll, which Windows would look for beside the engine and in its own folders only. */
void open_companions(const char *library, int is_private) {
    static const char *const NAMES[] = {"vcruntime140.dll", "vcruntime140_1.dll"};
    char folder[TEXT_SIZE], file[TEXT_SIZE];
    (void)is_private;
    if (!put(folder, sizeof folder, "%s", library)) return;
    to_parent(folder);
    for (int i = 0; i < 2; i++) {
        if (put(file, sizeof file, "%s\\%s", folder, NAMES[i]) && is_file(file)) library_open(file);
    }
}

/* With the altered search path Windows looks for what the library needs beside it. */
void *library_open(const char *path) {
    wchar_t wide[TEXT_SIZE];
    return to_wide(path, wide) ? (void *)LoadLibraryExW(wide, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
}

void *library_symbol(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }

void library_problem(char *to, size_t size) { put(to, size, "Windows error %lu", GetLastError()); }

int has_loaded_python(void **library) {
    char name[32];
    for (int minor = 11; minor < 40; minor++) {
        put(name, sizeof name, "python3%d.dll", minor);
        if ((*library = (void *)GetModuleHandleA(name))) return 1;
    }
    return 0;
}
#endif
