/* Reading a handover in the next view. All tasks know where each block is, and which task needs it: nobody asks. */
#include "ckpt/handover_private.h"
#include "system/files.h"
#include "system/io.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Memory is given back in steps of so many bytes. */
static const uint64_t GIVE_BYTES = (uint64_t)1 << 20;

/* A stretch of the piece whose blocks nobody will read again. */
typedef struct stretch {
    uint64_t begin, given, end; /* given back up to `given` */
} stretch;

struct dome_handover_source {
    dome_env *env;
    uint32_t view;
    dome_ckpt_file *file;
    int fd;              /* the file's: this host's piece; -1 */
    bool apart;          /* each task has a piece of its own, which it keeps (kept.h) */
    bool *near;          /* by piece: it is on this host; apart: it is this task's */
    int *keeps;          /* by rank: the piece that the task keeps; -1 */
    uint32_t *piece_of;  /* by entry */
    bool together;       /* all tasks are on the hosts of their pieces: nothing has to be sent */
    bool *come;          /* by entry: it has come to this host's piece from another one; NULL: none has */
    char *buffer, *sent; /* for a block or a message */
    uint64_t room;       /* for blocks that are read together */
    GHashTable *taken;   /* names of objects whose memory has been given back */
};

/* ---- opening ---- */

static bool read_all(int fd, void *to, uint64_t bytes, uint64_t offset)
{
    return dome__io_read_at(fd, to, bytes, offset) == bytes;
}

/* Task 0's piece ends with where everything is. */
static char *read_tail(int fd, dome_handover_tail *tail)
{
    struct stat s;
    const bool good = fd >= 0 && fstat(fd, &s) == 0 && s.st_size > (off_t)sizeof *tail &&
                      read_all(fd, tail, sizeof *tail, (uint64_t)s.st_size - sizeof *tail);
    return good ? NULL : g_strdup("the state of the program cannot be read from memory");
}

/* All tasks get the head, and the piece of each entry. */
static int share_head(dome_env *env, int fd, dome_ckpt **ckpt, uint32_t **piece_of)
{
    const bool leads = env->rank == 0;
    dome_handover_tail tail = {0};
    char *why = leads ? read_tail(fd, &tail) : NULL;
    int status = dome__agree(env, why ? DOME_ERR_IO : DOME_OK, why);
    uint64_t words[] = {tail.head_bytes, tail.file_bytes, tail.entries};
    g_clear_pointer(&why, g_free);
    if (status == DOME_OK)
        status = dome__checkpoint_share(env, words, G_N_ELEMENTS(words), DOME_U64);
    if (status != DOME_OK)
        return status;
    void *head = g_try_malloc((gsize)words[0] + 1);
    *piece_of = g_try_new0(uint32_t, (gsize)words[2] + 1);
    if (!head || !*piece_of)
        why = g_strdup("no memory for the directory of the program's state");
    else if (leads && (!read_all(fd, head, words[0], 0) || !read_all(fd, *piece_of, words[2] * sizeof **piece_of, words[1])))
        why = g_strdup("the state of the program cannot be read from memory");
    status = dome__agree(env, why ? DOME_ERR_MEMORY : DOME_OK, why);
    if (status == DOME_OK)
        status = dome__checkpoint_share(env, head, words[0], DOME_U8);
    if (status == DOME_OK)
        status = dome__checkpoint_share(env, *piece_of, words[2], DOME_U32);
    if (status == DOME_OK) {
        *ckpt = dome__ckpt_decode(head, (size_t)words[0], words[1], &why);
        status = dome__agree(env, *ckpt ? DOME_OK : DOME_ERR_FORMAT, why);
    }
    g_free(why);
    g_free(head);
    return status;
}

/* A task's words to the others about its piece. */
enum { KEPT, PROCESS, DESCRIPTOR, OFFER };

/* Whether each block is in a piece that a task has brought along. */
static bool complete(const dome_handover_source *s, const dome_ckpt *ckpt)
{
    const uint32_t size = (uint32_t)s->env->size;
    bool *kept = g_new0(bool, size), all = true;
    for (uint32_t r = 0; r < size; r++)
        if (s->keeps[r] >= 0)
            kept[s->keeps[r]] = true;
    for (uint64_t e = 0; e < ckpt->entries; e++)
        all &= s->piece_of[e] < size && kept[s->piece_of[e]];
    g_free(kept);
    return all;
}

