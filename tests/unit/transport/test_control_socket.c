/* The sockets by which a user's commands find that user's programs: what other users can do about them. */
#include "transport/control_socket.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WHAT "dome-test"

enum { ANOTHER = 65534, CROWD = 700 };

/* The names of sockets that listen for WHAT and this process, as they stand in the kernel's list. */
static GPtrArray *names(void)
{
    char *text = NULL, *begin = g_strdup_printf(" @" WHAT "/%u/%d", (unsigned)geteuid(), (int)getpid());
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    g_assert_true(g_file_get_contents("/proc/self/net/unix", &text, NULL, NULL));
    char **lines = g_strsplit(text, "\n", 0);
    for (char **line = lines; *line; line++) {
        const char *at = strstr(*line, begin);
        bool known = !at;
        for (guint i = 0; i < found->len && !known; i++) /* connections stand there, too */
            known = strcmp(found->pdata[i], at + 2) == 0;
        if (!known)
            g_ptr_array_add(found, g_strdup(at + 2));
    }
    g_strfreev(lines);
    g_free(begin);
    g_free(text);
    return found;
}

static char *name_of_socket(void)
{
    GPtrArray *all = names();
    g_assert_cmpuint(all->len, ==, 1);
    char *name = g_strdup(all->pdata[0]);
    g_ptr_array_unref(all);
    return name;
}

static socklen_t address_of(struct sockaddr_un *address, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path + 1, name, strlen(name));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static bool is_listed(void)
{
    GArray *pids = dome__control_socket_list(WHAT);
    bool found = false;
    for (guint i = 0; i < pids->len; i++)
        found |= g_array_index(pids, int, i) == getpid();
    g_array_unref(pids);
    return found;
}

static guint count_all(void)
{
    GArray *fds = dome__control_socket_connect_all(WHAT);
    const guint count = fds->len;
    for (guint i = 0; i < fds->len; i++)
        close(g_array_index(fds, int, i));
    g_array_unref(fds);
    return count;
}

static int accept_soon(int listening)
{
    struct pollfd p = {.fd = listening, .events = POLLIN};
    g_assert_cmpint(poll(&p, 1, 10000), ==, 1);
    return dome__control_socket_accept(listening);
}

static void test_own(void)
{
    g_assert_false(is_listed());
    g_assert_cmpint(dome__control_socket_connect(WHAT, getpid()), <, 0);
    int listening = dome__control_socket_listen(WHAT);
    g_assert_cmpint(listening, >=, 0);
    g_assert_true(is_listed());
    g_assert_cmpint(dome__control_socket_accept(listening), <, 0);
    g_assert_cmpint(errno, ==, EAGAIN);
    int client = dome__control_socket_connect(WHAT, getpid()), server = accept_soon(listening);
    g_assert_true(client >= 0 && server >= 0);
    g_assert_cmpint(send(client, "x", 1, MSG_NOSIGNAL), ==, 1);
    g_assert_cmpint(dome__control_socket_connect(WHAT, 1), <, 0);
    close(client);
    close(server);
    g_assert_cmpuint(count_all(), ==, 1);
    close(listening);
    g_assert_false(is_listed());
    g_assert_cmpuint(count_all(), ==, 0);
}

/* Each has another name, which says whose it is, and ends in what nobody can know before. */
static void test_names(void)
{
    int several[3];
    for (int k = 0; k < 3; k++)
        several[k] = dome__control_socket_listen(WHAT);
    GPtrArray *all = names();
    g_assert_cmpuint(all->len, ==, 3);
    for (int k = 0; k < 3; k++) {
        char *pattern = g_strdup_printf("^" WHAT "/%u/%d/[0-9a-f]{16}$", (unsigned)geteuid(), (int)getpid());
        g_assert_true(g_regex_match_simple(pattern, all->pdata[k], 0, 0));
        g_free(pattern);
        close(several[k]);
    }
    g_ptr_array_unref(all);
}

