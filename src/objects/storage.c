#define _GNU_SOURCE
#include "objects/storage.h"

#include "runtime/environment.h"

#include <dome/env.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };

/* Before the data: where the memory begins, and how much of it there is. */
typedef struct origin {
    void *base;
    size_t bytes;
} origin;

/* Storage that was retired; the last ones, address space being finite. */
typedef struct grave {
    char *base;
    size_t bytes;
    char name[64];
    uint32_t operation;
    uint64_t sequence;
} grave;

enum { GRAVES = 4096 };

static struct {
    dome_env *env; /* NULL: not checking */
    grave graves[GRAVES];
    unsigned next;
} checking;

static origin origin_of(const void *data)
{
    origin o;
    memcpy(&o, (const char *)data - sizeof o, sizeof o);
    return o;
}

/* calloc, because fresh pages from the system are zero already. Storage that may be closed later needs pages of its own. */
void *dome__storage(uint64_t bytes)
{
    if (bytes == 0 || bytes > PTRDIFF_MAX - ALIGNMENT - sizeof(origin))
        return NULL;
    origin o = {.bytes = (size_t)bytes + ALIGNMENT + sizeof o};
    if (checking.env) {
        o.base = mmap(NULL, o.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (o.base == MAP_FAILED)
            return NULL;
    } else if (!(o.base = calloc(1, o.bytes))) {
        return NULL;
    }
    char *data = (char *)o.base + sizeof o;
    data += (ALIGNMENT - (uintptr_t)data % ALIGNMENT) % ALIGNMENT;
    memcpy(data - sizeof o, &o, sizeof o);
    return data;
}

void dome__storage_free(void *data)
{
    if (!data)
        return;
    origin o = origin_of(data);
    if (checking.env)
        munmap(o.base, o.bytes);
    else
        free(o.base);
}

uint64_t dome__storage_capacity(const void *data)
{
    if (!data)
        return 0;
    origin o = origin_of(data);
    return o.bytes - (size_t)((const char *)data - (const char *)o.base);
}

void dome__storage_retire(void *data, const char *name)
{
    if (!data || !checking.env) {
        dome__storage_free(data);
        return;
    }
    origin o = origin_of(data);
    const dome_operation *op = checking.env->operation;
    while (op && op->outer)
        op = op->outer;
    uint32_t code = op ? (uint32_t)op->code : DOME_OP_NONE;
    uint64_t number = checking.env->sequence;
    if (code == DOME_OP_BALANCE) { /* the user knows of the one before which it comes */
        code = checking.env->coming;
        number++;
    }
    grave *g = &checking.graves[checking.next++ % GRAVES];
    if (g->base)
        munmap(g->base, g->bytes);
    *g = (grave){o.base, o.bytes, "", code, number};
    g_strlcpy(g->name, name, sizeof g->name);
    /* A fresh mapping in its place gives the memory back and keeps the addresses. */
    if (mmap(o.base, o.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        mprotect(o.base, o.bytes, PROT_NONE);
}

/* The fault comes from an access of the program's own code, not from the middle of the C library: writing a line is safe enough.
 */
static void touched(int signal, siginfo_t *info, void *context)
{
    (void)context;
    const char *address = info->si_addr;
    for (unsigned k = 0; k < GRAVES && checking.env; k++) {
        const grave *g = &checking.graves[k];
        if (g->base && address >= g->base && address < g->base + g->bytes)
            dome_abort(checking.env,
                       "a pointer to the values of '%s' was used that is out of date since operation %" G_GUINT64_FORMAT
                       " (%s): ask for it again after each operation that may move data (dvec.h says which)",
                       g->name, g->sequence, dome__operation_name(g->operation));
    }
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(signal, &normal, NULL); /* the access happens again, and ends the program as it would have */
}

void dome__storage_check(dome_env *env)
{
    struct sigaction action = {.sa_sigaction = touched, .sa_flags = SA_SIGINFO};
    checking.env = env;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

void dome__storage_check_no_more(void)
{
    checking.env = NULL;
}
