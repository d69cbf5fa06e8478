#include "kernels/repeat.h"

#include <string.h>

typedef struct sixteen {
    uint64_t half[2];
} sixteen;

/* Loops for a size of values; those for the usual widths have a length that the compiler knows. */
#define REPEAT(T)                                                                                                                \
    static inline void fixed_##T(T *to, const T *from, uint64_t width, uint64_t elements)                                        \
    {                                                                                                                            \
        for (uint64_t i = 0; i < elements; i++)                                                                                  \
            for (uint64_t k = 0; k < width; k++)                                                                                 \
                to[i * width + k] = from[i];                                                                                     \
    }                                                                                                                            \
    static void elements_##T(T *to, const T *from, uint64_t width, uint64_t elements)                                            \
    {                                                                                                                            \
        if (width == 2)                                                                                                          \
            fixed_##T(to, from, 2, elements);                                                                                    \
        else if (width == 3)                                                                                                     \
            fixed_##T(to, from, 3, elements);                                                                                    \
        else if (width == 4)                                                                                                     \
            fixed_##T(to, from, 4, elements);                                                                                    \
        else                                                                                                                     \
            fixed_##T(to, from, width, elements);                                                                                \
    }                                                                                                                            \
    static void values_##T(T *to, const T *from, uint64_t width, uint64_t skipped, uint64_t count)                               \
    {                                                                                                                            \
        for (uint64_t k = skipped; k > 0 && k < width && count > 0; k++, count--) /* the rest of the first element */            \
            *to++ = *from;                                                                                                       \
        from += skipped > 0;                                                                                                     \
        const uint64_t whole = count / width;                                                                                    \
        elements_##T(to, from, width, whole);                                                                                    \
        for (uint64_t k = whole * width; k < count; k++)                                                                         \
            to[k] = from[whole];                                                                                                 \
    }
REPEAT(uint8_t)
REPEAT(uint16_t)
REPEAT(uint32_t)
REPEAT(uint64_t)
REPEAT(sixteen)
#undef REPEAT

/* Values of any other size. */
static void values_of_bytes(char *to, const char *from, const dome_repeat *r, uint64_t count)
{
    uint64_t k = r->skipped;
    for (; count > 0; count--, to += r->bytes) {
        memcpy(to, from, r->bytes);
        if (++k == r->width) {
            k = 0;
            from += r->bytes;
        }
    }
}

void dome__repeat_values(void *to, const void *from, const dome_repeat *r, uint64_t count)
{
    if (count == 0)
        return;
    switch (r->bytes) {
    case 1:
        values_uint8_t(to, from, r->width, r->skipped, count);
        break;
    case 2:
        values_uint16_t(to, from, r->width, r->skipped, count);
        break;
    case 4:
        values_uint32_t(to, from, r->width, r->skipped, count);
        break;
    case 8:
        values_uint64_t(to, from, r->width, r->skipped, count);
        break;
    case 16:
        values_sixteen(to, from, r->width, r->skipped, count);
        break;
    default:
        values_of_bytes(to, from, r, count);
        break;
    }
}

void dome__repeat_row(void *to, const void *row, const dome_repeat *r, uint64_t count)
{
    char *out = to;
    const uint64_t turn = r->width < count ? r->width : count, rest = r->width - r->skipped, late = rest < turn ? rest : turn;
    if (count == 0)
        return;
    /* one turn, then repeated copies of what is written */
    memcpy(out, (const char *)row + r->skipped * r->bytes, late * r->bytes);
    memcpy(out + late * r->bytes, row, (turn - late) * r->bytes);
    for (uint64_t done = turn, next; done < count; done += next) {
        next = done < count - done ? done : count - done;
        memcpy(out + done * r->bytes, out, next * r->bytes);
    }
}

uint64_t dome__kernel_repeat_values(const dome_kernel_args *args, uint64_t count)
{
    dome__repeat_values(args->out, args->in[0], &(dome_repeat){.width = args->width, .bytes = args->bytes}, count);
    return count;
}

uint64_t dome__kernel_repeat_row(const dome_kernel_args *args, uint64_t count)
{
    dome__repeat_row(args->out, args->value, &(dome_repeat){.width = args->width, .bytes = args->bytes}, count);
    return count;
}
