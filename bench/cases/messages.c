/* A message to another task and back, by dome_send and dome_recv and by PVM's own calls between the same two tasks.
 *
 *     messages [SECONDS]        with two tasks
 *
 *     byte, long             dome: 1 byte, 1 MiB
 *     pvm.byte, pvm.long     the same by pvm_send and pvm_recv, over the same direct route */
#include "case.h"

#include <dome/dome.h>
#include <pvm3.h>
#include <stdlib.h>

enum { LONG = 1 << 20, TAG = 77 };

static dome_env *env;
static int other, other_tid;
static char *data;

static void dome_there(int bytes)
{
    dome_send(env, other, 0, DOME_U8, data, (size_t)bytes);
}

static void dome_here(int bytes)
{
    dome_recv(env, other, 0, DOME_U8, data, (size_t)bytes, NULL);
}

static void pvm_there(int bytes)
{
    pvm_initsend(bytes > 2048 ? PvmDataInPlace : PvmDataRaw);
    pvm_pkbyte(data, bytes, 1);
    pvm_send(other_tid, TAG);
}

static void pvm_here(int bytes)
{
    pvm_recv(other_tid, TAG);
    pvm_upkbyte(data, bytes, 1);
}

/* Seconds of one message there and back. */
static double there_and_back(void (*there)(int bytes), void (*here)(int bytes), int bytes, int calls)
{
    dome_barrier(env);
    double begin = case_now();
    for (int i = 0; i < calls; i++)
        if (other == 1) {
            there(bytes);
            here(bytes);
        } else {
            here(bytes);
            there(bytes);
        }
    return (case_now() - begin) / calls;
}

int main(int argc, char **argv)
{
    static case_times times;
    env = dome_init(&argc, &argv);
    if (dome_size(env) != 2)
        dome_abort(env, "start two tasks");
    other = 1 - dome_rank(env);
    data = calloc(LONG, 1);
    int32_t tid = pvm_mytid(), tids[2];
    dome_allgather(env, DOME_I32, &tid, 1, tids);
    other_tid = tids[other];
    const struct {
        const char *name;
        void (*there)(int), (*here)(int);
        int bytes;
    } rivals[] = {{"byte", dome_there, dome_here, 1},
                  {"pvm.byte", pvm_there, pvm_here, 1},
                  {"long", dome_there, dome_here, LONG},
                  {"pvm.long", pvm_there, pvm_here, LONG}};
    enum { RIVALS = sizeof rivals / sizeof *rivals, TRIES = 20 };
    const double turn_seconds = 0.03;
    int32_t calls[RIVALS];
    for (int k = 0; k < RIVALS; k++) { /* the first messages also set up the direct route */
        there_and_back(rivals[k].there, rivals[k].here, rivals[k].bytes, TRIES);
        calls[k] = TRIES + (int)(turn_seconds / there_and_back(rivals[k].there, rivals[k].here, rivals[k].bytes, TRIES));
    }
    dome_bcast(env, 0, DOME_I32, calls, RIVALS);
    int turns = case_turns(RIVALS * turn_seconds, argc > 1 ? atof(argv[1]) : 3);
    for (int turn = 0; turn < turns; turn++)
        for (int k = 0; k < RIVALS; k++)
            case_note(&times, rivals[k].name, turn, there_and_back(rivals[k].there, rivals[k].here, rivals[k].bytes, calls[k]));
    if (dome_rank(env) == 0)
        case_print(&times);
    return dome_finalize(env);
}
