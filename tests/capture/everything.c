/* A program with variables of all kinds, translated by hand: everything FILE STEPS [POLL]. It is captured at that poll, and
 * writes FILE, whose bytes are the same however often it was captured, stopped and restarted, and wherever. */
#include "hand.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

struct node;
typedef int64_t (*operation)(int64_t, int64_t);
enum kind { NUMBER, REAL, NODE };

struct value {
    int tag;
    union {
        long number;
        double real;
        struct node *node;
    } is;
};

struct part {
    short few[3];
    unsigned char flag;
    float ratio;
};

struct node {
    int id;
    long long wide;
    struct node *next, *other;
    struct part parts[2];
    char text[5];
    char *text_end;
    const char *name; /* a literal */
    operation apply;
    struct value value;
    float *inside; /* a member of some other node */
    FILE *log;
};

struct list {
    size_t count;
    unsigned long last;
    struct node *nodes[];
};

static int which_value(const void *is)
{
    struct value v;
    memcpy(&v, (const char *)is - offsetof(struct value, is), offsetof(struct value, is));
    return v.tag;
}

static dome_capture_type node_type;
static dome_capture_type node_pointer = DOME_CAPTURE_POINTER_TO("struct node *", &node_type);
static dome_capture_type char_pointer = DOME_CAPTURE_POINTER_TO("char *", &dome_capture_char);
static dome_capture_type float_pointer = DOME_CAPTURE_POINTER_TO("float *", &dome_capture_float);
static dome_capture_type int_pointer = DOME_CAPTURE_POINTER_TO("int *", &dome_capture_int);
static const dome_capture_member is_members[] = {
    {"number", &dome_capture_long, 0}, {"real", &dome_capture_double, 0}, {"node", &node_pointer, 0}};
static dome_capture_type is_type = {"union value.is",
                                    DOME_CAPTURE_KIND_UNION,
                                    DOME_KIND_U8,
                                    sizeof(((struct value *)0)->is),
                                    NULL,
                                    3,
                                    is_members,
                                    which_value,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL};
static const dome_capture_member value_members[] = {MEMBER(tag, value, dome_capture_int), MEMBER(is, value, is_type)};
STRUCT(value);
static dome_capture_type few_type = DOME_CAPTURE_ARRAY("short [3]", &dome_capture_short, short, 3);
static const dome_capture_member part_members[] = {MEMBER(few, part, few_type), MEMBER(flag, part, dome_capture_uchar),
                                                   MEMBER(ratio, part, dome_capture_float)};
STRUCT(part);
static dome_capture_type parts_type = DOME_CAPTURE_ARRAY("struct part [2]", &part_type, struct part, 2);
static dome_capture_type text_type = DOME_CAPTURE_ARRAY("char [5]", &dome_capture_char, char, 5);
static const dome_capture_member node_members[] = {
    MEMBER(id, node, dome_capture_int),   MEMBER(wide, node, dome_capture_llong), MEMBER(next, node, node_pointer),
    MEMBER(other, node, node_pointer),    MEMBER(parts, node, parts_type),        MEMBER(text, node, text_type),
    MEMBER(text_end, node, char_pointer), MEMBER(name, node, char_pointer),       MEMBER(apply, node, dome_capture_pointer),
    MEMBER(value, node, value_type),      MEMBER(inside, node, float_pointer),    MEMBER(log, node, dome_capture_pointer),
};
static dome_capture_type node_type = DOME_CAPTURE_STRUCT("struct node", struct node, node_members);
static dome_capture_type nodes_type = DOME_CAPTURE_FLEXIBLE("struct node *[]", &node_pointer);
static const dome_capture_member list_members[] = {MEMBER(count, list, dome_capture_size), MEMBER(last, list, dome_capture_ulong),
                                                   MEMBER(nodes, list, nodes_type)};
static dome_capture_type list_type = DOME_CAPTURE_STRUCT("struct list", struct list, list_members);
static dome_capture_type list_pointer = DOME_CAPTURE_POINTER_TO("struct list *", &list_type);

