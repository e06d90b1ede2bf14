/* A stand-in for Godot: opens the extension, plays its interface, and says what the extension did.
 *
 *     stand_in LOADER
 *
 * Every function of the engine is a stub that returns 0 or zeros; names are kept as text, so that
 * registered classes can be counted and named, and errors are printed. What is deprecated up to Godot 4.7
 * is not there, as in an engine that is built without it. Runs on Windows (or in wine), Linux and macOS. */
#include "gdextension_interface.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

static char zeros[65536];
static int asked, errors, classes;

static intptr_t nothing(void) { return 0; }
static intptr_t give_zeros(void) { return (intptr_t)zeros; }
static uint64_t give_one(void) { return 1; }
static intptr_t give_function(void) { return (intptr_t)nothing; }

static void name_of_text(void *name, const char *text, GDExtensionInt length) {
    char *kept = calloc(1, (size_t)length + 1);
    *(char **)name = memcpy(kept, text, (size_t)length);
}
static void call(void *self, const void *method, const void *const *arguments, GDExtensionInt count, void *result,
                 GDExtensionCallError *error) {
    (void)self, (void)method, (void)arguments, (void)count;
    memset(result, 0, 24);
    memset(error, 0, sizeof *error);
}
static void register_class(void *library, const void *name, const void *parent, const void *facts) {
    (void)library, (void)facts;
    classes++;
    printf("class %s of %s\n", *(char *const *)name, *(char *const *)parent);
}
static void print_error(const char *what, const char *function, const char *file, int32_t line, GDExtensionBool shown) {
    (void)shown;
    errors++;
    printf("error %s (%s, %s:%d)\n", what, function, file, line);
}
static void print_message(
    const char *what, const char *message, const char *function, const char *file, int32_t line, GDExtensionBool shown) {
    (void)shown;
    errors++;
    printf("error %s: %s (%s, %s:%d)\n", what, message, function, file, line);
}
static void version(GDExtensionGodotVersion2 *to) {
    to->major = 4;
    to->minor = 6;
    to->patch = 3;
    to->string = "4.6.3";
}

static GDExtensionInterfaceFunctionPtr function_of_engine(const char *name) {
    static const char *const GIVE_ZEROS[] = {"get_method_bind", "operator_index", "construct_object", "singleton",
                                             "instance_from_id"};
    static const char *const DEPRECATED[] = {
        "get_godot_version", "mem_alloc", "mem_realloc", "mem_free", "string_new_with_utf8_chars_and_len",
        "classdb_register_extension_class4", "classdb_get_class_tag", "object_cast_to"};
    asked++;
    for (size_t i = 0; i < sizeof DEPRECATED / sizeof *DEPRECATED; i++) {
        if (!strcmp(name, DEPRECATED[i])) return NULL;
    }
    if (!strcmp(name, "get_godot_version2")) return (GDExtensionInterfaceFunctionPtr)(void *)version;
    if (strstr(name, "_with_message")) return (GDExtensionInterfaceFunctionPtr)(void *)print_message;
    if (!strncmp(name, "print_", 6)) return (GDExtensionInterfaceFunctionPtr)(void *)print_error;
    if (!strcmp(name, "string_name_new_with_utf8_chars_and_len"))
        return (GDExtensionInterfaceFunctionPtr)(void *)name_of_text;
    if (!strncmp(name, "classdb_register_extension_class", 32) && strlen(name) <= 33)
        return (GDExtensionInterfaceFunctionPtr)(void *)register_class;
    if (strstr(name, "_get_ptr_") || strstr(name, "type_constructor") || strstr(name, "get_variant_"))
        return (GDExtensionInterfaceFunctionPtr)(void *)give_function;
    if (!strcmp(name, "variant_call")) return (GDExtensionInterfaceFunctionPtr)(void *)call;
    if (!strcmp(name, "variant_has_method")) return (GDExtensionInterfaceFunctionPtr)(void *)give_one;
    if (!strcmp(name, "object_get_instance_id")) return (GDExtensionInterfaceFunctionPtr)(void *)give_one;
    for (size_t i = 0; i < sizeof GIVE_ZEROS / sizeof *GIVE_ZEROS; i++) {
        if (strstr(name, GIVE_ZEROS[i])) return (GDExtensionInterfaceFunctionPtr)(void *)give_zeros;
    }
    return (GDExtensionInterfaceFunctionPtr)(void *)nothing;
}

static int play(GDExtensionInitializationFunction enter) {
    GDExtensionInitialization wanted = {0};
    if (!enter || !enter(function_of_engine, (void *)zeros, &wanted)) {
        printf("the loader has no entry, or its entry failed\n");
        return 1;
    }
    wanted.initialize(wanted.userdata, GDEXTENSION_INITIALIZATION_SCENE);
    printf("functions %d, classes %d, errors %d\n", asked, classes, errors);
    fflush(stdout);
    return errors || !classes;
}

#ifdef _WIN32
int wmain(int count, wchar_t **arguments) {
    HMODULE loader = count > 1 ? LoadLibraryExW(arguments[1], NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!loader) {
        printf("the loader cannot be opened: Windows error %lu\n", GetLastError());
        return 2;
    }
    return play((GDExtensionInitializationFunction)(void *)GetProcAddress(loader, "ai_core_entry"));
}
#else
int main(int count, char **arguments) {
    void *loader = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!loader) {
        printf("the loader cannot be opened: %s\n", dlerror());
        return 2;
    }
    return play((GDExtensionInitializationFunction)dlsym(loader, "ai_core_entry"));
}
#endif
