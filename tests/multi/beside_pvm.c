/* A program that also uses PVM directly: while it packs and unpacks its own messages it calls the library, which sends and
 * receives others, short and long, and all arrive intact. */
#include "core/environment.h"
#include "local/local.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <dome/dome.h>

#ifdef DOME_WITH_PVM
#include <fcntl.h>
#include <pvm3.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONG = 5 << 20, TAG = 7, ROUNDS = 5 };

/* Messages of the library's, of all sizes: to the next task and to all. */
static void communicate(dome_env *env, char *data)
{
    dome_transport *t = env->transport;
    int next = (t->group.rank + 1) % t->group.size, before = (t->group.rank + t->group.size - 1) % t->group.size;
    uint64_t sizes[] = {1, 3000, LONG}, sum = 1;
    for (unsigned k = 0; k < G_N_ELEMENTS(sizes); k++) {
        memset(data, t->group.rank, sizes[k]);
        if (dome__send(t, next, DOME_CHANNEL_DATA, DOME_U8, data, sizes[k]) ||
            dome__recv(t, before, DOME_CHANNEL_DATA, DOME_U8, data, sizes[k]))
            dome_abort(env, "%s", t->reason);
        if (data[0] != before || data[sizes[k] - 1] != before)
            dome_abort(env, "the library's own message is another one");
    }
    if (dome__allreduce(t, DOME_U64, &sum, 1, dome__combine_max_u64, NULL))
        dome_abort(env, "%s", t->reason);
}

static void pack(dome_env *env, int value)
{
    int code = pvm_pkint(&value, 1, 1);
    if (code < 0)
        dome_abort(env, "cannot pack %d: PVM error %d", value, code);
}

static void expect(dome_env *env, int value)
{
    int got = -1, code = pvm_upkint(&got, 1, 1);
    if (code < 0 || got != value)
        dome_abort(env, "%d is unpacked instead of %d (PVM error %d)", got, value, code);
}

static void exchange(dome_env *env, const int *tids, int round, char *data)
{
    int rank = dome_rank(env), size = dome_size(env), next = (rank + 1) % size, before = (rank + size - 1) % size;
    int buffer = pvm_initsend(PvmDataDefault);
    pack(env, rank);
    communicate(env, data);
    if (pvm_getsbuf() != buffer)
        dome_abort(env, "buffer %d is current instead of %d", pvm_getsbuf(), buffer);
    pack(env, round);
    pvm_send(tids[next], TAG);
    buffer = pvm_recv(tids[before], TAG);
    expect(env, before);
    communicate(env, data);
    if (pvm_getrbuf() != buffer)
        dome_abort(env, "buffer %d is received instead of %d", pvm_getrbuf(), buffer);
    expect(env, round);
}

/* Memory that tasks 0 and 1 share. Task 0 makes it and sets its name, by which task 1 opens it. */
static int *memory_of_both(dome_env *env, int32_t name[2])
{
    int fd = -1;
    if (dome_rank(env) == 0) {
        fd = memfd_create("both", MFD_CLOEXEC);
        name[0] = getpid();
        name[1] = fd;
        if (ftruncate(fd, sizeof(int)) < 0)
            dome_abort(env, "cannot make memory");
    } else {
        char *path = g_strdup_printf("/proc/%d/fd/%d", name[0], name[1]);
        fd = open(path, O_RDWR | O_CLOEXEC);
        g_free(path);
    }
    int *memory = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* A neighbour's plane of 192 x 192 numbers is sent before its receiver calls the library: the sender need not wait for a task
 * that computes. */
static void send_ahead(dome_env *env, char *data)
{
    enum { PLANE = 192 * 192 * 8, PATIENCE = 20000 };
    dome_transport *t = env->transport;
    int32_t name[2] = {0};
    int *sent = NULL, status = DOME_OK;
    if (t->group.rank == 0) {
        sent = memory_of_both(env, name);
        status = dome__send(t, 1, DOME_CHANNEL_DATA, DOME_I32, name, 2);
        if (!status)
            status = dome__send(t, 1, DOME_CHANNEL_DATA, DOME_U8, data, PLANE);
        if (sent)
            __atomic_store_n(sent, 1, __ATOMIC_SEQ_CST);
    } else if (t->group.rank == 1) {
        status = dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_I32, name, 2);
        sent = memory_of_both(env, name);
        for (int turn = 0; sent && !__atomic_load_n(sent, __ATOMIC_SEQ_CST); turn++) {
            if (turn == PATIENCE)
                dome_abort(env, "the message of %d bytes is not on its way before its receiver asks for it", PLANE);
            g_usleep(1000);
        }
        if (!status)
            status = dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_U8, data, PLANE);
    }
    if (status)
        dome_abort(env, "%s", t->reason);
    if (sent)
        munmap(sent, sizeof *sent);
}

static void use_pvm(dome_env *env)
{
    dome_transport *t = env->transport;
    int *tids = g_new0(int, t->group.size), tid = pvm_mytid();
    char *data = g_malloc(LONG);
    if (dome__allgather(t, DOME_I32, &tid, 1, tids))
        dome_abort(env, "%s", t->reason);
    for (int round = 0; round < ROUNDS; round++)
        exchange(env, tids, round, data);
    if (dome__local_road(t) == DOME_ROAD_PROVIDER)
        send_ahead(env, data);
    g_free(tids);
    g_free(data);
}
#endif

int main(int argc, char **argv)
{
    dome_env *env = dome_init(&argc, &argv);
#ifdef DOME_WITH_PVM
    if (dome_size(env) > 1)
        use_pvm(env);
#endif
    dome_print(env, "ok on %d tasks\n", dome_size(env));
    return dome_finalize(env);
}
