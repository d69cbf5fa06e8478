/* circle: a Dome program that is saved inside its calls, after the pattern of dome/capture.h: a vector, and blocks of the heap in
 * a circle, to which each step adds one. It prints a line for each step. */
#include <dome/capture.h>
#include <dome/dome.h>

#include <stddef.h>
#include <stdio.h>

enum { STEPS = 6, LENGTH = 100 };

struct node {
    int step;
    struct node *next;
};
struct program_saved {
    dome_env *env;
    dvec *x;
    struct node *circle;
    int step;
};

static dome_capture_type node_type;
static dome_capture_type node_pointer = DOME_CAPTURE_POINTER_TO("struct node *", &node_type);
static dome_capture_type handle = DOME_CAPTURE_POINTER_TO("handle", NULL);
static const dome_capture_member node_members[] = {{"step", &dome_capture_int, offsetof(struct node, step)},
                                                   {"next", &node_pointer, offsetof(struct node, next)}};
static dome_capture_type node_type = DOME_CAPTURE_STRUCT("struct node", struct node, node_members);
static const dome_capture_member saved_members[] = {{"env", &handle, offsetof(struct program_saved, env)},
                                                    {"x", &handle, offsetof(struct program_saved, x)},
                                                    {"circle", &node_pointer, offsetof(struct program_saved, circle)},
                                                    {"step", &dome_capture_int, offsetof(struct program_saved, step)}};
static dome_capture_type program_saved = DOME_CAPTURE_STRUCT("program saved", struct program_saved, saved_members);
static dome_capture_function program_function = {.name = "program", .saved = &program_saved};

static struct node *first; /* a global: registered below */

/* The new one stands behind the first. */
static struct node *add(struct node *circle, int step)
{
    struct node *n = dome_capture_malloc(&node_type, sizeof *n);
    if (!n)
        return NULL;
    n->step = step;
    n->next = circle ? circle->next : n;
    if (circle)
        circle->next = n;
    else
        first = n;
    return n;
}

static int program(int argc, char **argv)
{
    dome_env *env;
    dvec *x = NULL;
    struct node *circle = NULL;
    int step;
    if (dome_capture_status & DOME_CAPTURE_RESUMING) {
        int point;
        const struct program_saved *s = dome_capture_pop(&program_function, &point);
        env = s->env, x = s->x, circle = s->circle, step = s->step;
        goto point_1;
    }
    env = dome_capture_init(&argc, &argv);
    if (!env || !(x = dvec_new(env, "x", DOME_F64, LENGTH)))
        return 1;
    for (step = 1; step <= STEPS; step++) {
        circle = add(circle, step);
        if (!circle || dvec_adds(x, x, step) != DOME_OK)
            return 1;
        dome_status status;
    point_1:
        status = dome_capture_checkpoint(env);
        if (dome_capture_status & DOME_CAPTURE_CAPTURING) {
            struct program_saved *s = dome_capture_push(&program_function, 1);
            *s = (struct program_saved){env, x, circle, step};
            return 0;
        }
        int blocks = 1, steps = first->step;
        if (status != DOME_OK)
            return 1;
        for (const struct node *n = first->next; n != first; n = n->next, blocks++)
            steps += n->step;
        const double sum = dvec_sum(x); /* collective */
        if (dome_rank(env) == 0)
            printf("step %d: %g, %d blocks of %d\n", step, sum, blocks, steps);
    }
    dvec_free(x);
    return dome_capture_finalize(env);
}

static dome_capture_global globals[] = {{"circle.c:first", &first, &node_pointer, 1, 0}};
static dome_capture_function *functions[] = {&program_function};
static dome_capture_type *types[] = {&node_type}; /* of blocks of the heap */
static dome_capture_module module = {.size = sizeof module,
                                     .name = "circle.c",
                                     .globals = globals,
                                     .nglobals = 1,
                                     .functions = functions,
                                     .nfunctions = 1,
                                     .types = types,
                                     .ntypes = 1};

__attribute__((constructor)) static void enlist(void)
{
    dome_capture_register(&module);
}

int main(int argc, char **argv)
{
    return dome_capture_dome_main(argc, argv, program);
}
