/* What collectives cost on many tasks: the library's own code, run by as many simulated tasks, each message counted.
 *
 *     scaling [--tasks N] [--near K] [--latency S] [--overhead S] [--per-byte S] [--share S]
 *
 * For 2, 4, ... N tasks (4096), K to a host (1): the most messages and bytes that one task sends, how many go one after the
 * other, and the time by the constants: what a message takes from task to task, what it costs its sender, what each byte costs,
 * and what a share among the tasks of a host takes. docs/scaling.md says where the defaults come from. */
#include "../tests/collective_costs.h"

#include <inttypes.h>

int main(int argc, char **argv)
{
    sim_constants k = {.latency = 30e-6, .overhead = 10e-6, .per_byte = 1e-9, .share = 1e-6};
    int most = 4096, near = 1;
    double last = 0, first = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *names[] = {"--latency", "--overhead", "--per-byte", "--share"};
        double *values[] = {&k.latency, &k.overhead, &k.per_byte, &k.share}, value = atof(argv[i + 1]);
        if (strcmp(argv[i], "--tasks") == 0)
            most = (int)value;
        else if (strcmp(argv[i], "--near") == 0)
            near = (int)value;
        for (int n = 0; n < 4; n++)
            if (strcmp(argv[i], names[n]) == 0)
                *values[n] = value;
    }
    if (most < 2 || near < 1 || near > DOME_NEAR_MAX) {
        fprintf(stderr, "scaling: --tasks takes 2 or more, --near 1 to %d\n", DOME_NEAR_MAX);
        return 2;
    }
    printf("| tasks | collective | messages of a task | bytes of a task | messages of all | one after the other | us |\n");
    printf("|---:|---|---:|---:|---:|---:|---:|\n");
    for (int size = 2; size <= most; size *= 2)
        for (size_t c = 0; c < G_N_ELEMENTS(cost_cases); c++) {
            sim_cost cost;
            if (sim_run(size, near > 1 ? (size + near - 1) / near : 0, &k, cost_cases[c].work, NULL, &cost)) {
                fprintf(stderr, "scaling: %s on %d tasks is wrong\n", cost_cases[c].name, size);
                return 1;
            }
            printf("| %d | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %u | %.1f |\n", size, cost_cases[c].name, cost.messages,
                   cost.bytes, cost.all_messages, cost.depth, 1e6 * cost.seconds);
            if (cost_cases[c].work == cost_allreduce) {
                first = size == 2 ? cost.seconds : first;
                last = cost.seconds;
            }
        }
    printf("\nall-reduce of an exact sum: %.1f us on 2 tasks, %.1f us on the most\n", 1e6 * first, 1e6 * last);
    return 0;
}
