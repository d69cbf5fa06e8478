/* Chooses the variant of the kernels: the one with the widest vectors that this processor supports. */
#include "kernels/kernels.h"

#include "kernels/elementwise.h"
#include "kernels/kernels_nearest.h"
#include "kernels/kernels_reduce.h"
#include "kernels/kernels_struct.h"

#include <string.h>

#define DECLARE(v)                                                                                                               \
    dome_kernel dome__kernel_##v(uint32_t number, dome_type type, dome_type from);                                               \
    dome_kernel dome__pair_kernel_##v(uint32_t first, uint32_t second, bool left, dome_type type);                               \
    dome_sum_kernel dome__sum_kernel_##v(dome_terms terms, dome_type type);                                                      \
    dome_parts_kernel dome__parts_kernel_##v(dome_terms terms, dome_type type);                                                  \
    dome_product_kernel dome__product_kernel_##v(dome_type type);                                                                \
    dome_extreme_kernel dome__extreme_kernel_##v(dome_type type);                                                                \
    double dome__largest_part_##v(dome_type type, const void *x, uint64_t count);                                                \
    void dome__find_nearest_##v(const double *columns, const double *rows, uint64_t width, uint64_t k, int64_t *number);

typedef struct kernel_set {
    const char *name;
    bool (*usable)(void);
    dome_kernel (*kernel)(uint32_t number, dome_type type, dome_type from);
    dome_kernel (*pair)(uint32_t first, uint32_t second, bool left, dome_type type);
    dome_sum_kernel (*sum)(dome_terms terms, dome_type type);
    dome_parts_kernel (*parts)(dome_terms terms, dome_type type);
    dome_product_kernel (*product)(dome_type type);
    dome_extreme_kernel (*extreme)(dome_type type);
    double (*largest_part)(dome_type type, const void *x, uint64_t count);
    void (*find_nearest)(const double *columns, const double *rows, uint64_t width, uint64_t k, int64_t *number);
} kernel_set;

#define SET(v, usable)                                                                                                           \
    {                                                                                                                            \
#v, usable, dome__kernel_##v, dome__pair_kernel_##v, dome__sum_kernel_##v, dome__parts_kernel_##v,                       \
            dome__product_kernel_##v, dome__extreme_kernel_##v, dome__largest_part_##v, dome__find_nearest_##v                   \
    }

static bool always(void)
{
    return true;
}
DECLARE(baseline)

#ifdef DOME_HAVE_AVX_VARIANTS
DECLARE(avx2)
DECLARE(avx512)

static bool have_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2");
}

static bool have_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

/* Widest first; the last is always usable. */
static const kernel_set sets[] = {
#ifdef DOME_HAVE_AVX_VARIANTS
    SET(avx512, have_avx512),
    SET(avx2, have_avx2),
#endif
    SET(baseline, always),
};
#define SETS (sizeof sets / sizeof *sets)

static const kernel_set *chosen; /* NULL: not chosen yet */

/* On a Zen 4 any distance from 128 to 384 is as good for one stream and for two, and 512 is 10 % slower for two. Intel's
 * processors (Sapphire and Emerald Rapids) gain by more for one stream, up to 2048, and lose nothing for two. */
enum { AHEAD = 384, AHEAD_INTEL = 2048 };
size_t dome__read_ahead = AHEAD;

static void choose(const kernel_set *s)
{
#ifdef DOME_HAVE_AVX_VARIANTS
    __builtin_cpu_init();
    if (__builtin_cpu_is("intel"))
        __atomic_store_n(&dome__read_ahead, AHEAD_INTEL, __ATOMIC_RELAXED);
#endif
    __atomic_store_n(&chosen, s, __ATOMIC_RELAXED);
}

static const kernel_set *set(void)
{
    const kernel_set *s = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!s) {
        for (s = sets; !s->usable(); s++)
            ;
        choose(s);
    }
    return s;
}

bool dome__kernels_limit(const char *name)
{
    unsigned first = 0;
    if (strcmp(name, "auto") != 0) {
        static const char *const names[] = {"avx512", "avx2", "baseline", NULL}; /* accepted also where only the last is built */
        unsigned place = 0;
        while (names[place] && strcmp(names[place], name) != 0)
            place++;
        if (!names[place])
            return false;
        first = SETS == 1 ? 0 : place;
    }
    while (!sets[first].usable())
        first++;
    choose(&sets[first]);
    return true;
}

const char *dome__kernels_name(void)
{
    return set()->name;
}

dome_kernel dome__kernel(dome_operation_code code, dome_type type, dome_type from)
{
    dome_kernel kernel = set()->kernel(dome__elementwise_number(code), type, from);
    if (!kernel && (dome_type_kind_of(type) == DOME_KIND_STRUCT || (from && dome_type_kind_of(from) == DOME_KIND_STRUCT)))
        kernel = dome__struct_kernel(code, type, from);
    return kernel;
}

dome_kernel dome__pair_kernel(dome_operation_code first, dome_operation_code second, bool left, dome_type type)
{
    return set()->pair(dome__elementwise_number(first), dome__elementwise_number(second), left, type);
}

dome_sum_kernel dome__sum_kernel(dome_terms terms, dome_type type)
{
    return set()->sum(terms, type);
}

dome_parts_kernel dome__parts_kernel(dome_terms terms, dome_type type)
{
    return set()->parts(terms, type);
}

dome_product_kernel dome__product_kernel(dome_type type)
{
    return set()->product(type);
}

dome_extreme_kernel dome__extreme_kernel(dome_type type)
{
    return set()->extreme(type);
}

double dome__largest_part(dome_type type, const void *x, uint64_t count)
{
    return set()->largest_part(type, x, count);
}

/* ---- the same for all variants ---- */

uint64_t dome__kernel_fill_value(const dome_kernel_args *args, uint64_t count)
{
    char *out = args->out;
    const size_t bytes = args->bytes;
    if (!count)
        return count;
    /* one value, then repeated copies of what is written */
    memcpy(out, args->value, bytes);
    for (uint64_t done = 1, next; done < count; done += next) {
        next = done < count - done ? done : count - done;
        memcpy(out + done * bytes, out, next * bytes);
    }
    return count;
}

/* The power of two above the largest value. */
#define ABOVE(L) ((double)(L##_MAX / 2 + 1) * 2)

bool dome__exact_in(dome_type type, double value)
{
    switch (dome_type_kind_of(type)) {
#define EXACT(K, T, L, lowest)                                                                                                   \
    case DOME_KIND_##K:                                                                                                          \
        return value >= (double)(lowest) && value < ABOVE(L) && value == (double)(T)value;
        EXACT(I8, int8_t, INT8, INT8_MIN)
        EXACT(I16, int16_t, INT16, INT16_MIN)
        EXACT(I32, int32_t, INT32, INT32_MIN)
        EXACT(I64, int64_t, INT64, INT64_MIN)
        EXACT(U8, uint8_t, UINT8, 0)
        EXACT(U16, uint16_t, UINT16, 0)
        EXACT(U32, uint32_t, UINT32, 0)
        EXACT(U64, uint64_t, UINT64, 0)
#undef EXACT
    case DOME_KIND_STRUCT:
        return false;
    default:
        return true;
    }
}

void dome__find_nearest(const double *columns, const double *rows, uint64_t width, uint64_t k, int64_t *number)
{
    set()->find_nearest(columns, rows, width, k, number);
}
