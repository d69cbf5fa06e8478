/* What a task printed just before it went back, and what its process of now says: by two connections, of which either may be
 * faster. */
#include "hub/hub_private.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static dome_hub hub = {.timeout = 10};

typedef struct side {
    hub_client *client;
    int fd; /* the task's end */
} side;

static side connect_task(hub_state *s, dome_wire_channel channel, uint32_t view)
{
    int ends[2];
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), ==, 0);
    hub_client *c = g_new0(hub_client, 1);
    *c = (hub_client){.fd = ends[0], .channel = channel, .process = -1, .rank = 1, .view = view, .state = DOME_CLIENT_RUNS};
    c->exit_status = -1;
    c->in = g_byte_array_new();
    g_ptr_array_add(s->clients, c);
    return (side){c, ends[1]};
}

static void print(const side *to, const char *text)
{
    g_assert_cmpint(send(to->fd, text, strlen(text), 0), ==, (ssize_t)strlen(text));
}

static bool is_answered(const side *watch)
{
    char byte;
    return recv(watch->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) > 0;
}

static void free_client(void *item)
{
    hub_client *c = item;
    if (!c->closed)
        close(c->fd);
    g_byte_array_unref(c->in);
    g_free(c);
}

/* Standard output is a file meanwhile. Scenes are static: what was shown is known until the process ends. */
typedef struct scene {
    hub_state s;
    int kept, pipe[2];
    char *path;
    side old, watch, now;
} scene;

static void begin(scene *x)
{
    *x = (scene){0};
    int file = g_file_open_tmp("dome-once-XXXXXX", &x->path, NULL);
    g_assert_cmpint(file, >=, 0);
    fflush(stdout);
    x->kept = dup(STDOUT_FILENO);
    dup2(file, STDOUT_FILENO);
    close(file);
    g_assert_cmpint(pipe2(x->pipe, O_CLOEXEC | O_NONBLOCK), ==, 0);
    hub.rank0_output = x->pipe[0];
    x->s.hub = &hub;
    x->s.now = 100;
    x->s.clients = g_ptr_array_new_with_free_func(free_client);
    dome__hub_output_open(&x->s);
    dome__hub_once_open(&x->s);
    x->old = connect_task(&x->s, DOME_WIRE_STDOUT, 0);
}

/* What the file then has; g_free'd. Whether lines differed is said on standard error, which is of no interest here. */
static char *end(scene *x)
{
    char *text;
    dome__hub_flush(&x->s, 10);
    dome__hub_once_close(&x->s, true);
    dome__hub_output_close(&x->s);
    dup2(x->kept, STDOUT_FILENO);
    close(x->kept);
    g_assert_true(g_file_get_contents(x->path, &text, NULL, NULL));
    g_unlink(x->path);
    g_free(x->path);
    close(x->pipe[0]);
    close(x->pipe[1]);
    close(x->watch.fd);
    close(x->now.fd);
    g_ptr_array_unref(x->s.clients);
    return text;
}

/* It prints two lines, the second of which is under way when the task is the program anew and goes back to its beginning. */
static void go_back(scene *x)
{
    begin(x);
    print(&x->old, "a\n");
    dome__hub_receive(&x->s, x->old.client);
    x->watch = connect_task(&x->s, DOME_WIRE_WATCH, 2);
    x->now = connect_task(&x->s, DOME_WIRE_STDOUT, 2);
    dome__hub_once_told(&x->s, x->watch.client, &(dome_wire_shown){.what = DOME_WIRE_SHOWN_BACK});
}

static void print_again(scene *x)
{
    g_assert_true(is_answered(&x->watch));
    print(&x->now, "a\nb\nc\n");
    dome__hub_receive(&x->s, x->now.client);
}

static void test_overtaken(void)
{
    static scene x;
    go_back(&x);
    dome__hub_once_tick(&x.s);
    g_assert_false(is_answered(&x.watch));
    print(&x.old, "b\n");
    dome__hub_once_tick(&x.s);
    g_assert_false(is_answered(&x.watch));
    close(x.old.fd);
    dome__hub_once_tick(&x.s);
    print_again(&x);
    char *text = end(&x);
    g_assert_cmpstr(text, ==, "[1] a\n[1] b\n[1] c\n");
    g_free(text);
}

/* A child of the process before has its output open: the task does not wait for ever. */
static void test_kept_open(void)
{
    static scene x;
    go_back(&x);
    x.s.now += 0.5;
    dome__hub_once_tick(&x.s);
    g_assert_false(is_answered(&x.watch));
    x.s.now += 1;
    dome__hub_once_tick(&x.s);
    print_again(&x);
    close(x.old.fd);
    char *text = end(&x);
    g_assert_cmpstr(text, ==, "[1] a\n[1] b\n[1] c\n");
    g_free(text);
}

/* The process before was on a host that is silent: nothing will come, and nobody waits. */
static void test_silent(void)
{
    static scene x;
    begin(&x);
    side lost = connect_task(&x.s, DOME_WIRE_WATCH, 0);
    lost.client->lost = true;
    x.watch = connect_task(&x.s, DOME_WIRE_WATCH, 2);
    x.now = connect_task(&x.s, DOME_WIRE_STDOUT, 2);
    dome__hub_once_told(&x.s, x.watch.client, &(dome_wire_shown){.what = DOME_WIRE_SHOWN_BACK});
    print_again(&x);
    close(lost.fd);
    close(x.old.fd);
    char *text = end(&x);
    g_assert_cmpstr(text, ==, "[1] a\n[1] b\n[1] c\n");
    g_free(text);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/once/overtaken", test_overtaken);
    g_test_add_func("/once/kept_open", test_kept_open);
    g_test_add_func("/once/silent", test_silent);
    return g_test_run();
}