/* ---- globals ---- */

static int64_t total;
static double matrix[40][30];
static double *best = &matrix[0][0];
static struct list *all;
static const char literal_0[] = "north", literal_1[] = "east", literal_2[] = "south", literal_3[] = "west";
static const char *const names[] = {literal_0, literal_1, literal_2, literal_3};
static char *words[4];
static FILE *output;
static int program_calls; /* a static variable of program */

static int64_t add(int64_t a, int64_t b)
{
    return a + b;
}

static int64_t mix(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * 31 + (uint64_t)b);
}

/* ---- descend: recursion, locals whose address is kept elsewhere ---- */

struct descend_memory {
    int depth;
    int ring[7];
    struct node here;
};
struct descend_saved {
    int levels, k;
    const int *above;
    struct node *at;
    int64_t sum;
};
static dome_capture_type ring_type = DOME_CAPTURE_ARRAY("int [7]", &dome_capture_int, int, 7);
static const dome_capture_member descend_memory_members[] = {MEMBER(depth, descend_memory, dome_capture_int),
                                                             MEMBER(ring, descend_memory, ring_type),
                                                             MEMBER(here, descend_memory, node_type)};
STRUCT(descend_memory);
static const dome_capture_member descend_saved_members[] = {
    MEMBER(levels, descend_saved, dome_capture_int), MEMBER(k, descend_saved, dome_capture_int),
    MEMBER(above, descend_saved, int_pointer), MEMBER(at, descend_saved, node_pointer),
    MEMBER(sum, descend_saved, dome_capture_llong)};
STRUCT(descend_saved);
static dome_capture_function descend_function = {.name = "descend", .saved = &descend_saved_type, .memory = &descend_memory_type};

static int64_t descend(int levels, const int *above, struct node *at)
{
    int k = 0, point;
    int64_t sum = 0, t;
    struct descend_memory *m = dome_capture_enter(&descend_function);
    if (RESUMES) {
        const struct descend_saved *s = dome_capture_pop(&descend_function, &point);
        levels = s->levels, k = s->k, above = s->above, at = s->at, sum = s->sum;
        if (point == 1)
            goto point_1;
        goto point_2;
    }
    m->depth = levels;
    m->here.other = at;
    m->here.id = at->id + 1;
    at->other = &m->here; /* a node of the heap, or of the caller's, points into this function */
    for (; k < 7; k++) {
    point_1:
        if (POLLED) {
            SAVE(descend, 1, levels, k, above, at, sum);
            return 0;
        }
        m->ring[k] = *above + k * levels;
        at->inside = &m->here.parts[k % 2].ratio;
        *at->inside += (float)k / 4;
    }
    if (levels > 0) {
    point_2:
        t = descend(levels - 1, &m->ring[levels % 7], &m->here);
        if (CAPTURED) {
            SAVE(descend, 2, levels, k, above, at, sum);
            return 0;
        }
        sum += t;
    }
    sum += m->ring[6] + m->depth + (int64_t)(*at->inside * 8) + at->other->id;
    at->other = NULL;
    at->inside = &at->parts[0].ratio;
    dome_capture_leave(&descend_function);
    return sum;
}

/* ---- build: the heap ---- */

struct build_saved {
    int id;
    struct node *n;
    const char *from;
};
static const dome_capture_member build_saved_members[] = {
    MEMBER(id, build_saved, dome_capture_int), MEMBER(n, build_saved, node_pointer), MEMBER(from, build_saved, char_pointer)};
STRUCT(build_saved);
static dome_capture_function build_function = {.name = "build", .saved = &build_saved_type};

