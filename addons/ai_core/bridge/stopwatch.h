/* What time is it? Nanoseconds of a clock that only goes on; when it began does not matter. */
#pragma once
#include <stdint.h>

#ifdef _WIN32
#include <windows.h>
static inline int64_t stopwatch_ns(void) {
    LARGE_INTEGER ticks, per_second;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_second);
    /* In two parts, as ticks times a billion would overflow within hours. */
    return ticks.QuadPart / per_second.QuadPart * 1000000000
         + ticks.QuadPart % per_second.QuadPart * 1000000000 / per_second.QuadPart;
}
#else
#include <time.h>
static inline int64_t stopwatch_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
#endif
