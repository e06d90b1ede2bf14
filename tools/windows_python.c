/* python.exe: runs the Python that lies beside it. */
#include <stdio.h>
#include <windows.h>

int wmain(int count, wchar_t **arguments) {
    wchar_t path[4096];
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    GetModuleFileNameW(NULL, path, 4000);
    wcscpy(wcsrchr(path, L'\\') + 1, L"python312.dll");
    HMODULE library = LoadLibraryExW(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library) {
        fprintf(stderr, "python312.dll cannot be loaded: Windows error %lu\n", GetLastError());
        return 2;
    }
    return ((int (*)(int, wchar_t **))(void *)GetProcAddress(library, "Py_Main"))(count, arguments);
}