static struct node *build(int id)
{
    struct node *n = NULL;
    const char *from = NULL;
    int point;
    if (RESUMES) {
        const struct build_saved *s = dome_capture_pop(&build_function, &point);
        id = s->id, n = s->n, from = s->from;
        goto point_1;
    }
    n = dome_capture_malloc(&node_type, sizeof *n);
    n->id = id;
    n->wide = -((long long)id << 33);
    n->name = names[id % 4] + id % 3; /* into a literal */
    from = n->name;
point_1:
    if (POLLED) {
        SAVE(build, 1, id, n, from);
        return NULL;
    }
    n->text_end = n->text + 1 + id % 5; /* up to one past the last */
    memset(n->text, 'a' + id % 26, (size_t)(n->text_end - n->text));
    n->apply = id % 2 ? add : mix;
    n->value.tag = id % 4 - 1 + (id % 4 == 0);
    if (n->value.tag == NUMBER)
        n->value.is.number = -id;
    else if (n->value.tag == REAL)
        n->value.is.real = id / 8.0;
    else
        n->value.is.node = all->count > 0 ? all->nodes[all->count / 2] : n;
    n->parts[1].few[id % 3] = (short)-id;
    n->parts[0].flag = (unsigned char)(200 + id);
    n->log = id % 3 == 0 ? output : stdout;
    n->inside = &n->parts[id % 2].ratio;
    *n->inside = (float)(strlen(from)) / 2;
    return n;
}

/* ---- the program ---- */

struct program_saved {
    int steps, step;
    struct node *n;
    int64_t t;
    int argc;
    char **argv;
};
static dome_capture_type arguments_type = DOME_CAPTURE_POINTER_TO("char **", &char_pointer);
static const dome_capture_member program_saved_members[] = {
    MEMBER(steps, program_saved, dome_capture_int), MEMBER(step, program_saved, dome_capture_int),
    MEMBER(n, program_saved, node_pointer),         MEMBER(t, program_saved, dome_capture_llong),
    MEMBER(argc, program_saved, dome_capture_int),  MEMBER(argv, program_saved, arguments_type)};
STRUCT(program_saved);
static dome_capture_function program_function = {.name = "program", .saved = &program_saved_type};

/* Polls nowhere, so it is as in any program. */
static void account(const struct node *n, int step)
{
    fprintf(output, "%d: %d %lld %s %.*s %g %" PRId64, step, n->id, n->wide, n->name, (int)(n->text_end - n->text), n->text,
            *n->inside, n->apply(total, step));
    if (n->value.tag == NUMBER)
        fprintf(output, " number %ld", n->value.is.number);
    else if (n->value.tag == REAL)
        fprintf(output, " real %g", n->value.is.real);
    else
        fprintf(output, " node %d", n->value.is.node->id);
    fprintf(output, " %d%d %s best %d,%d next %d log %d\n", n->parts[1].few[step % 3], n->parts[0].flag, words[step % 4],
            (int)((best - &matrix[0][0]) / 30), (int)((best - &matrix[0][0]) % 30), n->next ? n->next->id : -1, n->log == output);
    fflush(n->log);
}

