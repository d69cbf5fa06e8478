#include "system/time.h"

#include <time.h>

uint64_t dome__now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double dome__now(void)
{
    return (double)dome__now_ns() * 1e-9;
}

struct timespec dome__in_ns(uint64_t ns)
{
    const uint64_t at = dome__now_ns() + ns;
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000)};
}

uint64_t dome__since_ns(uint64_t begin)
{
    uint64_t now = dome__now_ns();
    return now > begin ? now - begin : 0;
}

dome_awake dome__awake_from(double real)
{
    return (dome_awake){.now = real, .real = real};
}

double dome__awake_read(dome_awake *awake, double real, double most)
{
    double passed = real - awake->real;
    awake->real = real;
    awake->now += passed < 0 ? 0 : passed < most ? passed : most;
    return awake->now;
}