/* Finds the pieces, and opens the one of this host. */
static int find_pieces(dome_handover_source *s, dome_handover_piece mine, const dome_ckpt *ckpt)
{
    dome_env *env = s->env;
    dome_transport *t = env->transport;
    uint64_t offer[OFFER] = {mine.fd >= 0 ? (uint64_t)mine.number + 1 : 0, (uint64_t)getpid(), (uint64_t)mine.fd};
    uint64_t *all = g_new0(uint64_t, (gsize)t->group.size * OFFER);
    char *why = NULL;
    int status = dome__allgather(t, DOME_U64, offer, OFFER, all);
    if (status)
        status = dome__fail_transport(env, status);
    s->keeps = g_new(int, t->group.size);
    s->near = g_new0(bool, t->group.size); /* there are at most as many pieces as tasks */
    s->together = true;
    for (int r = 0; r < t->group.size && status == DOME_OK; r++) {
        const uint64_t *of = all + (size_t)r * OFFER;
        s->keeps[r] = of[KEPT] > 0 && of[KEPT] <= (uint64_t)t->group.size ? (int)of[KEPT] - 1 : -1;
        s->together &= strcmp(env->hosts[r], env->hosts[0]) == 0;
        if (s->keeps[r] < 0 || strcmp(env->hosts[r], env->hosts[t->group.rank]) != 0)
            continue;
        s->near[s->keeps[r]] = true;
        if (r == t->group.rank) {
            s->fd = mine.fd;
            continue;
        }
        const char *reason;
        char *path = g_strdup_printf("/proc/%" PRIu64 "/fd/%" PRIu64, of[PROCESS], of[DESCRIPTOR]);
        if ((s->fd = dome__file_open(path, O_RDWR, &reason)) < 0)
            why = g_strdup_printf("the memory of task %d cannot be opened: %s", r, reason);
        g_free(path);
    }
    g_free(all);
    if (status == DOME_OK && !why && !complete(s, ckpt))
        why = g_strdup("a part of the program's state has not been brought along");
    if (status == DOME_OK)
        status = dome__agree(env, why ? DOME_ERR_IO : DOME_OK, why);
    g_free(why);
    return status;
}

static int make_room(dome_handover_source *s, const dome_ckpt *ckpt)
{
    s->room = DOME_CKPT_READ;
    for (uint64_t e = 0; e < ckpt->entries; e++)
        s->room = MAX(s->room, ckpt->table[e].length);
    const uint64_t longest = MAX(s->room, DOME_STATE_WRITE);
    s->buffer = longest <= G_MAXSIZE ? g_try_malloc((gsize)longest) : NULL;
    s->sent = s->together ? NULL : g_try_malloc((gsize)longest);
    const bool good = s->buffer && (s->sent || s->together);
    return dome__agree(s->env, good ? DOME_OK : DOME_ERR_MEMORY, "no memory for a block of the program's state");
}

/* For what is brought to this host, where no task has stayed. */
static int make_piece(dome_handover_source *s, const dome_ckpt *ckpt)
{
    if (!s->together && s->fd < 0)
        s->fd = memfd_create("dome-handover", MFD_CLOEXEC);
    s->come = g_new0(bool, ckpt->entries + 1);
    return dome__agree(s->env, s->together || s->fd >= 0 ? DOME_OK : DOME_ERR_MEMORY, "no memory for the program's state");
}

int dome__handover_open(dome_env *env, uint32_t view, dome_handover_piece piece, bool in_place, dome_ckpt_file **file,
                        dome_handover_source **source)
{
    dome_ckpt *ckpt = NULL;
    dome_handover_source *s = g_new0(dome_handover_source, 1);
    s->env = env;
    s->view = view;
    s->fd = -1;
    s->taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    int status = share_head(env, piece.fd, &ckpt, &s->piece_of);
    if (status == DOME_OK)
        status = find_pieces(s, piece, ckpt);
    if (status == DOME_OK)
        status = make_room(s, ckpt);
    if (status == DOME_OK && in_place)
        status = make_piece(s, ckpt);
    if (status != DOME_OK) {
        dome__ckpt_free(ckpt);
        dome__handover_close(s);
        return status;
    }
    char *name = g_strdup_printf("of view %" PRIu32, view);
    *file = s->file = dome__ckpt_adopt(name, s->fd, ckpt);
    *source = s;
    g_free(name);
    return DOME_OK;
}