static int program(int argc, char **argv)
{
    int steps = 0, step = 0, point;
    struct node *n = NULL, *made;
    int64_t t = 0, got;
    if (RESUMES) {
        const struct program_saved *s = dome_capture_pop(&program_function, &point);
        steps = s->steps, step = s->step, n = s->n, t = s->t, argc = s->argc, argv = s->argv;
        switch (point) {
        case 1:
            goto point_1;
        case 2:
            goto point_2;
        default:
            goto point_3;
        }
    }
    if (argc > 3)
        dome_capture_request_at((uint64_t)atoll(argv[3]));
    if (argc < 3)
        return 2;
    steps = atoi(argv[2]);
    output = dome_capture_fopen(argv[1], "w");
    if (!output)
        return 1;
    all = dome_capture_malloc(&list_type, sizeof *all);
    for (int k = 0; k < 4; k++)
        words[k] = dome_capture_strdup(names[3 - k]);
    for (; step < steps; step++) {
    point_1:
        made = build(step);
        if (CAPTURED) {
            SAVE(program, 1, steps, step, n, t, argc, argv);
            return 0;
        }
        n = made;
        n->next = all->count > 0 ? all->nodes[(size_t)step * 7 % all->count] : n;
        if (all->count > 2)
            all->nodes[0]->next = n; /* cycles */
        all = dome_capture_realloc(&list_type, all, offsetof(struct list, nodes) + (all->count + 1) * sizeof *all->nodes);
        all->nodes[all->count++] = n;
        all->last = (unsigned long)step << 20;
        if (step % 5 == 4) { /* holes in the heap */
            dome_capture_free(words[step % 4]);
            words[step % 4] = dome_capture_strndup(argv[0] && *argv[0] ? "an argument" : "", 1 + (size_t)step % 9);
        }
        matrix[step % 40][step % 30] = step * 1.5;
        if (*best < matrix[step % 40][step % 30])
            best = &matrix[step % 40][step % 30];
    point_2:
        got = descend(step % 5, (const int *)&n->id, n);
        if (CAPTURED) {
            SAVE(program, 2, steps, step, n, t, argc, argv);
            return 0;
        }
        t = got;
        total = n->apply(total, t);
        program_calls++;
    point_3:
        if (POLLED) {
            SAVE(program, 3, steps, step, n, t, argc, argv);
            return 0;
        }
        account(n, step);
    }
    fprintf(output, "%d calls, total %" PRId64 ", %zu nodes, last %lu, file %s\n", program_calls, total, all->count, all->last,
            strrchr(argv[1], '.') ? strrchr(argv[1], '.') : "");
    for (size_t k = 0; k < all->count; k++)
        dome_capture_free(all->nodes[k]);
    dome_capture_free(all);
    return dome_capture_fclose(output) != 0;
}

/* ---- what the library must know ---- */

static dome_capture_type double_pointer = DOME_CAPTURE_POINTER_TO("double *", &dome_capture_double);
static dome_capture_global globals[] = {
    {"everything.c:total", &total, &dome_capture_llong, 1, 0},
    {"everything.c:matrix", matrix, &dome_capture_double, 40 * 30, 0},
    {"everything.c:best", &best, &double_pointer, 1, 0},
    {"everything.c:all", &all, &list_pointer, 1, 0},
    {"everything.c:words", words, &char_pointer, 4, 0},
    {"everything.c:output", &output, &dome_capture_pointer, 1, 0},
    {"everything.c:program:calls", &program_calls, &dome_capture_int, 1, 0},
    {"everything.c:literal 0", literal_0, &dome_capture_char, sizeof literal_0, DOME_CAPTURE_GLOBAL_CONSTANT},
    {"everything.c:literal 1", literal_1, &dome_capture_char, sizeof literal_1, DOME_CAPTURE_GLOBAL_CONSTANT},
    {"everything.c:literal 2", literal_2, &dome_capture_char, sizeof literal_2, DOME_CAPTURE_GLOBAL_CONSTANT},
    {"everything.c:literal 3", literal_3, &dome_capture_char, sizeof literal_3, DOME_CAPTURE_GLOBAL_CONSTANT},
};
static const dome_capture_code codes[] = {{"everything.c:add", (void (*)(void))add}, {"everything.c:mix", (void (*)(void))mix}};
static dome_capture_function *functions[] = {&build_function, &descend_function, &program_function};
static dome_capture_type *types[] = {&node_type, &list_type, &list_pointer};
static dome_capture_module module = {.size = sizeof module,
                                     .name = "everything.c",
                                     .globals = globals,
                                     .nglobals = sizeof globals / sizeof *globals,
                                     .functions = functions,
                                     .nfunctions = sizeof functions / sizeof *functions,
                                     .codes = codes,
                                     .ncodes = sizeof codes / sizeof *codes,
                                     .types = types,
                                     .ntypes = sizeof types / sizeof *types};

__attribute__((constructor)) static void enlist(void)
{
    dome_capture_register(&module);
}

int main(int argc, char **argv)
{
    return dome_capture_main(argc, argv, program);
}
