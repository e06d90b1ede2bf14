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

/* The same in ticks of the processor, which have no known length. Reading them does not wait for loads that are under
   way, as the clock of the system does: between calls of objects in no cache that is a tenth of a microsecond each. */
#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
static inline int64_t processor_ticks(void) { return (int64_t)__rdtsc(); }
#elif defined(__x86_64__)
static inline int64_t processor_ticks(void) { return (int64_t)__builtin_ia32_rdtsc(); }
#elif defined(__aarch64__) && defined(__GNUC__)
static inline int64_t processor_ticks(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return (int64_t)ticks;
}
#else
static inline int64_t processor_ticks(void) { return stopwatch_ns(); }
#endif
