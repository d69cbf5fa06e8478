/* The connections for checkpoints, made among strangers, who cause neither delay nor failure. */
#include "ckpt/link.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TASKS = 4, STRANGERS = 40 };

typedef struct task {
    int rank;
    struct sockaddr_in to;
    dome_ckpt_door door;
    dome_ckpt_link link;
    char *message;
    bool good;
} task;

static struct sockaddr_in place(uint64_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
}

/* Opens connections of strangers: some send nothing, some too little, some nonsense. */
static void strangers_come(const dome_ckpt_door *door, int fds[STRANGERS])
{
    struct sockaddr_in to = place(door->port);
    char nonsense[200];
    memset(nonsense, 'x', sizeof nonsense);
    for (int i = 0; i < STRANGERS; i++) {
        size_t bytes = i % 3 == 1 ? 5 : i % 3 == 2 ? sizeof nonsense : 0;
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        g_assert_cmpint(connect(fds[i], (struct sockaddr *)&to, sizeof to), ==, 0);
        g_assert_cmpint(send(fds[i], nonsense, bytes, MSG_NOSIGNAL), ==, bytes);
    }
}

static gpointer be_task(gpointer data)
{
    task *t = data;
    dome__ckpt_link_connect(&t->link, t->rank, TASKS, &t->to, &t->door);
    t->good = dome__ckpt_link_complete((dome_ckpt_link *[]){&t->link}, 1, 20, &t->message);
    return NULL;
}

static void says(dome_ckpt_link *from, int to, dome_ckpt_link *at, int rank, const char *text)
{
    void *data;
    uint64_t bytes;
    char *message = NULL;
    g_assert_true(from->send(from->ctx, to, text, strlen(text), &message));
    g_assert_true(at->receive(at->ctx, rank, &data, &bytes, &message));
    g_assert_cmpmem(data, bytes, text, strlen(text));
    g_free(data);
}

static void test_strangers(void)
{
    dome_ckpt_door door;
    char *message = NULL;
    int strangers[STRANGERS], listening = dome__ckpt_link_listen(htonl(INADDR_LOOPBACK), &door, &message);
    g_assert_cmpint(listening, >=, 0);
    strangers_come(&door, strangers);
    gint64 began = g_get_monotonic_time();
    task tasks[TASKS] = {0};
    GThread *threads[TASKS];
    for (int r = 1; r < TASKS; r++) {
        tasks[r] = (task){.rank = r, .to = place(door.port), .door = door};
        threads[r] = g_thread_new("task", be_task, &tasks[r]);
    }
    dome_ckpt_link link;
    dome__ckpt_link_accept(&link, TASKS, listening, &door);
    g_assert_true(dome__ckpt_link_complete((dome_ckpt_link *[]){&link}, 1, 20, &message));
    for (int r = 1; r < TASKS; r++) {
        g_thread_join(threads[r]);
        g_assert_true(tasks[r].good);
        says(&tasks[r].link, 0, &link, r, "from a task");
        says(&link, r, &tasks[r].link, 0, "to a task");
        dome__ckpt_link_close(&tasks[r].link);
    }
    g_assert_cmpint(g_get_monotonic_time() - began, <, 4 * G_USEC_PER_SEC); /* each silent one used to take five seconds */
    dome__ckpt_link_close(&link);
    for (int i = 0; i < STRANGERS; i++)
        close(strangers[i]);
}

/* A ring of tasks: each connects to one task and accepts a connection from another. */
typedef struct member {
    dome_ckpt_door own, next;
    int listening;
    dome_ckpt_link in, out;
    bool good;
} member;

static gpointer be_member(gpointer data)
{
    member *m = data;
    struct sockaddr_in to = place(m->next.port);
    char *message = NULL;
    dome__ckpt_link_connect(&m->out, 1, 2, &to, &m->next);
    dome__ckpt_link_accept(&m->in, 2, m->listening, &m->own);
    m->good = dome__ckpt_link_complete((dome_ckpt_link *[]){&m->out, &m->in}, 2, 20, &message);
    return NULL;
}

static void test_ring(void)
{
    member members[3] = {0};
    GThread *threads[3];
    char *message = NULL;
    for (int k = 0; k < 3; k++)
        members[k].listening = dome__ckpt_link_listen(htonl(INADDR_LOOPBACK), &members[k].own, &message);
    for (int k = 0; k < 3; k++) {
        members[k].next = members[(k + 1) % 3].own;
        threads[k] = g_thread_new("member", be_member, &members[k]);
    }
    for (int k = 0; k < 3; k++)
        g_thread_join(threads[k]);
    for (int k = 0; k < 3; k++) {
        g_assert_true(members[k].good);
        says(&members[k].out, 0, &members[(k + 1) % 3].in, 1, "on to the next one");
    }
    for (int k = 0; k < 3; k++) {
        dome__ckpt_link_close(&members[k].in);
        dome__ckpt_link_close(&members[k].out);
    }
}

