#include "core/time.h"

#include <time.h>

uint64_t dome__now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t dome__since_ns(uint64_t begin)
{
    uint64_t now = dome__now_ns();
    return now > begin ? now - begin : 0;
}
