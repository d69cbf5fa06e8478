/* queens N: the number of ways to place N queens. The example of docs/capture.md. */
#include <dome/capture.h>

#include <stdlib.h>

static int n; /* a global: registered below */

/* place: its locals whose address is taken, and its other locals. */
struct place_memory {
    int column;
    const int *above;
};
struct place_saved {
    int *queens;
    int row;
    long found;
};
static dome_capture_type int_pointer = DOME_CAPTURE_POINTER_TO("int *", &dome_capture_int);
static const dome_capture_member place_memory_members[] = {
    {"column", &dome_capture_int, offsetof(struct place_memory, column)},
    {"above", &int_pointer, offsetof(struct place_memory, above)},
};
static const dome_capture_member place_saved_members[] = {
    {"queens", &int_pointer, offsetof(struct place_saved, queens)},
    {"row", &dome_capture_int, offsetof(struct place_saved, row)},
    {"found", &dome_capture_long, offsetof(struct place_saved, found)},
};
static dome_capture_type place_memory = DOME_CAPTURE_STRUCT("place memory", struct place_memory, place_memory_members);
static dome_capture_type place_saved = DOME_CAPTURE_STRUCT("place saved", struct place_saved, place_saved_members);
static dome_capture_function place_function = {.name = "place", .saved = &place_saved, .memory = &place_memory};

/* Never polls, so it is as in any program. */
static int attacked(const int *queens, int row, int column)
{
    for (int r = 0; r < row; r++)
        if (queens[r] == column || abs(queens[r] - column) == row - r)
            return 1;
    return 0;
}

static long place(int *queens, int row, const int *above)
{
    long found = 0, t;
    struct place_memory *m = dome_capture_enter(&place_function); /* zeros, or the values of before */
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        int point;
        const struct place_saved *s = dome_capture_pop(&place_function, &point);
        queens = s->queens, row = s->row, found = s->found;
        if (point == 1)
            goto point_1;
        goto point_2;
    }
    m->above = above;
    if (row == n) {
        dome_capture_leave(&place_function);
        return 1;
    }
    for (m->column = 0; m->column < n; m->column++) {
    point_1:
        if (dome_capture_status && dome_capture_poll()) { /* a poll */
            struct place_saved *s = dome_capture_push(&place_function, 1);
            *s = (struct place_saved){queens, row, found};
            return 0; /* nobody looks at the value */
        }
        if (attacked(queens, row, m->column) || (m->above && *m->above == m->column))
            continue;
        queens[row] = m->column;
    point_2:
        t = place(queens, row + 1, &m->column); /* a call that may poll */
        if (dome_capture_status & DOME_CAPTURE_CAPTURING) {
            struct place_saved *s = dome_capture_push(&place_function, 2);
            *s = (struct place_saved){queens, row, found};
            return 0;
        }
        found += t; /* only now: while the program is captured t is no result */
    }
    dome_capture_leave(&place_function);
    return found;
}

struct program_saved {
    int *queens;
};
static const dome_capture_member program_saved_members[] = {{"queens", &int_pointer, offsetof(struct program_saved, queens)}};
static dome_capture_type program_saved = DOME_CAPTURE_STRUCT("program saved", struct program_saved, program_saved_members);
static dome_capture_function program_function = {.name = "program", .saved = &program_saved};

static int program(int argc, char **argv)
{
    int *queens = NULL;
    long found;
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        int point;
        const struct program_saved *s = dome_capture_pop(&program_function, &point);
        queens = s->queens;
        goto point_1;
    }
    n = argc > 1 ? atoi(argv[1]) : 8;
    queens = dome_capture_calloc(&dome_capture_int, (size_t)n, sizeof *queens);
    if (!queens)
        return 1;
point_1:
    found = place(queens, 0, NULL);
    if (dome_capture_status & DOME_CAPTURE_CAPTURING) {
        struct program_saved *s = dome_capture_push(&program_function, 1);
        *s = (struct program_saved){queens};
        return 0;
    }
    printf("%ld ways to place %d queens\n", found, n);
    dome_capture_free(queens);
    return 0;
}

static dome_capture_global globals[] = {{"queens.c:n", &n, &dome_capture_int, 1, 0}};
static dome_capture_function *functions[] = {&place_function, &program_function};
static dome_capture_module module = {
    .size = sizeof module, .name = "queens.c", .globals = globals, .nglobals = 1, .functions = functions, .nfunctions = 2};

__attribute__((constructor)) static void enlist(void)
{
    dome_capture_register(&module);
}

int main(int argc, char **argv)
{
    return dome_capture_main(argc, argv, program);
}
