/* transit STEPS MS OPEN HOW COUNT: at boundary k something of task 0 and the last task is in transit, if digit k of OPEN (from
 * the first again behind the last) is 1. HOW: "send": a message of COUNT doubles that is received behind the boundary; "isend":
 * the same, and the sender's request is waited for there; "irecv": a request to receive is waited for there. A step takes MS
 * milliseconds. Prints the state at the end. */
#include <dome/dome.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
    const int64_t steps = atoi(argv[1]);
    const long ms = atoi(argv[2]);
    const char *open = argv[3], *how = argv[4];
    const size_t count = strtoul(argv[5], NULL, 10);
    double *data = calloc(count, sizeof *data);
    dvec *x = dvec_new(env, "x", DOME_F64, 1000);
    dscalar *step = dscalar_new(env, "step", DOME_I64);
    for (int64_t k = dscalar_get_i64(step); k < steps; k++) {
        const int last = dome_size(env) - 1, is_open = open[k % (int64_t)strlen(open)] == '1';
        const int sends = is_open && dome_rank(env) == 0, receives = is_open && dome_rank(env) == last;
        dome_request *request = NULL;
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
        dvec_adds(x, x, 1);
        dscalar_set_i64(step, k + 1);
        if (receives && strcmp(how, "irecv") == 0)
            request = dome_irecv(env, 0, 7, DOME_F64, data, count);
        else if (sends && strcmp(how, "isend") == 0)
            request = dome_isend(env, last, 7, DOME_F64, data, count);
        else if (sends && strcmp(how, "send") == 0)
            dome_send(env, last, 7, DOME_F64, data, count);
        dome_checkpoint(env);
        if (sends && strcmp(how, "irecv") == 0)
            dome_send(env, last, 7, DOME_F64, data, count);
        else if (receives && strcmp(how, "irecv") != 0)
            dome_recv(env, 0, 7, DOME_F64, data, count, NULL);
        if (request)
            dome_wait(request, NULL);
    }
    dome_print(env, "%g\n", dvec_sum(x));
    free(data);
    return dome_finalize(env);
}
