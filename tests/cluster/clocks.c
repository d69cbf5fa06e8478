/* A program for the clocks of traces: clocks ROUNDS. The clocks of its hosts are shifted and run too fast or too slow, as far as
 * the trace can see. In each round one task is late for a barrier. */
#include <dome/dome.h>

#include <glib.h>
#include <stdlib.h>
#include <unistd.h>

/* Set for every rank: it is this host's clock. */
static void shift_clock(void)
{
    static const char *const clocks[] = {"0:0", "5000000000:200", "-3000000000:-100"};
    const char *clock = clocks[MIN(g_get_host_name()[1] - '1', 2)]; /* h1, h2, h3 */
    char *text = g_strdup_printf("0:%s,1:%s,2:%s", clock, clock, clock);
    g_setenv("DOME_TRACE_TEST_SHIFT", text, TRUE);
    g_free(text);
}

int main(int argc, char **argv)
{
    shift_clock();
    dome_env *env = dome_init(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    for (int k = 0; k < rounds; k++) {
        if (k % dome_size(env) == dome_rank(env))
            usleep(10000);
        dome_barrier(env);
    }
    return dome_finalize(env);
}
