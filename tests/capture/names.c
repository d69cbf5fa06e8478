/* names: a program whose names no terminal should get as they are. dome-cc makes no such names; a damaged image may have them. */
#include "hand.h"

#define BAD "bad\033[31m\n\233name"

struct pair {
    int number;
    struct pair *next;
};
struct saved {
    struct pair *pair;
    int step;
};

static dome_capture_type pair_type;
static dome_capture_type pair_pointer = DOME_CAPTURE_POINTER_TO("*" BAD, &pair_type);
static const dome_capture_member pair_members[] = {{"1" BAD, &dome_capture_int, offsetof(struct pair, number)},
                                                   {"2" BAD, &pair_pointer, offsetof(struct pair, next)}};
static dome_capture_type pair_type = DOME_CAPTURE_STRUCT("pair" BAD, struct pair, pair_members);
static const dome_capture_member saved_members[] = {{"3" BAD, &pair_pointer, offsetof(struct saved, pair)},
                                                    {"4" BAD, &dome_capture_int, offsetof(struct saved, step)}};
static dome_capture_type saved_type = DOME_CAPTURE_STRUCT("saved" BAD, struct saved, saved_members);
static dome_capture_function program_function = {.name = "program" BAD, .saved = &saved_type};
static struct pair pair;

static int program(int argc, char **argv)
{
    int point, step = 0;
    struct pair *at = &pair;
    (void)argv;
    if (RESUMES) {
        const struct saved *s = dome_capture_pop(&program_function, &point);
        at = s->pair, step = s->step;
        goto point_1;
    }
    for (; step < 4; step++) {
        at->next = dome_capture_malloc(&pair_type, sizeof *at);
        if (!at->next)
            return 1;
        at->next->next = &pair;
    point_1:
        if (POLLED) {
            struct saved *s = dome_capture_push(&program_function, 1);
            *s = (struct saved){at, step};
            return 0;
        }
        at = at->next;
        at->number = argc + step;
    }
    return 0;
}

static dome_capture_global globals[] = {{"global" BAD, &pair, &pair_type, 1, 0}};
static dome_capture_function *functions[] = {&program_function};
static dome_capture_module module = {
    .size = sizeof module, .name = "names.c", .globals = globals, .nglobals = 1, .functions = functions, .nfunctions = 1};

__attribute__((constructor)) static void enlist(void)
{
    dome_capture_register(&module);
}

int main(int argc, char **argv)
{
    return dome_capture_main(argc, argv, program);
}
