/* Which Python shall run inside the engine? */
#pragma once
#include "loader_platform.h"

struct folders {
    char own[TEXT_SIZE];     /* holds the loader, and beside it the bridge */
    char addon[TEXT_SIZE];   /* addons/ai_core */
    char project[TEXT_SIZE]; /* holds addons/ */
};

struct python {
    char library[TEXT_SIZE]; /* libpython */
    char program[TEXT_SIZE]; /* becomes sys.executable; tells Python its environment */
    char home[TEXT_SIZE];    /* a private installation, else empty */
    char path[TEXT_SIZE];    /* more folders for sys.path, else empty */
};

/* Find where the loader lives and what belongs to it. Returns 0 if that cannot be told. */
int find_folders(struct folders *folders);

/* Choose a Python. Returns 0 if none fits; `tried` then lists each place and why not. */
int find_python(const struct folders *folders, struct python *found, char *tried, size_t tried_size);
