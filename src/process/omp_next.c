#include "process/omp_next.h"

#include "system/say.h"

#include <dlfcn.h>
#include <unistd.h>

void (*dome__omp_next(const char *name))(void)
{
    void (*function)(void);
    *(void **)&function = dlsym(RTLD_NEXT, name);
    if (!function) {
        dome__say_at_once("the C library has no %s, which libdome-omp needs", name);
        _exit(1);
    }
    return function;
}