int dome__handover_open_kept(dome_env *env, const dome_handover_kept *kept, dome_ckpt_file **file, dome_handover_source **source)
{
    const int size = env->size;
    dome_ckpt *whole = kept->whole;
    dome_handover_source *s = g_new0(dome_handover_source, 1);
    s->env = env;
    s->view = kept->view;
    s->apart = true;
    s->fd = kept->fd < 0 ? -1 : fcntl(kept->fd, F_DUPFD_CLOEXEC, 0);
    s->taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    s->piece_of = kept->holder;
    s->keeps = g_new(int, size);
    s->near = g_new0(bool, size);
    for (int r = 0; r < size; r++)
        s->keeps[r] = kept->holds[r] ? r : -1;
    s->near[env->rank] = kept->holds[env->rank];
    int status = make_room(s, whole);
    if (status != DOME_OK) {
        dome__ckpt_free(whole);
        dome__handover_close(s);
        return status;
    }
    char *name = g_strdup_printf("that the tasks kept, number %" PRIu64, whole->number);
    *file = s->file = dome__ckpt_adopt(name, s->fd, whole);
    *source = s;
    g_free(name);
    return DOME_OK;
}

GArray *dome__handover_lost(const dome_handover_source *s, const dome_ckpt_object *there)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(dome_span));
    for (uint64_t b = 0; s->apart && b < there->blocks; b++) {
        const uint64_t first = b * there->block_size, count = there->block_size ? there->block_size : there->length;
        const dome_span span = {first, MIN(count, there->length - first)};
        dome_span *last = spans->len > 0 ? &g_array_index(spans, dome_span, spans->len - 1) : NULL;
        if (s->piece_of[there->first_entry + b] != DOME_HANDOVER_LOST)
            continue;
        if (last && last->first + last->count == first)
            last->count += span.count;
        else
            g_array_append_val(spans, span);
    }
    return spans;
}

void dome__handover_close(dome_handover_source *s)
{
    if (!s)
        return;
    if (s->fd >= 0 && !s->file)
        close(s->fd);
    g_hash_table_unref(s->taken);
    g_free(s->keeps);
    g_free(s->near);
    g_free(s->piece_of);
    g_free(s->come);
    g_free(s->buffer);
    g_free(s->sent);
    g_free(s);
}

/* ---- giving memory back ---- */

/* Only whole pages are given back, so a step begins with the page in which the one before ended. */
static void give_back(const dome_handover_source *s, stretch *x)
{
    static const uint64_t PAGE = 4096;
    if (x->end > x->given)
        fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)MAX(x->begin, x->given / PAGE * PAGE),
                  (off_t)(x->end - MAX(x->begin, x->given / PAGE * PAGE)));
    x->given = x->end;
}

/* A block has been read for the last time. */
static void done_with(const dome_handover_source *s, stretch *x, const dome_ckpt_entry *e)
{
    if (e->offset != x->end) {
        give_back(s, x);
        x->begin = x->given = x->end = e->offset;
    }
    x->end += e->length;
    if (x->end - x->given >= GIVE_BYTES)
        give_back(s, x);
}

/* ---- taking ---- */

typedef struct taking {
    dome_handover_source *s;
    const dome_ckpt *head;
    dome_object *object;
    const dome_object_info *info;
    const dome_ckpt_object *there;
    bool whole; /* every task needs all of it */
    bool last;  /* each block has one reader, and is not kept: then its memory is given back */
    bool keeps; /* blocks that come are kept in this host's piece, for later */
    char *text; /* the first problem */
    int status;
} taking;

/* The blocks that a task needs. */
static int wanted(const taking *t, int rank, dome_span runs[2])
{
    return dome__state_blocks(t->s->env, rank, DOME_STATE_COMPLETE, t->info, runs);
}

static void fail(taking *t, int status, char *text)
{
    if (!t->text) {
        t->text = text;
        t->status = status;
    } else {
        g_free(text);
    }
}

static void take_block(taking *t, uint64_t block, const char *bytes, uint64_t length)
{
    int status = dome_object_read(t->object, block, 1, bytes, length);
    if (status != DOME_OK)
        fail(t, status,
             g_strdup_printf("block %" PRIu64 " of '%s' cannot be taken into view %" PRIu32 ": %s", block,
                             dome_object_name(t->object), t->s->view, dome_status_text((dome_status)status)));
}

static void keep_block(taking *t, uint64_t block, const char *bytes, uint64_t length)
{
    const uint64_t entry = t->there->first_entry + block;
    if (!dome__io_write_at(t->s->fd, bytes, length, t->head->table[entry].offset))
        fail(t, DOME_ERR_MEMORY, g_strdup_printf("no memory for a part of '%s': %s", t->there->name, g_strerror(errno)));
    t->s->come[entry] = true;
}