/* Runs the function as another user, who then waits to be killed. */
static pid_t as_another(void (*function)(const char *name), const char *name)
{
    int ready[2];
    char byte;
    g_assert_cmpint(pipe(ready), ==, 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) < 0 || setgid(ANOTHER) < 0 || setuid(ANOTHER) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
            _exit(1);
        function(name);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
    close(ready[0]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
}

/* Names that look like this user's: with and without the random end, with a line's end in them, and one of which the queue is
 * full. */
static void bind_names(const char *name)
{
    static const char *const ends[] = {"", "/0123456789abcdef", "/fedcba9876543210", "/0123456789abcdef0", "/\n0: 0"};
    for (size_t k = 0; k < G_N_ELEMENTS(ends); k++) {
        char *whole = g_strconcat(name, ends[k], NULL);
        struct sockaddr_un address;
        socklen_t length = address_of(&address, whole);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, 0) < 0)
            _exit(1);
        if (k == 2 && connect(client, (struct sockaddr *)&address, length) < 0)
            _exit(1);
        g_free(whole);
    }
}

/* Another user has bound what he could: this user's program is found all the same, and nobody else's. */
static void test_taken(void)
{
    if (geteuid() != 0) {
        g_test_skip("without root there is no other user");
        return;
    }
    char *name = g_strdup_printf(WHAT "/0/%d", (int)getpid());
    const pid_t another = as_another(bind_names, name);
    g_assert_false(is_listed());
    int listening = dome__control_socket_listen(WHAT);
    g_assert_cmpint(listening, >=, 0);
    g_assert_true(is_listed());
    int client = dome__control_socket_connect(WHAT, getpid()), server = accept_soon(listening);
    g_assert_true(client >= 0 && server >= 0);
    g_assert_cmpuint(count_all(), ==, 1);
    close(client);
    close(server);
    close(listening);
    end(another);
    g_free(name);
}

static void crowd(const char *name)
{
    struct sockaddr_un address;
    socklen_t length = address_of(&address, name);
    for (int k = 0; k < CROWD; k++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (fd < 0 || (connect(fd, (struct sockaddr *)&address, length) < 0 && errno != EAGAIN))
            _exit(1);
    }
}

static gpointer accept_own(gpointer listening)
{
    g_usleep(50000); /* the client has been refused meanwhile */
    int server;
    while ((server = dome__control_socket_accept(GPOINTER_TO_INT(listening))) < 0)
        g_usleep(1000);
    return GINT_TO_POINTER(server);
}

/* Others connect again and again. They cost few calls, and a client waits until there is room for it. */
static void test_crowded(void)
{
    if (geteuid() != 0) {
        g_test_skip("without root there is no other user");
        return;
    }
    for (int full = 0; full < 2; full++) {
        int listening = dome__control_socket_listen(WHAT), calls = 0, server;
        if (full)
            g_assert_cmpint(listen(listening, 10), ==, 0); /* fewer may wait */
        char *name = name_of_socket();
        const pid_t another = as_another(crowd, name);
        GThread *thread = full ? g_thread_new("accept", accept_own, GINT_TO_POINTER(listening)) : NULL;
        int client = dome__control_socket_connect(WHAT, getpid());
        g_assert_cmpint(client, >=, 0);
        if (full)
            server = GPOINTER_TO_INT(g_thread_join(thread));
        else
            for (server = -1; server < 0; calls++)
                if ((server = dome__control_socket_accept(listening)) < 0)
                    g_assert_cmpint(errno, ==, EACCES);
        g_assert_cmpint(calls, <, 10);
        g_assert_cmpint(send(client, "x", 1, MSG_NOSIGNAL), ==, 1);
        close(client);
        close(server);
        close(listening);
        end(another);
        g_free(name);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/control-socket/own", test_own);
    g_test_add_func("/control-socket/names", test_names);
    g_test_add_func("/control-socket/names that others have taken", test_taken);
    g_test_add_func("/control-socket/crowded by others", test_crowded);
    return g_test_run();
}
