/* graph NODES POLL: a graph on the heap with random edges and a dense array beside it, captured at a poll. Prints a checksum of
 * it before and after, and of what a walk along the edges finds. */
#include "hand.h"

#include <inttypes.h>
#include <stdlib.h>

struct node {
    int id;
    double weight;
    struct node *edges[3];
};
static dome_capture_type node_type;
static dome_capture_type node_pointer = DOME_CAPTURE_POINTER_TO("struct node *", &node_type);
static dome_capture_type edges_type = DOME_CAPTURE_ARRAY("struct node *[3]", &node_pointer, struct node *, 3);
static const dome_capture_member node_members[] = {MEMBER(id, node, dome_capture_int), MEMBER(weight, node, dome_capture_double),
                                                   MEMBER(edges, node, edges_type)};
static dome_capture_type node_type = DOME_CAPTURE_STRUCT("struct node", struct node, node_members);

static struct node *entry;
static double *dense;
static uint64_t state = 88172645463325252u;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Follows edges, each of which is chosen by what was seen before. */
static uint64_t walk(long steps)
{
    uint64_t seen = 1;
    const struct node *at = entry;
    for (long k = 0; k < steps; k++) {
        seen = seen * 6364136223846793005u + (uint64_t)at->id + (uint64_t)(at->weight * 4);
        at = at->edges[(seen >> 33) % 3];
    }
    return seen;
}

struct program_saved {
    long nodes, step;
    uint64_t seen;
};
static const dome_capture_member program_saved_members[] = {MEMBER(nodes, program_saved, dome_capture_long),
                                                            MEMBER(step, program_saved, dome_capture_long),
                                                            MEMBER(seen, program_saved, dome_capture_ullong)};
STRUCT(program_saved);
static dome_capture_function program_function = {.name = "program", .saved = &program_saved_type};

static int build(long nodes)
{
    struct node **all = malloc((size_t)nodes * sizeof *all);
    dense = dome_capture_malloc(&dome_capture_double, (size_t)nodes * sizeof *dense);
    if (nodes < 1 || !all || !dense)
        return 1;
    for (long k = 0; k < nodes; k++) {
        all[k] = dome_capture_malloc(&node_type, sizeof *all[k]);
        if (!all[k])
            return 1;
        all[k]->id = (int)k;
        all[k]->weight = (double)(draw() % 1000) / 4;
        dense[k] = (double)k / 2;
    }
    for (long k = 0; k < nodes; k++)
        for (int e = 0; e < 3; e++)
            all[k]->edges[e] = all[draw() % (uint64_t)nodes];
    entry = all[0];
    free(all);
    return 0;
}

static int program(int argc, char **argv)
{
    long nodes = 0, step = 0;
    uint64_t seen = 0;
    int point;
    if (RESUMES) {
        const struct program_saved *s = dome_capture_pop(&program_function, &point);
        nodes = s->nodes, step = s->step, seen = s->seen;
        goto point_1;
    }
    if (argc != 3)
        return 2;
    nodes = atol(argv[1]);
    if (build(nodes))
        return 1;
    seen = walk(4 * nodes);
    dome_capture_request_at((uint64_t)atoll(argv[2]));
    for (; step < 3; step++) {
    point_1:
        if (POLLED) {
            SAVE(program, 1, nodes, step, seen);
            return 0;
        }
        dense[step % nodes] += (double)step;
    }
    double sum = 0;
    for (long k = 0; k < nodes; k++)
        sum += dense[k];
    printf("%s %016" PRIx64 " %.17g, %zu blocks\n", walk(4 * nodes) == seen ? "same" : "another graph", seen, sum,
           dome_capture_blocks());
    return 0;
}

static dome_capture_type *types[] = {&node_type};
static dome_capture_type double_pointer = DOME_CAPTURE_POINTER_TO("double *", &dome_capture_double);
static dome_capture_global globals[] = {{"graph.c:entry", &entry, &node_pointer, 1, 0},
                                        {"graph.c:dense", &dense, &double_pointer, 1, 0},
                                        {"graph.c:state", &state, &dome_capture_ullong, 1, 0}};
static dome_capture_function *functions[] = {&program_function};
static dome_capture_module module = {.size = sizeof module,
                                     .name = "graph.c",
                                     .globals = globals,
                                     .nglobals = 3,
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
    return dome_capture_main(argc, argv, program);
}