typedef struct nearby {
    taking *t;
    stretch done;
} nearby;

static bool take_one(void *ctx, uint64_t block, const void *bytes, uint64_t length, char **message)
{
    nearby *n = ctx;
    (void)message;
    take_block(n->t, block, bytes, length);
    if (n->t->last)
        done_with(n->t->s, &n->done, dome__ckpt_entry(n->t->head, n->t->there, block));
    return !n->t->text;
}

static bool is_lost(const taking *t, uint64_t block)
{
    return t->s->piece_of[t->there->first_entry + block] == DOME_HANDOVER_LOST;
}

/* Whether a block is in this host's piece. */
static bool is_near(const taking *t, uint64_t block)
{
    const dome_handover_source *s = t->s;
    if (s->come && s->come[t->there->first_entry + block])
        return true;
    if (is_lost(t, block) || dome__ckpt_entry(t->head, t->there, block)->length == 0)
        return false;
    return s->apart && t->whole ? s->keeps[s->env->rank] >= 0 : s->near[s->piece_of[t->there->first_entry + block]];
}

/* The blocks of this host's piece, in place. A block that is in none stays as it was made. */
static void take_near(taking *t)
{
    nearby near = {.t = t};
    const dome_ckpt_taker taker = {t->s->buffer, t->s->room, take_one, &near};
    dome_span runs[2];
    int count = wanted(t, t->s->env->rank, runs);
    for (int r = 0; r < count; r++) {
        const uint64_t end = runs[r].first + runs[r].count;
        for (uint64_t b = runs[r].first, n; !t->text && b < end; b += MAX(n, 1)) {
            char *why = NULL;
            for (n = 0; b + n < end && is_near(t, b + n);)
                n++;
            if (n == 0 && !is_lost(t, b) && dome__ckpt_entry(t->head, t->there, b)->length == 0)
                take_block(t, b, t->s->buffer, 0);
            else if (n > 0 && !dome__ckpt_read_run(t->s->file, t->there, (dome_span){b, n}, &taker, &why) && why)
                fail(t, DOME_ERR_IO, why);
        }
    }
    give_back(t->s, &near.done);
}

/* The entries that travel from one task to another. */
static GArray *between(const taking *t, int from, int to)
{
    const dome_handover_source *s = t->s;
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    dome_span runs[2];
    const bool has = s->apart ? t->whole && s->keeps[to] >= 0 : strcmp(s->env->hosts[from], s->env->hosts[to]) == 0;
    if (s->keeps[from] < 0 || has)
        return entries;
    int count = wanted(t, to, runs);
    for (int r = 0; r < count; r++)
        for (uint64_t b = runs[r].first; b < runs[r].first + runs[r].count; b++) {
            const uint64_t entry = t->there->first_entry + b;
            if (s->piece_of[entry] == (uint32_t)s->keeps[from] && t->head->table[entry].length > 0)
                g_array_append_val(entries, entry);
        }
    return entries;
}

/* Begins to send some entries. The receiver finds what cannot be read, by the checksums; so does a task that keeps its piece. */
static int send_some(taking *t, int to, const GArray *entries, guint *at, stretch *done)
{
    dome_handover_source *s = t->s;
    uint64_t bytes;
    const guint some = dome__handover_message(t->head, entries, *at, &bytes);
    char *data = s->sent;
    for (guint k = *at; k < *at + some; k++) {
        const dome_ckpt_entry *e = &t->head->table[g_array_index(entries, uint64_t, k)];
        char *why = NULL;
        if (!read_all(s->fd, data, e->length, e->offset))
            memset(data, 0, (size_t)e->length);
        if (s->apart &&
            !dome__ckpt_fits(s->file, t->there, g_array_index(entries, uint64_t, k) - t->there->first_entry, data, &why))
            fail(t, DOME_ERR_IO, why); /* it alone can see to it that this state is not taken again */
        if (t->last)
            done_with(s, done, e);
        data += e->length;
    }
    *at += some;
    return dome__begin_send(s->env->transport, to, DOME_CHANNEL_DATA, DOME_U8, s->sent, bytes);
}

