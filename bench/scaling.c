/* What collectives cost on many tasks: the library's own code, run by as many simulated tasks, each message counted.
 *
 *     scaling [--tasks N] [--near K] [--latency S] [--overhead S] [--per-byte S] [--share S]
 *     scaling --clusters K [--far-latency S] [--far-per-byte S] and the others
 *
 * For 2, 4, ... N tasks (4096), K to a host (1): the most messages and bytes that one task sends, how many go one after the
 * other, and the time by the constants: what a message takes from task to task, what it costs its sender, what each byte costs,
 * and what a share among the tasks of a host takes. docs/scaling.md says where the defaults come from.
 *
 * With --clusters: two clusters of three hosts, K tasks on each, and slow links between the clusters: messages and bytes that
 * cross them, and the time, where ranks are dealt to the hosts in turn and nothing is known of the links, and where ranks are in
 * the order of the ring and the links are known. Means over all orders in which the hosts may be named, and over all roots. */
#include "../tests/support/collective_costs.h"

#include <inttypes.h>

static void print_clusters(const sim_constants *constants, int near)
{
    static const struct {
        const char *name;
        int (*work)(dome_transport *, void *);
        uint64_t bytes;
    } cases[] = {
        {"broadcast of 8 bytes", cost_any_bcast, 8},
        {"broadcast of 8 MB", cost_any_bcast, 8 << 20},
        {"all-reduce of 8 bytes", cost_any_allreduce, 8},
        {"all-reduce of 8 MB", cost_any_allreduce, 8 << 20},
        {"barrier", cost_barrier, 0},
        {"all-gather", cost_allgather, 0},
        {"reduce", cost_reduce, 0},
        {"gather", cost_gather, 0},
    };
    printf("| collective | links between clusters | messages across, before | now | bytes across, before | now | ms before | now "
           "| ratio |\n");
    printf("|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        for (int one = 0; one < 2; one++) {
            sim_constants k = *constants;
            sim_cost before, now;
            k.one_medium = one;
            const double seconds[] = {
                cost_of_clusters(&k, 2 * CLUSTER_HOSTS * near, false, cases[i].work, cases[i].bytes, &before),
                cost_of_clusters(&k, 2 * CLUSTER_HOSTS * near, true, cases[i].work, cases[i].bytes, &now)};
            printf("| %s | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %" PRIu64 " | %.3f | %.3f | %.2f |\n", cases[i].name,
                   one ? "shared" : "one a host", before.far_messages, now.far_messages, before.far_bytes, now.far_bytes,
                   1e3 * seconds[0], 1e3 * seconds[1], seconds[1] / seconds[0]);
        }
}

static int print_sizes(const sim_constants *k, int most, int near)
{
    double last = 0, first = 0;
    printf("| tasks | collective | messages of a task | bytes of a task | messages of all | one after the other | us |\n");
    printf("|---:|---|---:|---:|---:|---:|---:|\n");
    for (int size = 2; size <= most; size *= 2)
        for (size_t c = 0; c < G_N_ELEMENTS(cost_cases); c++) {
            sim_cost cost;
            if (sim_run(size, near > 1 ? (size + near - 1) / near : 0, k, cost_cases[c].work, NULL, &cost)) {
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

int main(int argc, char **argv)
{
    sim_constants k = {.latency = 30e-6, .overhead = 10e-6, .per_byte = 1e-9, .share = 1e-6};
    sim_constants far = {.per_byte = 8e-9, .host_per_byte = 2e-10, .far_latency = 300e-6, .far_per_byte = 80e-9};
    int most = 4096, near = 1, clusters = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *names[] = {"--latency", "--overhead", "--per-byte", "--share", "--far-latency", "--far-per-byte"};
        double *values[] = {&k.latency, &k.overhead, &k.per_byte, &k.share, &far.far_latency, &far.far_per_byte};
        const double value = atof(argv[i + 1]);
        if (strcmp(argv[i], "--tasks") == 0)
            most = (int)value;
        else if (strcmp(argv[i], "--near") == 0)
            near = (int)value;
        else if (strcmp(argv[i], "--clusters") == 0)
            clusters = (int)value;
        for (size_t n = 0; n < G_N_ELEMENTS(names); n++)
            if (strcmp(argv[i], names[n]) == 0)
                *values[n] = value;
        if (strcmp(argv[i], "--per-byte") == 0)
            far.per_byte = value;
    }
    if (most < 2 || near < 1 || near > DOME_NEAR_MAX || clusters < 0 || 2 * CLUSTER_HOSTS * clusters > CLUSTER_TASKS) {
        fprintf(stderr, "scaling: --tasks takes 2 or more, --near 1 to %d, --clusters 1 to %d\n", DOME_NEAR_MAX,
                CLUSTER_TASKS / (2 * CLUSTER_HOSTS));
        return 2;
    }
    if (!clusters)
        return print_sizes(&k, most, near);
    far.latency = k.latency;
    far.overhead = k.overhead;
    far.share = k.share;
    print_clusters(&far, clusters);
    return 0;
}
