/* Setting up the road: the lowest rank of a host creates the shared memory, the others open it through /proc. */
#include "local/local_messages.h"
#include "local/share.h"
#include "system/entropy.h"
#include "system/files.h"
#include "system/say.h"
#include "transport/board.h"
#include "transport/collective.h"
#include "transport/message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

/* All rings together take at most RINGS bytes, unless each has the SMALLEST size already; a ring has at most LARGEST bytes. */
static const uint64_t RINGS = 256 << 20, LARGEST = 256 << 10, SMALLEST = 4 << 10;

/* A waiting task polls SPINS times, for some microseconds, then yields the processor up to YIELDS times, then sleeps. The yields
 * take longer than waking a task does, or two tasks that wait for each other in turn would sleep each time. */
enum { SPINS = 200, YIELDS = 500 };

/* ---- the table ---- */

static bool is_near(const dome_local *local, int rank)
{
    return local->place_of[rank] >= 0;
}

static int local_begin_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    dome_local *local = self->state;
    if (is_near(local, dest))
        return dome__local_begin_send(self, dest, channel, packet);
    return local->base.ops->send(&local->base, dest, channel, packet);
}

static bool local_send_at_once(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    return is_near(self->state, dest) && dome__local_send_at_once(self, dest, channel, packet);
}

static void local_end_send(dome_transport_provider *self, int dest)
{
    if (is_near(self->state, dest))
        dome__local_end_send(self, dest);
}

static bool local_sent(dome_transport_provider *self, int dest)
{
    return !is_near(self->state, dest) || dome__local_sent(self, dest);
}

static int local_send(dome_transport_provider *self, int dest, int channel, const dome_packet *packet)
{
    int status = local_begin_send(self, dest, channel, packet);
    if (!status)
        local_end_send(self, dest);
    return status;
}

static int local_recv_head(dome_transport_provider *self, int source, int channel, void *head, size_t head_bytes, uint64_t *bytes)
{
    dome_local *local = self->state;
    if (is_near(local, source))
        return dome__local_recv_head(self, source, channel, head, head_bytes, bytes);
    dome__pause w = {.turns = UINT_MAX}; /* no spinning: each poll is a system call */
    while (!dome__base_arrived(local, source, channel))
        dome__rest(local, &w, FOR_WORD);
    dome__rested(local, &w);
    return local->base.ops->recv_head(&local->base, source, channel, head, head_bytes, bytes);
}

/* Once the head of a remote message has arrived its data follows; no wait is needed. */
static int local_recv_data(dome_transport_provider *self, int source, int channel, void *data, uint64_t bytes)
{
    dome_local *local = self->state;
    if (is_near(local, source))
        return dome__local_recv_data(self, source, channel, data, bytes);
    return local->base.ops->recv_data(&local->base, source, channel, data, bytes);
}

static bool local_arrived(dome_transport_provider *self, int source, int channel)
{
    dome_local *local = self->state;
    if (source < 0) {
        dome__take_in(local, true);
        return dome__base_arrived(local, source, channel);
    }
    return is_near(local, source) ? dome__local_arrived(self, source, channel) : dome__base_arrived(local, source, channel);
}

/* `ready` may wait itself, to send, and end the sleep for which this wait has armed. A look at one task of another host may read
 * a message of another task, whose descriptor is then no longer readable: so these sleeps have a limit. */
static void local_wait_until(dome_transport_provider *self, bool (*ready)(void *ctx), void *ctx)
{
    dome_local *local = self->state;
    dome__pause w = {.turns = local->alone ? 0 : UINT_MAX}; /* no spinning where each look is a system call */
    for (; !ready(ctx); dome__rest(local, &w, FOR_WORD)) {
        w.armed = w.armed && atomic_load(&local->own->sleeping) != AWAKE;
        w.waited = w.waited || (w.armed && !local->alone);
    }
    dome__rested(local, &w);
}

static size_t bytes_of(const struct iovec *pieces, size_t count)
{
    size_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes += pieces[k].iov_len;
    return bytes;
}

static bool local_peek(dome_transport_provider *self, int rank, const struct iovec *here, const struct iovec *there, size_t count)
{
    enum { MOST = 1024 }; /* the system takes no more at once */
    const dome_local *local = self->state;
    bool good = is_near(local, rank) && local->road == DOME_ROAD_VM;
    for (size_t k = 0, n; good && k < count; k += n) {
        n = MIN(count - k, MOST);
        const size_t bytes = bytes_of(here + k, n);
        good = process_vm_readv(local->peers[local->place_of[rank]].pid, here + k, n, there + k, n, 0) == (ssize_t)bytes;
        dome__account_sent(&local->transport->account, bytes);
        dome__account_progress(&local->transport->account);
    }
    return good;
}

