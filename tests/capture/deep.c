/* deep LEVELS: recursion, captured at its deepest place and once on the way back up, with a pointer from each level to the one
 * above. Prints a sum. deep LEVELS POLL: captured at that poll instead. */
#include "hand.h"

#include <inttypes.h>
#include <stdlib.h>

struct level_memory {
    long number;
    struct level_memory *above;
};
struct level_saved {
    long n;
    struct level_memory *above;
};
static dome_capture_type level_memory_type;
static dome_capture_type level_pointer = DOME_CAPTURE_POINTER_TO("struct level_memory *", &level_memory_type);
static const dome_capture_member level_memory_members[] = {MEMBER(number, level_memory, dome_capture_long),
                                                           MEMBER(above, level_memory, level_pointer)};
STRUCT(level_memory);
static const dome_capture_member level_saved_members[] = {MEMBER(n, level_saved, dome_capture_long),
                                                          MEMBER(above, level_saved, level_pointer)};
STRUCT(level_saved);
static dome_capture_function level_function = {.name = "level", .saved = &level_saved_type, .memory = &level_memory_type};

static long level(long n, struct level_memory *above)
{
    int point;
    long t;
    struct level_memory *m = dome_capture_enter(&level_function);
    if (RESUMES) {
        const struct level_saved *s = dome_capture_pop(&level_function, &point);
        n = s->n, above = s->above;
        if (point == 1)
            goto point_1;
        goto point_2;
    }
    m->number = n;
    m->above = above;
point_1:
    if (POLLED) {
        SAVE(level, 1, n, above);
        return 0;
    }
    if (n > 1) {
    point_2:
        t = level(n - 1, m);
        if (CAPTURED) {
            SAVE(level, 2, n, above);
            return 0;
        }
        m->number += t;
    }
    t = m->number + (m->above ? m->above->number % 3 : 0);
    dome_capture_leave(&level_function);
    return t;
}

struct program_saved {
    long levels, round;
    long sum;
};
static const dome_capture_member program_saved_members[] = {MEMBER(levels, program_saved, dome_capture_long),
                                                            MEMBER(round, program_saved, dome_capture_long),
                                                            MEMBER(sum, program_saved, dome_capture_long)};
STRUCT(program_saved);
static dome_capture_function program_function = {.name = "program", .saved = &program_saved_type};

static int program(int argc, char **argv)
{
    long levels = 0, round = 0, sum = 0, t;
    int point;
    if (RESUMES) {
        const struct program_saved *s = dome_capture_pop(&program_function, &point);
        levels = s->levels, round = s->round, sum = s->sum;
        goto point_1;
    }
    if (argc < 2)
        return 2;
    levels = atol(argv[1]);
    dome_capture_request_at(argc > 2 ? (uint64_t)atoll(argv[2]) : (uint64_t)levels);
    for (; round < 2; round++) {
    point_1:
        t = level(levels, NULL);
        if (CAPTURED) {
            SAVE(program, 1, levels, round, sum);
            return 0;
        }
        sum += t % 1000003;
    }
    printf("%ld, %" PRIu64 " polls\n", sum, dome_capture_polls());
    return 0;
}

static dome_capture_function *functions[] = {&level_function, &program_function};
static dome_capture_module module = {.size = sizeof module, .name = "deep.c", .functions = functions, .nfunctions = 2};

__attribute__((constructor)) static void enlist(void)
{
    dome_capture_register(&module);
}

int main(int argc, char **argv)
{
    return dome_capture_main(argc, argv, program);
}