/* A task with another cookie is a stranger, and the waiting task reports which task is missing. */
static void test_wrong_cookie(void)
{
    dome_ckpt_door door;
    char *message = NULL;
    task wrong = {.rank = 1};
    int listening = dome__ckpt_link_listen(htonl(INADDR_LOOPBACK), &door, &message);
    wrong.door = door;
    wrong.door.cookie[3] ^= 1;
    wrong.to = place(door.port);
    GThread *thread = g_thread_new("task", be_task, &wrong);
    dome_ckpt_link link;
    dome__ckpt_link_accept(&link, 2, listening, &door);
    g_assert_false(dome__ckpt_link_complete((dome_ckpt_link *[]){&link}, 1, 0.3, &message));
    g_assert_nonnull(strstr(message, "a task has not come"));
    g_thread_join(thread);
    g_assert_false(wrong.good);
    g_assert_nonnull(wrong.message);
    dome__ckpt_link_close(&wrong.link);
    dome__ckpt_link_close(&link);
    g_free(wrong.message);
    g_free(message);
}

/* Reads the bytes of a message, without its codes being checked. */
static GByteArray *overhear(int fd)
{
    guint8 buffer[512];
    const ssize_t n = recv(fd, buffer, sizeof buffer, 0);
    g_assert_cmpint(n, >, 0);
    return g_byte_array_append(g_byte_array_new(), buffer, (guint)n);
}

/* The end of the only connection to this port, as getpeername or getsockname tells it. */
static int end_of(int (*name)(int fd, struct sockaddr *address, socklen_t *length), uint64_t port)
{
    for (int fd = 3; fd < 256; fd++) {
        struct sockaddr_in at = {0};
        socklen_t length = sizeof at;
        if (name(fd, (struct sockaddr *)&at, &length) == 0 && at.sin_family == AF_INET && ntohs(at.sin_port) == port)
            return fd;
    }
    g_assert_not_reached();
}

/* What a stranger changes in a message is noticed: at the length before the rest is waited for, and anywhere else. */
static void test_altered(void)
{
    static const char text[] = "which blocks this task has";
    enum { HEAD = 24, ALL = HEAD + sizeof text + 16 };
    static const int places[] = {0, 7, 8, 23, HEAD, HEAD + 5, ALL - 16, ALL - 1};
    for (size_t k = 0; k < G_N_ELEMENTS(places); k++) {
        dome_ckpt_door door;
        char *message = NULL;
        void *data;
        uint64_t bytes;
        task t = {.rank = 1};
        int listening = dome__ckpt_link_listen(htonl(INADDR_LOOPBACK), &door, &message);
        t.door = door;
        t.to = place(door.port);
        GThread *thread = g_thread_new("task", be_task, &t);
        dome_ckpt_link link;
        dome__ckpt_link_accept(&link, 2, listening, &door);
        g_assert_true(dome__ckpt_link_complete((dome_ckpt_link *[]){&link}, 1, 20, &message));
        g_thread_join(thread);
        const int from = end_of(getpeername, door.port), to = end_of(getsockname, door.port);
        g_assert_true(t.link.send(t.link.ctx, 0, text, sizeof text, &message));
        GByteArray *sent = overhear(to);
        g_assert_cmpuint(sent->len, ==, ALL);
        sent->data[places[k]] ^= 0x10;
        g_assert_false(link.altered(link.ctx));
        g_assert_cmpint(send(from, sent->data, sent->len, 0), ==, sent->len);
        g_assert_false(link.receive(link.ctx, 1, &data, &bytes, &message));
        g_assert_cmpstr(message, ==, "a message of task 1 was altered on the way, and the connection to it is closed");
        g_assert_true(link.altered(link.ctx));
        g_clear_pointer(&message, g_free);
        g_assert_false(t.link.receive(t.link.ctx, 0, &data, &bytes, &message)); /* and does not wait */
        g_assert_cmpstr(message, ==, "task 0 is gone");
        g_free(message);
        g_byte_array_unref(sent);
        dome__ckpt_link_close(&t.link);
        dome__ckpt_link_close(&link);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/checkpoint-link/strangers", test_strangers);
    g_test_add_func("/checkpoint-link/ring", test_ring);
    g_test_add_func("/checkpoint-link/altered", test_altered);
    g_test_add_func("/checkpoint-link/wrong-cookie", test_wrong_cookie);
    return g_test_run();
}
