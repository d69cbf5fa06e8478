/* A daemon of another version, as domed's group sees it: it joins, says hello, and gives an order for program 1. It ends when it
 * is killed.
 *
 *     foreign_daemon NAME VERSION */
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

#if __has_include(<corosync/cpg.h>)

#include <corosync/cpg.h>

static void deliver(cpg_handle_t handle, const struct cpg_name *group, uint32_t node, uint32_t pid, void *text, size_t length)
{
    (void)handle, (void)group, (void)node, (void)pid, (void)text, (void)length;
}

/* Whoever comes hears it. */
static int hellos = 1;

static void changed(cpg_handle_t handle, const struct cpg_name *group, const struct cpg_address *members, size_t count,
                    const struct cpg_address *left, size_t left_count, const struct cpg_address *joined, size_t joined_count)
{
    (void)handle, (void)group, (void)members, (void)count, (void)left, (void)left_count, (void)joined;
    hellos += joined_count > 0;
}

/* Again, until Corosync takes it. */
static void say(cs_error_t (*send)(cpg_handle_t, cpg_guarantee_t, const struct iovec *, unsigned), cpg_handle_t handle,
                char *line)
{
    const struct iovec part = {line, strlen(line)};
    for (int k = 0; k < 100 && send(handle, CPG_TYPE_AGREED, &part, 1) != CS_OK; k++)
        poll(NULL, 0, 20);
}

int main(int argc, char **argv)
{
    cpg_callbacks_t callbacks = {.cpg_deliver_fn = deliver, .cpg_confchg_fn = changed};
    const struct cpg_name group = {.length = 4, .value = "dome"};
    cpg_handle_t handle;
    char hello[200];
    void *library = dlopen("libcpg.so.4", RTLD_NOW);
    if (argc != 3 || !library)
        return 2;
    cs_error_t (*begin)(cpg_handle_t *, cpg_callbacks_t *), (*join)(cpg_handle_t, const struct cpg_name *),
        (*dispatch)(cpg_handle_t, cs_dispatch_flags_t), (*send)(cpg_handle_t, cpg_guarantee_t, const struct iovec *, unsigned);
    *(void **)&begin = dlsym(library, "cpg_initialize");
    *(void **)&join = dlsym(library, "cpg_join");
    *(void **)&dispatch = dlsym(library, "cpg_dispatch");
    *(void **)&send = dlsym(library, "cpg_mcast_joined");
    if (begin(&handle, &callbacks) != CS_OK || join(handle, &group) != CS_OK)
        return 1;
    snprintf(hello, sizeof hello, "hello version=%s serial=999999 name=%s slots=4", argv[2], argv[1]);
    for (;;) {
        dispatch(handle, CS_DISPATCH_ALL);
        for (; hellos > 0; hellos--)
            say(send, handle, hello);
        say(send, handle, (char[]){"wish program=1 what=end"});
        poll(NULL, 0, 1000);
    }
}

#else

int main(void)
{
    puts("built without Corosync");
    return 77;
}

#endif
