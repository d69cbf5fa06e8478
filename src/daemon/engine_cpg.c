/* The group by Corosync (its libcpg, loaded when it is wanted): a closed process group of the daemons of all hosts. */
#include "daemon/engine.h"

#include <glib.h>
#include <string.h>

#ifdef DOME_WITH_CPG

#include <corosync/cpg.h>
#include <dlfcn.h>
#include <sys/uio.h>

#define GROUP "dome"

struct dome_engine {
    dome_engine_events events;
    void *library;
    cpg_handle_t handle;
    uint32_t node;
    int fd;
    cs_error_t (*finalize)(cpg_handle_t handle);
    cs_error_t (*dispatch)(cpg_handle_t handle, cs_dispatch_flags_t flags);
    cs_error_t (*send)(cpg_handle_t handle, cpg_guarantee_t guarantee, const struct iovec *parts, unsigned count);
};

/* The library's calls have no argument for the caller's data before version 2 of its model; a daemon has one engine. */
static dome_engine *the_engine;

static void deliver(cpg_handle_t handle, const struct cpg_name *group, uint32_t node, uint32_t pid, void *text, size_t length)
{
    (void)handle;
    (void)group;
    (void)pid;
    the_engine->events.deliver(the_engine->events.ctx, node, text, length);
}

static void changed(cpg_handle_t handle, const struct cpg_name *group, const struct cpg_address *members, size_t count,
                    const struct cpg_address *left, size_t left_count, const struct cpg_address *joined, size_t joined_count)
{
    (void)handle;
    (void)group;
    (void)joined;
    (void)joined_count;
    uint32_t *nodes = g_new(uint32_t, count + 1), *lost = g_new(uint32_t, left_count + 1);
    size_t lost_count = 0;
    for (size_t i = 0; i < count; i++)
        nodes[i] = members[i].nodeid;
    for (size_t i = 0; i < left_count; i++)
        if (left[i].reason == CPG_REASON_NODEDOWN)
            lost[lost_count++] = left[i].nodeid;
    the_engine->events.members(the_engine->events.ctx, nodes, count, lost, lost_count);
    g_free(lost);
    g_free(nodes);
}

static void *find(dome_engine *e, const char *name, char **message)
{
    void *found = dlsym(e->library, name);
    if (!found && !*message)
        *message = g_strdup_printf("libcpg has no %s", name);
    return found;
}

/* The functions are pointers to data until they are called: ISO C has no other way from dlsym. */
#define FIND(to, name) *(void **)&(to) = find(e, name, message)

static const char *text_of(cs_error_t error)
{
    switch (error) {
    case CS_ERR_LIBRARY:
    case CS_ERR_TRY_AGAIN:
        return "Corosync does not run on this host";
    case CS_ERR_ACCESS:
        return "Corosync does not let this user in (a file in its folder uidgid.d can)";
    default:
        return "Corosync refuses it";
    }
}

static bool join(dome_engine *e, char **message)
{
    cpg_callbacks_t callbacks = {.cpg_deliver_fn = deliver, .cpg_confchg_fn = changed};
    struct cpg_name group = {.length = strlen(GROUP), .value = GROUP};
    cs_error_t (*initialize)(cpg_handle_t *, cpg_callbacks_t *), (*join_group)(cpg_handle_t, const struct cpg_name *),
        (*local)(cpg_handle_t, unsigned *), (*fd_of)(cpg_handle_t, int *);
    FIND(initialize, "cpg_initialize");
    FIND(join_group, "cpg_join");
    FIND(local, "cpg_local_get");
    FIND(fd_of, "cpg_fd_get");
    FIND(e->finalize, "cpg_finalize");
    FIND(e->dispatch, "cpg_dispatch");
    FIND(e->send, "cpg_mcast_joined");
    if (*message)
        return false;
    cs_error_t error = initialize(&e->handle, &callbacks);
    if (error != CS_OK) {
        *message = g_strdup(text_of(error));
        return false;
    }
    if ((error = local(e->handle, &e->node)) == CS_OK && (error = fd_of(e->handle, &e->fd)) == CS_OK &&
        (error = join_group(e->handle, &group)) == CS_OK)
        return true;
    *message = g_strdup(text_of(error));
    e->finalize(e->handle);
    return false;
}

static dome_engine *open_cpg(const dome_engine_events *events, char **message)
{
    dome_engine *e = g_new0(dome_engine, 1);
    *message = NULL;
    e->events = *events;
    e->library = dlopen("libcpg.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!e->library)
        *message = g_strdup("libcpg.so.4 cannot be loaded (Debian's package libcpg4)");
    the_engine = e;
    if (e->library && join(e, message))
        return e;
    the_engine = NULL;
    if (e->library)
        dlclose(e->library);
    g_free(e);
    return NULL;
}

static void close_cpg(dome_engine *e)
{
    e->finalize(e->handle);
    dlclose(e->library);
    the_engine = NULL;
    g_free(e);
}

static uint32_t node(const dome_engine *e)
{
    return e->node;
}

static int fd(const dome_engine *e)
{
    return e->fd;
}

static bool dispatch(dome_engine *e)
{
    const cs_error_t error = e->dispatch(e->handle, CS_DISPATCH_ALL);
    return error == CS_OK || error == CS_ERR_TRY_AGAIN;
}

static bool send_cpg(dome_engine *e, const char *text, size_t length)
{
    char *copy = g_strndup(text, length);
    const struct iovec part = {copy, length};
    const bool sent = e->send(e->handle, CPG_TYPE_AGREED, &part, 1) == CS_OK;
    g_free(copy);
    return sent;
}

const dome_engine_kind dome__engine_cpg = {"corosync", open_cpg, close_cpg, node, fd, dispatch, send_cpg};

#else

static dome_engine *open_none(const dome_engine_events *events, char **message)
{
    (void)events;
    *message = g_strdup("this domed was built without Corosync (Debian's package libcpg-dev)");
    return NULL;
}

const dome_engine_kind dome__engine_cpg = {.name = "corosync", .open = open_none};

#endif
