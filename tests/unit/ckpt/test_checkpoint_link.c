/* Links for checkpoints: messages of one tag of the service channel, between ranks of their own. tests/unit/test_peer.c tests the
 * channel: strangers, lost tasks, wrong bytes. */
#include "ckpt/link.h"

#include "peer/peer_private.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TASKS = 4 };

typedef struct net {
    dome_peer_place places[2 * TASKS];
    int listening[TASKS];
    dome_peer *peer[TASKS];
} net;

/* missing: nobody listens there; -1: all do. */
static void begin(net *n, int missing)
{
    *n = (net){0};
    for (int r = 0; r < TASKS; r++) {
        n->places[2 * r + 1] = dome__peer_place_here(true);
        n->listening[r] = dome__peer_place_listen(&n->places[2 * r + 1]);
        g_assert_cmpint(n->listening[r], >=, 0);
    }
    for (int r = 0; r < TASKS; r++) {
        const dome_peer_setup setup = {
            .rank = r, .size = TASKS, .purpose = "test", .listening = {-1, n->listening[r]}, .places = n->places, .patience = 20};
        n->peer[r] = r == missing ? NULL : dome__peer_new(&setup);
        if (r == missing)
            close(n->listening[r]);
    }
}

static void end(net *n)
{
    for (int r = 0; r < TASKS; r++)
        dome__peer_free(n->peer[r]);
}

static void says(dome_ckpt_link *from, int to, dome_ckpt_link *at, int rank, const char *text)
{
    void *data;
    uint64_t bytes;
    char *message = NULL;
    g_assert_true(from->send(from->ctx, to, text, strlen(text), &message));
    g_assert_true(at->receive(at->ctx, rank, &data, &bytes, &message));
    g_assert_cmpmem(data, bytes, text, strlen(text));
    g_assert_null(message);
    g_free(data);
}

/* A star around task 0, and beside it a ring, whose links have ranks of their own; none hears what the other one says. */
static void test_star_and_ring(void)
{
    net n;
    dome_ckpt_link star[TASKS], in[TASKS], out[TASKS];
    char *message = NULL;
    begin(&n, -1);
    for (int r = 0; r < TASKS; r++) {
        const int next = (r + 1) % TASKS, before = (r + TASKS - 1) % TASKS;
        dome__ckpt_link_open(&star[r], n.peer[r], DOME_PEER_CHECKPOINT, r, TASKS, NULL);
        dome__ckpt_link_open(&out[r], n.peer[r], DOME_PEER_COPIES, 1, 2, g_memdup2((int[]){next, r}, 2 * sizeof(int)));
        dome__ckpt_link_open(&in[r], n.peer[r], DOME_PEER_COPIES, 0, 2, g_memdup2((int[]){r, before}, 2 * sizeof(int)));
        g_assert_true(r == 0 || dome__ckpt_link_reach(&star[r], 0, &message));
        g_assert_true(dome__ckpt_link_reach(&out[r], 0, &message));
    }
    for (int r = 1; r < TASKS; r++) {
        g_assert_true(out[r].send(out[r].ctx, 0, "a copy", 6, &message));
        says(&star[r], 0, &star[0], r, "from a task");
        says(&star[0], r, &star[r], 0, "to a task");
    }
    g_assert_true(out[0].send(out[0].ctx, 0, "a copy", 6, &message));
    for (int r = 0; r < TASKS; r++) {
        void *data;
        uint64_t bytes;
        g_assert_true(in[r].receive(in[r].ctx, 1, &data, &bytes, &message));
        g_assert_cmpmem(data, bytes, "a copy", 6);
        g_free(data);
        g_assert_false(star[r].altered(star[r].ctx));
    }
    for (int r = 0; r < TASKS; r++) {
        dome__ckpt_link_close(&star[r]);
        dome__ckpt_link_close(&in[r]);
        dome__ckpt_link_close(&out[r]);
        dome__ckpt_link_close(&out[r]); /* once more does nothing */
    }
    end(&n);
}

static void refuses(dome_ckpt_link *link, int from, const char *text)
{
    void *data;
    uint64_t bytes;
    char *message = NULL;
    g_assert_false(link->receive(link->ctx, from, &data, &bytes, &message));
    g_assert_null(data);
    g_assert_cmpstr(message, ==, text);
    g_free(message);
}

/* Which task is gone is said by the program's ranks, whatever those of the link are. */
static void test_gone(void)
{
    net n;
    dome_ckpt_link star, ring;
    char *message = NULL;
    begin(&n, 3);
    dome__ckpt_link_open(&star, n.peer[0], DOME_PEER_CHECKPOINT, 0, TASKS, NULL);
    dome__ckpt_link_open(&ring, n.peer[0], DOME_PEER_COPIES, 0, 2, g_memdup2((int[]){0, 2}, 2 * sizeof(int)));
    g_assert_false(dome__ckpt_link_reach(&star, 3, &message));
    g_assert_cmpstr(message, ==, "the connections for checkpoints cannot be made: reaching task 3: Connection refused");
    g_clear_pointer(&message, g_free);
    g_assert_true(dome__ckpt_link_reach(&ring, 1, &message));
    dome__peer_free(g_steal_pointer(&n.peer[2]));
    refuses(&ring, 1, "task 2 is gone");
    g_assert_false(ring.send(ring.ctx, 1, "x", 1, &message));
    g_assert_cmpstr(message, ==, "task 2 is gone");
    g_free(message);
    g_assert_false(ring.altered(ring.ctx));
    dome__ckpt_link_close(&star);
    dome__ckpt_link_close(&ring);
    end(&n);
}

/* What a stranger changes in a message is told apart from a loss: the task goes on. */
static void test_altered(void)
{
    net n;
    dome_ckpt_link at, from;
    char *message = NULL;
    const dome_peer_frame frame = {.kind = DOME_PEER_PART, .tag = DOME_PEER_CHECKPOINT, .length = 5, .id = 5};
    uint8_t bytes[DOME_PEER_START + 5 + DOME_MAC_BYTES];
    begin(&n, -1);
    dome__ckpt_link_open(&at, n.peer[0], DOME_PEER_CHECKPOINT, 0, TASKS, NULL);
    dome__ckpt_link_open(&from, n.peer[1], DOME_PEER_CHECKPOINT, 1, TASKS, NULL);
    g_assert_true(dome__ckpt_link_reach(&from, 0, &message));
    pthread_mutex_lock(&n.peer[1]->lock);
    dome_peer_end *line = n.peer[1]->other[0]->end;
    dome__peer_frame_put(bytes, &frame, "block", &line->macs.out);
    bytes[DOME_PEER_START + 2] ^= 1;
    g_assert_cmpint(send(line->fd, bytes, sizeof bytes, MSG_NOSIGNAL), ==, sizeof bytes);
    pthread_mutex_unlock(&n.peer[1]->lock);
    refuses(&at, 1, "a message of task 1 was altered on the way, and the connection to it is closed");
    g_assert_true(at.altered(at.ctx));
    refuses(&from, 0, "task 0 is gone"); /* and does not wait */
    g_assert_false(from.altered(from.ctx));
    dome__ckpt_link_close(&at);
    dome__ckpt_link_close(&from);
    end(&n);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/checkpoint-link/star-and-ring", test_star_and_ring);
    g_test_add_func("/checkpoint-link/gone", test_gone);
    g_test_add_func("/checkpoint-link/altered", test_altered);
    return g_test_run();
}