static void local_free(dome_local *local)
{
    dome__local_forget_messages(local);
    if (local->memory)
        munmap(local->memory, local->memory_bytes);
    if (local->doorbell >= 0)
        close(local->doorbell);
    g_free(local->doorbells);
    g_free(local->peers);
    g_free(local->place_of);
    g_free(local);
}

static void local_close(dome_transport_provider *self)
{
    dome_local *local = self->state;
    local->base.ops->close(&local->base);
    local_free(local);
}

static const dome_transport_ops local_ops = {
    .size = sizeof(dome_transport_ops),
    .name = "local",
    .can = DOME_TRANSPORT_OFFER | DOME_TRANSPORT_SHARE | DOME_TRANSPORT_PROBE | DOME_TRANSPORT_AT_ONCE | DOME_TRANSPORT_UNTIL |
           DOME_TRANSPORT_PEEK,
    .send = local_send,
    .send_at_once = local_send_at_once,
    .begin_send = local_begin_send,
    .end_send = local_end_send,
    .sent = local_sent,
    .recv_head = local_recv_head,
    .recv_data = local_recv_data,
    .arrived = local_arrived,
    .wait_until = local_wait_until,
    .share = dome__local_share,
    .peek = local_peek,
    .rouse = dome__local_rouse,
    .close = local_close,
};

/* Makes the road the transport's provider, with the one before inside it. */
static void wrap(dome_transport *t, dome_local *local)
{
    const unsigned without = local->tasks <= DOME_NEAR_MAX ? 0 : DOME_TRANSPORT_SHARE;
    local->base = dome__transport_wrap(t, &local_ops, local, local_ops.can & ~without);
}

/* ---- setting up ---- */

static uint32_t ring_bytes(int tasks)
{
    uint64_t ring = LARGEST;
    while (ring > SMALLEST && ring * (uint64_t)tasks * (uint64_t)tasks > RINGS)
        ring /= 2;
    return (uint32_t)ring;
}

/* Of slots, or of the board that stands in their place on a host of many tasks. */
static size_t slots_bytes(int tasks)
{
    const size_t slots = tasks <= DOME_NEAR_MAX ? (size_t)tasks * SLOTS * SLOT_BYTES : 0;
    return slots + (tasks >= DOME_BOARD_FROM ? dome__board_bytes(tasks) : 0);
}

static size_t memory_bytes(int tasks)
{
    size_t n = (size_t)tasks;
    return sizeof(shared_header) + n * sizeof(shared_task) + n * n * (sizeof(shared_channel) + ring_bytes(tasks)) +
           slots_bytes(tasks);
}

/* The board is the last of the memory. */
static void put_up_board(dome_transport *t, const dome_local *local)
{
    if (local->tasks < DOME_BOARD_FROM)
        return;
    char *at = (char *)local->memory + local->memory_bytes - dome__board_bytes(local->tasks);
    dome__account_put_up_board(&t->account, (dome_board *)(void *)at, local->place, local->tasks);
}

static void lay_out(dome_local *local)
{
    size_t n = (size_t)local->tasks, me = (size_t)local->place;
    char *at = (char *)local->memory + sizeof(shared_header);
    shared_task *tasks = (shared_task *)(void *)at;
    shared_channel *channels = (shared_channel *)(void *)(at + n * sizeof *tasks);
    char *rings = (char *)(channels + n * n);
    local->own = &tasks[me];
    local->slots = rings + n * n * local->ring;
    for (size_t i = 0; i < n; i++) {
        peer *q = &local->peers[i];
        q->task = &tasks[i];
        q->out = &channels[me * n + i];
        q->in = &channels[i * n + me];
        q->out_ring = rings + (me * n + i) * local->ring;
        q->in_ring = rings + (i * n + me) * local->ring;
        if (i != me)
            q->messages = g_queue_new();
    }
}

/* Messages of the setup: the offer of the lowest rank of a host to the others, and their answer. */
enum { OFFER_ERROR, OFFER_PID, OFFER_FD, OFFER_NONCE, OFFER_PLACE = OFFER_NONCE + 2, OFFER_WORDS };
enum { ANSWER_ERROR, ANSWER_VM, ANSWER_PID, ANSWER_WORDS };

