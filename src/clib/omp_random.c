/* Random numbers: one sequence for all tasks, which lies in the program's memory and is saved with it. Of the C library's
 * functions rand and random may be called by several threads at the same time: in a region they are drawn in the order of
 * threads. Callers of the others see to that themselves. */
#include "process/omp_names.h"

#include "clib/omp_library.h"

#include "process/omp_next.h"
#include "process/omp_touch.h"

#include <stdlib.h>

/* The state; NULL: the caller is none of the program's threads. */
static dome_omp_random *numbers(void)
{
    if (!dome__omp_by_thread())
        return NULL;
    dome_omp_random *n = &dome__omp_library()->random;
    if (!n->begun && initstate_r(1, n->words, sizeof n->words, &n->data) == 0)
        n->begun = true;
    return n;
}

static long draw(dome_omp_random *n)
{
    int32_t result;
    dome__omp_library_enter();
    random_r(&n->data, &result);
    dome__omp_library_leave();
    return result;
}

int rand(void)
{
    dome_omp_random *n = numbers();
    return n ? (int)draw(n) : ((int (*)(void))dome__omp_next("rand"))();
}

long random(void)
{
    dome_omp_random *n = numbers();
    return n ? draw(n) : ((long (*)(void))dome__omp_next("random"))();
}

static void seed_by(const char *name, unsigned seed)
{
    dome_omp_random *n = numbers();
    if (!n) {
        ((void (*)(unsigned))dome__omp_next(name))(seed);
        return;
    }
    dome__omp_library_enter();
    srandom_r(seed, &n->data);
    dome__omp_library_leave();
}

void srand(unsigned seed)
{
    seed_by("srand", seed);
}

void srandom(unsigned seed)
{
    seed_by("srandom", seed);
}

/* One word before the state is its kind: what the C library's functions return. */
char *initstate(unsigned seed, char *state, size_t bytes)
{
    dome_omp_random *n = numbers();
    if (!n)
        return ((char *(*)(unsigned, char *, size_t))dome__omp_next("initstate"))(seed, state, bytes);
    char *before = (char *)(n->data.state - 1);
    return initstate_r(seed, state, bytes, &n->data) ? NULL : before;
}

char *setstate(char *state)
{
    dome_omp_random *n = numbers();
    if (!n)
        return ((char *(*)(char *))dome__omp_next("setstate"))(state);
    char *before = (char *)(n->data.state - 1);
    return setstate_r(state, &n->data) ? NULL : before;
}

/* ---- drand48 and its relatives ---- */

static struct drand48_data *numbers48(void)
{
    return dome__omp_by_thread() ? &dome__omp_library()->random48 : NULL;
}

/* A function without arguments, by the one that is told where the state lies; and one that is given a state by the program. */
#define DRAW48(type, name)                                                                                                       \
    type name(void)                                                                                                              \
    {                                                                                                                            \
        struct drand48_data *n = numbers48();                                                                                    \
        type result;                                                                                                             \
        if (!n)                                                                                                                  \
            return ((type(*)(void))dome__omp_next(#name))();                                                                     \
        name##_r(n, &result);                                                                                                    \
        return result;                                                                                                           \
    }
#define DRAW48_FROM(type, name)                                                                                                  \
    type name(unsigned short words[3])                                                                                           \
    {                                                                                                                            \
        struct drand48_data *n = numbers48();                                                                                    \
        type result;                                                                                                             \
        if (!n)                                                                                                                  \
            return ((type(*)(unsigned short *))dome__omp_next(#name))(words);                                                    \
        name##_r(words, n, &result);                                                                                             \
        return result;                                                                                                           \
    }

DRAW48(double, drand48)
DRAW48(long, lrand48)
DRAW48(long, mrand48)
DRAW48_FROM(double, erand48)
DRAW48_FROM(long, nrand48)
DRAW48_FROM(long, jrand48)

void srand48(long seed)
{
    struct drand48_data *n = numbers48();
    if (n)
        srand48_r(seed, n);
    else
        ((void (*)(long))dome__omp_next("srand48"))(seed);
}

unsigned short *seed48(unsigned short words[3])
{
    struct drand48_data *n = numbers48();
    if (!n)
        return ((unsigned short *(*)(unsigned short *))dome__omp_next("seed48"))(words);
    seed48_r(words, n);
    return n->__old_x;
}

void lcong48(unsigned short words[7])
{
    struct drand48_data *n = numbers48();
    if (n)
        lcong48_r(words, n);
    else
        ((void (*)(unsigned short *))dome__omp_next("lcong48"))(words);
}