static int receive_some(taking *t, int from, const GArray *entries, guint *at)
{
    dome_handover_source *s = t->s;
    uint64_t bytes;
    const guint some = dome__handover_message(t->head, entries, *at, &bytes);
    int status = dome__recv(s->env->transport, from, DOME_CHANNEL_DATA, DOME_U8, s->buffer, bytes);
    const char *data = s->buffer;
    for (guint k = *at; status == DOME_OK && k < *at + some; k++) {
        const uint64_t entry = g_array_index(entries, uint64_t, k), block = entry - t->there->first_entry;
        char *why = NULL;
        if (!dome__ckpt_fits(s->file, t->there, block, data, &why))
            fail(t, s->apart ? DOME_ERR_LOST : DOME_ERR_IO, why);
        else if (!t->text)
            (t->keeps ? keep_block : take_block)(t, block, data, t->head->table[entry].length);
        data += t->head->table[entry].length;
    }
    *at += some;
    return status;
}

/* In round k each task sends to the k-th after it, and receives from the k-th before it. */
static int exchange(taking *t)
{
    dome_transport *transport = t->s->env->transport;
    const int size = transport->group.size, rank = transport->group.rank;
    int status = DOME_OK;
    stretch done = {0};
    for (int k = 1; k < size && status == DOME_OK; k++) {
        const int dest = (rank + k) % size, source = (rank + size - k) % size;
        GArray *out = between(t, rank, dest), *in = between(t, source, rank);
        guint sent = 0, received = 0;
        while (status == DOME_OK && (sent < out->len || received < in->len)) {
            const bool sends = sent < out->len;
            if (sends)
                status = send_some(t, dest, out, &sent, &done);
            if (status == DOME_OK && received < in->len)
                status = receive_some(t, source, in, &received);
            if (sends)
                dome__end_send(transport, dest);
        }
        g_array_unref(out);
        g_array_unref(in);
    }
    give_back(t->s, &done);
    return status;
}

char *dome__handover_take(dome_handover_source *s, dome_object *object, const dome_object_info *info,
                          const dome_ckpt_object *there, int *status)
{
    taking t = {.s = s, .head = dome__ckpt_head(s->file), .object = object, .info = info, .there = there};
    t.whole = info->distribution == DOME_WHOLE;
    t.last = !t.whole && !s->apart;
    if (g_hash_table_contains(s->taken, there->name)) {
        *status = DOME_ERR_STATE;
        return g_strdup_printf("'%s' is made a second time in view %" PRIu32 ": its values went to the first one. Make it once "
                               "before the first loop boundary, or without a name",
                               there->name, s->view);
    }
    if (t.last)
        g_hash_table_add(s->taken, g_strdup(there->name));
    take_near(&t);
    int failed = s->together ? DOME_OK : exchange(&t);
    if (failed != DOME_OK)
        fail(&t, failed, g_strdup(s->env->transport->reason));
    *status = t.status;
    return t.text;
}

/* ---- spreading ---- */

/* What an object will be in this view, as its entry tells. The layout is the caller's. */
static dome_object_info expected(dome_env *env, const dome_ckpt_object *there, dome_layout **layout)
{
    const uint64_t n = there->length, block = there->block_size;
    *layout = there->distribution == DOME_DYNAMIC ? dome_layout_ref(dome_env_layout(env, n, block))
              : there->distribution == DOME_BLOCK ? dome_layout_even(n, block, env->size)
              : block                             ? dome_layout_even(n, block, 1)
                                                  : NULL;
    return (dome_object_info){.length = n, .width = there->width, .distribution = there->distribution, .layout = *layout};
}

static int spread_object(dome_handover_source *s, const dome_ckpt *head, const dome_ckpt_object *there, char **text)
{
    dome_layout *layout;
    const dome_object_info info = expected(s->env, there, &layout);
    taking t = {.s = s, .head = head, .info = &info, .there = there, .keeps = true};
    t.whole = info.distribution == DOME_WHOLE;
    const int status = exchange(&t);
    dome_layout_unref(layout);
    *text = t.text;
    return status;
}

int dome__handover_spread(dome_handover_source *s)
{
    dome_env *env = s->env;
    int status = DOME_OK;
    char *text = NULL;
    for (guint k = 0; !s->together && status == DOME_OK && !text && k < dome__ckpt_head(s->file)->objects->len; k++)
        status = spread_object(s, dome__ckpt_head(s->file), dome__ckpt_object(dome__ckpt_head(s->file), k), &text);
    if (status != DOME_OK)
        status = dome__fail_transport(env, status);
    else
        status = dome__agree(env, text ? DOME_ERR_IO : DOME_OK, text);
    s->together = true;
    g_free(text);
    return status;
}