static bool map(dome_local *local, int fd)
{
    void *memory = mmap(NULL, local->memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    local->memory = memory;
    return true;
}

static int make_memory(dome_local *local, int64_t offer[OFFER_WORDS])
{
    uint64_t nonce[2];
    int fd = memfd_create("dome", MFD_CLOEXEC);
    dome_file_limit limit;
    dome__file_limit_begin(&limit); /* the file size limit applies to files in memory, too */
    bool long_enough = fd >= 0 && ftruncate(fd, (off_t)local->memory_bytes) == 0;
    dome__file_limit_end(&limit);
    if (!long_enough || !dome__random(nonce, sizeof nonce) || !map(local, fd)) {
        offer[OFFER_ERROR] = errno ? errno : EIO;
        return fd;
    }
    memcpy(((shared_header *)local->memory)->nonce, nonce, sizeof nonce);
    memcpy(&offer[OFFER_NONCE], nonce, sizeof nonce);
    offer[OFFER_PID] = getpid();
    offer[OFFER_FD] = fd;
    offer[OFFER_PLACE] = (int64_t)(intptr_t)local->memory;
    return fd;
}

/* The names of the doorbells contain the nonce from the shared memory, so only its tasks know them. */
static int hang_doorbell(dome_local *local)
{
    const uint64_t *nonce = ((const shared_header *)local->memory)->nonce;
    if (local->alone)
        return 0;
    local->doorbells = g_strdup_printf("dome-%016" PRIx64 "%016" PRIx64, nonce[0], nonce[1]);
    return dome__doorbell_open(local);
}

static bool can_read(pid_t pid, const void *address, const uint64_t nonce[2])
{
    uint64_t got[2] = {0};
    struct iovec here = {got, sizeof got}, there = {(void *)(uintptr_t)address, sizeof got};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == sizeof got && memcmp(got, nonce, sizeof got) == 0;
}

static void take_memory(dome_local *local, const int64_t offer[OFFER_WORDS], int64_t answer[ANSWER_WORDS])
{
    const uint64_t *nonce = (const uint64_t *)&offer[OFFER_NONCE];
    char path[64];
    g_snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)offer[OFFER_PID], (int)offer[OFFER_FD]);
    errno = 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || !map(local, fd))
        answer[ANSWER_ERROR] = errno ? errno : EIO;
    else if (memcmp(((shared_header *)local->memory)->nonce, nonce, 2 * sizeof *nonce) != 0)
        answer[ANSWER_ERROR] = ENOENT; /* another process has that pid now */
    if (fd >= 0)
        close(fd);
    if (!answer[ANSWER_ERROR])
        answer[ANSWER_ERROR] = hang_doorbell(local);
    if (!answer[ANSWER_ERROR])
        answer[ANSWER_VM] = can_read((pid_t)offer[OFFER_PID], (const void *)(intptr_t)offer[OFFER_PLACE], nonce);
    answer[ANSWER_PID] = getpid();
}

static int put_words(dome_transport *t, int dest, const int64_t *words, uint64_t count)
{
    return dome__send(t, dest, DOME_CHANNEL_CONTROL, DOME_I64, words, count);
}

static int take_words(dome_transport *t, int source, int64_t *words, uint64_t count)
{
    return dome__recv(t, source, DOME_CHANNEL_CONTROL, DOME_I64, words, count);
}

/* Run by the lowest rank: the memory is used only if all tasks can map it. verdict: an errno, whether all tasks can read each
 * other's memory, and all process ids. */
static int lead(dome_transport *t, dome_local *local, int64_t *verdict, int *refuser)
{
    int64_t offer[OFFER_WORDS] = {0};
    int status = DOME_OK, fd = make_memory(local, offer);
    if (!offer[OFFER_ERROR])
        offer[OFFER_ERROR] = hang_doorbell(local);
    verdict[0] = offer[OFFER_ERROR];
    verdict[1] = 1;
    verdict[2] = getpid();
    for (int i = 1; i < local->tasks && !status; i++)
        status = put_words(t, local->peers[i].rank, offer, OFFER_WORDS);
    for (int i = 1; i < local->tasks && !status; i++) {
        int64_t answer[ANSWER_WORDS];
        status = take_words(t, local->peers[i].rank, answer, ANSWER_WORDS);
        if (status)
            break;
        if (answer[ANSWER_ERROR] && !verdict[0]) {
            verdict[0] = answer[ANSWER_ERROR];
            *refuser = local->peers[i].rank;
        }
        verdict[1] = verdict[1] && answer[ANSWER_VM];
        verdict[2 + i] = answer[ANSWER_PID];
    }
    if (fd >= 0)
        close(fd);
    for (int i = 1; i < local->tasks && !status; i++)
        status = put_words(t, local->peers[i].rank, verdict, 2 + (uint64_t)local->tasks);
    return status;
}

static int follow(dome_transport *t, dome_local *local, int64_t *verdict)
{
    int64_t offer[OFFER_WORDS], answer[ANSWER_WORDS] = {0};
    int leader = local->peers[0].rank, status = take_words(t, leader, offer, OFFER_WORDS);
    if (status)
        return status;
    if (!offer[OFFER_ERROR])
        take_memory(local, offer, answer);
    status = put_words(t, leader, answer, ANSWER_WORDS);
    return status ? status : take_words(t, leader, verdict, 2 + (uint64_t)local->tasks);
}

static bool is_here(const dome_transport *t, char *const *hosts, int rank)
{
    return strcmp(hosts[rank], hosts[t->group.rank]) == 0 && dome__format_with(t, rank) == DOME_NATIVE;
}

static dome_local *local_new(dome_transport *t, char *const *hosts)
{
    dome_local *local = g_new0(dome_local, 1);
    local->transport = t;
    local->doorbell = -1;
    local->place_of = g_new(int, t->group.size);
    for (int r = 0; r < t->group.size; r++) {
        if (r == t->group.rank)
            local->place = local->tasks;
        local->place_of[r] = is_here(t, hosts, r) ? local->tasks++ : -1;
    }
    local->alone = local->tasks == t->group.size;
    local->peers = g_new0(peer, local->tasks);
    for (int r = 0; r < t->group.size; r++)
        if (local->place_of[r] >= 0)
            local->peers[local->place_of[r]].rank = r;
    local->ring = ring_bytes(local->tasks);
    local->memory_bytes = memory_bytes(local->tasks);
    return local;
}

static void say(const dome_transport *t, char *const *hosts, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void say(const dome_transport *t, char *const *hosts, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    dome__say("tasks on host %s %s", hosts[t->group.rank], text);
    g_free(text);
}

/* Number of processors that this task may use. */
static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Sets up the road if possible. */
static int join(dome_transport *t, char *const *hosts, dome_road road)
{
    dome_local *local = local_new(t, hosts);
    int64_t *verdict = g_new0(int64_t, 2 + local->tasks);
    int refuser = -1, status = DOME_OK;
    bool good = local->tasks > 1 && (local->alone || (t->provider.can & DOME_TRANSPORT_LISTEN));
    if (good) {
        status = local->place == 0 ? lead(t, local, verdict, &refuser) : follow(t, local, verdict);
        good = !status && !verdict[0];
        if (!status && verdict[0] && local->place == 0) {
            const char *why = g_strerror((int)verdict[0]);
            if (refuser < 0)
                say(t, hosts, "exchange data through %s, which is slower: shared memory cannot be had: %s", t->provider.ops->name,
                    why);
            else
                say(t, hosts, "exchange data through %s, which is slower: task %d cannot reach the memory of task %d: %s",
                    t->provider.ops->name, refuser, t->group.rank, why);
        }
    }
    if (!good) {
        local_free(local);
        g_free(verdict);
        return status;
    }
    if (road == DOME_ROAD_VM && !verdict[1] && local->place == 0)
        say(t, hosts, "may not read each other's memory (process_vm_readv): long messages go through shared memory");
    local->road = verdict[1] && road != DOME_ROAD_SHM ? DOME_ROAD_VM : DOME_ROAD_SHM;
    for (int i = 0; i < local->tasks; i++)
        local->peers[i].pid = (pid_t)verdict[2 + i];
    g_free(verdict);
    lay_out(local);
    local->spins = local->tasks <= processors() ? SPINS : 0;
    local->yields = YIELDS;
    local->eager = EAGER;
    wrap(t, local);
    put_up_board(t, local);
    return DOME_OK;
}

/* Finds the groups of tasks that share memory, on all tasks alike. */
static int find_groups(dome_transport *t, char *const *hosts)
{
    int size = t->group.size, hosts_seen = 0, status = DOME_OK;
    int32_t first = t->group.rank;
    if (t->provider.can & DOME_TRANSPORT_SHARE)
        first = ((const dome_local *)t->provider.state)->peers[0].rank;
    for (int r = 0; r < size; r++) {
        int before = 0;
        while (before < r && strcmp(hosts[before], hosts[r]) != 0)
            before++;
        hosts_seen += before == r;
    }
    if (hosts_seen == size)
        return DOME_OK;
    int32_t *leader = g_new0(int32_t, (gsize)MAX(size, 1));
    if (hosts_seen == 1 && !t->group.data_format)
        for (int r = 0; r < size; r++)
            leader[r] = first == t->group.rank && !(t->provider.can & DOME_TRANSPORT_SHARE) ? r : first;
    else
        status = dome__allgather(t, DOME_I32, &first, 1, leader);
    dome__group_set_hosts(&t->group, leader, SLOT_BYTES - sizeof(shared_slot));
    return status;
}

int dome__local_open(dome_transport *t, char *const *hosts, dome_road road)
{
    if (t->group.size == 1 || road == DOME_ROAD_PROVIDER)
        return DOME_OK;
    int status = join(t, hosts, road);
    return status ? status : find_groups(t, hosts);
}

bool dome__local_is(const dome_transport *t)
{
    return t->provider.ops == &local_ops;
}

dome_road dome__local_road(const dome_transport *t)
{
    return t->provider.ops == &local_ops ? ((const dome_local *)t->provider.state)->road : DOME_ROAD_PROVIDER;
}
