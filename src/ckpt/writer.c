#include "ckpt/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* ---- captures ---- */

/* In large pages where the system has them: both sides of the copy are in order then, and most of its time is not spent in
 * finding pages. */
static void *new_buffer(uint64_t bytes)
{
    enum { LARGE_PAGE = 2 << 20, ALIGNMENT = 64 };
    const bool large = bytes >= LARGE_PAGE;
    void *buffer = NULL;
    if (posix_memalign(&buffer, large ? LARGE_PAGE : ALIGNMENT, (size_t)bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    if (large)
        madvise(buffer, (size_t)bytes, MADV_HUGEPAGE);
#endif
    return buffer;
}

void dome__ckpt_capture_init(dome_ckpt_capture *capture)
{
    *capture = (dome_ckpt_capture){0};
    capture->runs = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_run));
    capture->blocks = g_array_new(FALSE, FALSE, sizeof(dome_ckpt_block));
}

void dome__ckpt_capture_empty(dome_ckpt_capture *capture)
{
    capture->used = 0;
    g_array_set_size(capture->runs, 0);
    g_array_set_size(capture->blocks, 0);
    g_clear_pointer(&capture->problem, g_free);
}

void dome__ckpt_capture_free(dome_ckpt_capture *capture)
{
    dome__ckpt_capture_empty(capture);
    g_array_unref(capture->runs);
    g_array_unref(capture->blocks);
    free(capture->buffer);
}

void *dome__ckpt_capture_room(dome_ckpt_capture *capture, uint64_t bytes)
{
    enum { ALIGNMENT = 16 };
    uint64_t at = (capture->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, end;
    if (__builtin_add_overflow(at, bytes, &end) || end > G_MAXSIZE / 2)
        return NULL;
    if (end > capture->room) {
        uint64_t room = MAX(end, MIN(end + end / 4, G_MAXSIZE / 2));
        char *buffer = new_buffer(room);
        if (!buffer)
            return NULL;
        if (capture->used > 0)
            memcpy(buffer, capture->buffer, (size_t)capture->used);
        free(capture->buffer);
        capture->buffer = buffer;
        capture->room = room;
    }
    capture->used = end;
    return capture->buffer + at;
}

void dome__ckpt_capture_reserve(dome_ckpt_capture *capture, uint64_t bytes)
{
    enum { PAGE = 4096 };
    if (bytes <= capture->room || !dome__ckpt_capture_room(capture, bytes))
        return;
    capture->used = 0;
    for (uint64_t at = 0; at < bytes; at += PAGE)
        ((volatile char *)capture->buffer)[at] = 0;
}

static dome_ckpt_block *block_of(const dome_ckpt_capture *capture, const dome_ckpt_run *run, uint64_t k)
{
    return &g_array_index(capture->blocks, dome_ckpt_block, run->blocks + k);
}

/* From values in memory to their portable form, in place: that is never longer. A block's checksum is taken while it is in the
 * cache. */
static void convert_and_sum_run(const dome_ckpt_capture *capture, const dome_ckpt_run *run, char *scratch, size_t room)
{
    const size_t size = run->type ? dome_type_size(run->type) : 1, portable = run->type ? dome_type_portable_size(run->type) : 1;
    char *to = run->count > 0 ? capture->buffer + block_of(capture, run, 0)->at : NULL;
    for (uint64_t k = 0; k < run->count; k++) {
        dome_ckpt_block *b = block_of(capture, run, k);
        if (run->type) {
            const char *from = capture->buffer + b->at;
            uint64_t values = b->bytes / size;
            b->at = (uint64_t)(to - capture->buffer);
            b->bytes = values * portable;
            for (uint64_t done = 0, n; done < values; done += n) {
                n = MIN(values - done, room / portable);
                dome_type_pack(run->type, DOME_PORTABLE, scratch, from, (size_t)n);
                memcpy(to, scratch, (size_t)n * portable);
                from += n * size;
                to += n * portable;
            }
        }
        b->sum = dome__ckpt_sum(capture->buffer + b->at, (size_t)b->bytes);
    }
}

static void convert_and_sum(dome_ckpt_capture *capture)
{
    enum { CHUNK = 1 << 13 };
    char *scratch = NULL;
    size_t room = 0;
    for (guint i = 0; i < capture->runs->len; i++) {
        const dome_ckpt_run *run = &g_array_index(capture->runs, dome_ckpt_run, i);
        if (run->type && room < dome_type_portable_size(run->type)) {
            g_free(scratch);
            room = MAX(CHUNK, dome_type_portable_size(run->type));
            scratch = g_malloc(room);
        }
        convert_and_sum_run(capture, run, scratch, room);
    }
    g_free(scratch);
}

/* ---- messages: numbers of 64 bits, big-endian, and what follows them ---- */

static void put(GByteArray *to, uint64_t value)
{
    value = GUINT64_TO_BE(value);
    g_byte_array_append(to, (const guint8 *)&value, sizeof value);
}

static void put_text(GByteArray *to, const char *text)
{
    uint64_t bytes = text ? strlen(text) : 0;
    put(to, bytes);
    g_byte_array_append(to, (const guint8 *)text, (guint)bytes);
}

typedef struct reader {
    const uint8_t *at;
    uint64_t left;
    bool bad;
} reader;

static const void *take(reader *r, uint64_t bytes)
{
    if (r->bad || bytes > r->left) {
        r->bad = true;
        return NULL;
    }
    const void *data = r->at;
    r->at += bytes;
    r->left -= bytes;
    return data;
}

static uint64_t get(reader *r)
{
    uint64_t value = 0;
    const void *data = take(r, sizeof value);
    if (data)
        memcpy(&value, data, sizeof value);
    return GUINT64_FROM_BE(value);
}

static char *get_text(reader *r)
{
    uint64_t bytes = get(r);
    const char *text = take(r, bytes);
    return text && bytes > 0 ? g_strndup(text, bytes) : NULL;
}

static GByteArray *describe_capture(const dome_ckpt_capture *capture)
{
    GByteArray *m = g_byte_array_new();
    put_text(m, capture->problem);
    put(m, capture->problem ? 0 : capture->runs->len);
    for (guint i = 0; !capture->problem && i < capture->runs->len; i++) {
        const dome_ckpt_run *run = &g_array_index(capture->runs, dome_ckpt_run, i);
        put(m, run->object);
        put(m, run->first);
        put(m, run->count);
        for (uint64_t k = 0; k < run->count; k++) {
            const dome_ckpt_block *b = block_of(capture, run, k);
            put(m, b->bytes);
            g_byte_array_append(m, b->sum.bytes, sizeof b->sum.bytes);
        }
    }
    return m;
}

/* ---- rank 0 ---- */

/* What rank 0 keeps of a task's message: which entries of the table are its. */
typedef struct claim {
    uint64_t entry, count;
} claim;

typedef struct leader {
    dome_ckpt_job *job;
    uint8_t *known;  /* by entry: captured by some task */
    GArray **claims; /* by rank, in the order of its message */
    bool *writes;    /* by rank: it has its places, and will say how that ended */
    char *problem;   /* the first */
    int fd;
} leader;

static void note(leader *l, char *problem)
{
    if (l->problem)
        g_free(problem);
    else
        l->problem = problem;
}

static void note_lost(leader *l, char *problem)
{
    l->job->lost = true;
    note(l, problem);
}

static bool take_block(const dome_ckpt_object *object, dome_ckpt_entry *e, uint64_t bytes, const void *sum)
{
    if (object->fixed && e->length != bytes)
        return false;
    e->length = bytes;
    memcpy(e->sum.bytes, sum, sizeof e->sum.bytes);
    return true;
}

static void take_capture(leader *l, int rank, const void *data, uint64_t bytes)
{
    dome_ckpt *ckpt = l->job->ckpt;
    reader r = {data, bytes, false};
    char *problem = get_text(&r);
    if (problem)
        note(l, problem);
    uint64_t runs = get(&r);
    bool fits = true;
    for (uint64_t i = 0; i < runs && !r.bad && fits; i++) {
        uint64_t index = get(&r), first = get(&r), count = get(&r);
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, index);
        fits = object && first <= object->blocks && count <= object->blocks - first;
        for (uint64_t k = 0; fits && k < count; k++) {
            uint64_t length = get(&r);
            const void *sum = take(&r, sizeof(dome_ckpt_sum));
            fits = sum && take_block(object, dome__ckpt_entry(ckpt, object, first + k), length, sum);
            if (fits)
                l->known[object->first_entry + first + k] = 1;
        }
        claim c = {fits ? object->first_entry + first : 0, count};
        g_array_append_val(l->claims[rank], c);
    }
    if (r.bad || !fits || r.left > 0)
        note(l, g_strdup_printf("what task %d has does not fit the description of the state", rank));
}

/* Blocks that nobody captured are as they were in the checkpoint before. */
static void fill_unchanged(leader *l)
{
    dome_ckpt *ckpt = l->job->ckpt;
    for (guint i = 0; i < ckpt->objects->len && !l->problem; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(ckpt, i), *old = NULL;
        bool looked = false;
        for (uint64_t b = 0; b < object->blocks && !l->problem; b++) {
            dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
            if (l->known[object->first_entry + b])
                continue;
            if (!looked && l->job->previous && !l->job->full)
                old = dome__ckpt_find(l->job->previous, object->name);
            looked = true;
            const dome_ckpt_entry *o = old ? dome__ckpt_entry(l->job->previous, old, b) : NULL;
            if (!o || o->source == 0 || (object->fixed && o->length != e->length)) {
                char *name = dome__ckpt_shown(object->name);
                note(l, g_strdup_printf("nobody has block %" PRIu64 " of %s", b, name));
                g_free(name);
                continue;
            }
            e->length = o->length;
            e->sum = o->sum;
        }
    }
}

static void send_places(leader *l, const dome_ckpt_link *link, int rank)
{
    const dome_ckpt *ckpt = l->job->ckpt;
    GByteArray *m = g_byte_array_new();
    char *message = NULL;
    put(m, l->problem ? 0 : ckpt->number);
    for (guint i = 0; !l->problem && i < l->claims[rank]->len; i++) {
        claim c = g_array_index(l->claims[rank], claim, i);
        for (uint64_t k = 0; k < c.count; k++) {
            const dome_ckpt_entry *e = &ckpt->table[c.entry + k];
            put(m, e->source == ckpt->number ? e->offset : 0);
        }
    }
    bool begins = !l->problem;
    l->writes[rank] = link->send(link->ctx, rank, m->data, m->len, &message) && begins;
    if (message)
        note_lost(l, message);
    g_byte_array_unref(m);
}

/* Blocks that have to be written again, so that files with little else can go, are copied from there. */
static void copy_from_earlier(leader *l)
{
    dome_ckpt_job *job = l->job;
    dome_ckpt_file *file = NULL;
    char *buffer = NULL;
    uint64_t room = 0;
    for (guint i = 0; i < job->ckpt->objects->len && !l->problem; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(job->ckpt, i);
        for (uint64_t b = 0; b < object->blocks && !l->problem; b++) {
            const dome_ckpt_entry *e = dome__ckpt_entry(job->ckpt, object, b);
            if (l->known[object->first_entry + b] || e->source != job->ckpt->number || e->length == 0)
                continue;
            if (!file) {
                char *path =
                    dome__ckpt_file_path(job->directory, job->previous->number, job->previous->piece, job->previous->pieces);
                file = dome__ckpt_open(path, &l->problem);
                g_free(path);
            }
            if (e->length > room) {
                g_free(buffer);
                room = e->length;
                buffer = room <= G_MAXSIZE ? g_try_malloc((gsize)room) : NULL;
                if (!buffer)
                    note(l, g_strdup("there is no memory for a block"));
            }
            const dome_ckpt_object *old = file ? dome__ckpt_find(dome__ckpt_head(file), object->name) : NULL;
            if (!l->problem && (!old || !dome__ckpt_read(file, old, b, buffer, &l->problem))) {
                note(l, g_strdup("the checkpoint before is another one than it was"));
                job->previous_damaged = true;
            } else if (!l->problem) {
                dome__store_write(l->fd, buffer, e->length, e->offset, &l->problem);
            }
            if (!file)
                job->previous_damaged = true;
        }
    }
    g_free(buffer);
    dome__ckpt_close(file);
}

/* ---- writing ---- */

/* Rank 0 hears now and then that a task is not done yet, but gets on: a word alone. */
typedef struct news {
    const dome_ckpt_link *link;
    unsigned progress; /* of which rank 0 has heard */
    gint64 at;         /* when, microseconds */
} news;

static void tell_news(void *context)
{
    enum { EVERY = G_USEC_PER_SEC };
    news *n = context;
    gint64 now = g_get_monotonic_time();
    unsigned progress = dome__store_progress();
    if (n->link->rank == 0 || now - n->at < EVERY || progress == n->progress)
        return;
    n->at = now;
    n->progress = progress;
    char *lost = NULL; /* the message at the end finds that out, too */
    GByteArray *m = g_byte_array_new();
    put(m, progress);
    n->link->send(n->link->ctx, 0, m->data, m->len, &lost);
    g_byte_array_unref(m);
    g_free(lost);
}

static news begin_news(const dome_ckpt_link *link)
{
    return (news){link, dome__store_progress(), g_get_monotonic_time()};
}

static void write_blocks(dome_ckpt_capture *capture, int fd, news *news, char **message)
{
    enum { WRITE_BYTES = 8 << 20 };
    char *from = capture->buffer;
    uint64_t offset = 0, at = 0, bytes = 0;
    for (guint i = 0; i <= capture->blocks->len && !*message; i++) {
        const dome_ckpt_block *b = i < capture->blocks->len ? &g_array_index(capture->blocks, dome_ckpt_block, i) : NULL;
        if (b && (b->offset == 0 || b->bytes == 0))
            continue;
        /* What lies together here and there is written together. */
        if (b && bytes > 0 && b->at == at + bytes && b->offset == offset + bytes) {
            bytes += b->bytes;
            continue;
        }
        for (uint64_t done = 0, n; done < bytes && !*message; done += n) {
            n = MIN(bytes - done, WRITE_BYTES);
            dome__store_write(fd, from + at + done, n, offset + done, message);
            tell_news(news);
        }
        if (b) {
            at = b->at;
            offset = b->offset;
            bytes = b->bytes;
        }
    }
}

static bool has_something(const dome_ckpt_capture *capture)
{
    for (guint i = 0; i < capture->blocks->len; i++)
        if (g_array_index(capture->blocks, dome_ckpt_block, i).offset > 0)
            return true;
    return false;
}

static void take_places(dome_ckpt_capture *capture, reader *r)
{
    for (guint i = 0; i < capture->blocks->len; i++)
        g_array_index(capture->blocks, dome_ckpt_block, i).offset = get(r);
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void follow(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    void *data;
    uint64_t bytes;
    double begin = processor_seconds();
    convert_and_sum(job->capture);
    GByteArray *m = describe_capture(job->capture);
    bool good = link->send(link->ctx, 0, m->data, m->len, &job->message);
    g_byte_array_unref(m);
    if (!good || !link->receive(link->ctx, 0, &data, &bytes, &job->message))
        return;
    reader r = {data, bytes, false};
    uint64_t number = get(&r);
    if (number > 0) {
        char *problem = NULL;
        take_places(job->capture, &r);
        if (r.bad || r.left > 0) {
            problem = g_strdup("the places of blocks are missing");
        } else if (has_something(job->capture)) {
            dome_ckpt name = {.number = number};
            int fd = dome__store_join(job->directory, &name, &problem);
            if (fd >= 0) {
                news news = begin_news(link);
                write_blocks(job->capture, fd, &news, &problem);
                if (!problem)
                    dome__store_sync(fd, tell_news, &news, &problem);
                close(fd);
            }
        }
        job->seconds = processor_seconds() - begin;
        m = g_byte_array_new();
        put_text(m, problem);
        put(m, (uint64_t)(job->seconds * 1e9));
        job->written = link->send(link->ctx, 0, m->data, m->len, &job->message) && !problem;
        g_byte_array_unref(m);
        g_free(problem);
    }
    g_free(data);
}

static void take_done(leader *l, const dome_ckpt_link *link, int rank)
{
    void *data = NULL;
    uint64_t bytes = 0;
    char *message = NULL;
    do { /* news are shorter than the end */
        g_free(data);
        if (!link->receive(link->ctx, rank, &data, &bytes, &message)) {
            l->writes[rank] = false;
            note_lost(l, message);
            return;
        }
        dome__store_got_on();
    } while (bytes == sizeof(uint64_t));
    reader r = {data, bytes, false};
    char *problem = get_text(&r);
    double seconds = (double)get(&r) * 1e-9;
    if (problem)
        note(l, problem);
    l->job->cost = MAX(l->job->cost, seconds);
    g_free(data);
}

static void gather(leader *l, const dome_ckpt_link *link)
{
    for (int rank = 0; rank < link->size; rank++) {
        void *data;
        uint64_t bytes;
        char *message = NULL;
        l->claims[rank] = g_array_new(FALSE, FALSE, sizeof(claim));
        if (rank == 0) {
            GByteArray *own = describe_capture(l->job->capture);
            take_capture(l, 0, own->data, own->len);
            g_byte_array_unref(own);
        } else if (link->receive(link->ctx, rank, &data, &bytes, &message)) {
            dome__store_got_on();
            take_capture(l, rank, data, bytes);
            g_free(data);
        } else {
            note_lost(l, message);
        }
    }
}

static void own_places(leader *l)
{
    dome_ckpt_capture *capture = l->job->capture;
    const dome_ckpt *ckpt = l->job->ckpt;
    guint at = 0;
    for (guint i = 0; i < l->claims[0]->len; i++) {
        claim c = g_array_index(l->claims[0], claim, i);
        for (uint64_t k = 0; k < c.count; k++, at++) {
            const dome_ckpt_entry *e = &ckpt->table[c.entry + k];
            g_array_index(capture->blocks, dome_ckpt_block, at).offset = e->source == ckpt->number ? e->offset : 0;
        }
    }
}

/* What has still to be done for a checkpoint that is written. */
static void conclude(leader *l)
{
    dome_ckpt_job *job = l->job;
    if (job->then)
        job->then(job->then_ctx);
    dome__store_prune(job->store, job->keep, &l->problem);
}

static void lead(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    leader l = {.job = job, .fd = -1};
    dome__ckpt_make_table(job->ckpt);
    l.known = g_malloc0(job->ckpt->entries + 1);
    l.claims = g_new0(GArray *, link->size);
    l.writes = g_new0(bool, link->size);
    double begin = processor_seconds();
    convert_and_sum(job->capture);
    gather(&l, link);
    if (!l.problem)
        fill_unchanged(&l);
    if (!l.problem)
        dome__ckpt_plan(job->ckpt, job->previous, &l.problem);
    if (!l.problem)
        l.fd = dome__store_create(job->directory, job->ckpt, &l.problem);
    bool begun = !l.problem;
    for (int rank = 1; rank < link->size; rank++)
        send_places(&l, link, rank);
    if (begun) {
        if (!l.problem) {
            own_places(&l);
            news news = begin_news(link);
            write_blocks(job->capture, l.fd, &news, &l.problem);
        }
        copy_from_earlier(&l);
        job->cost = processor_seconds() - begin;
        for (int rank = 1; rank < link->size; rank++)
            if (l.writes[rank])
                take_done(&l, link, rank);
        if (!l.problem)
            job->written = dome__store_commit(job->directory, job->ckpt, l.fd, &l.problem);
        else
            dome__store_abandon(job->directory, job->ckpt, l.fd);
    }
    if (job->written) {
        job->data_bytes = dome__ckpt_data_bytes(job->ckpt);
        conclude(&l);
    }
    job->seconds = processor_seconds() - begin;
    job->cost = MAX(job->cost, job->seconds);
    job->message = l.problem;
    for (int rank = 0; rank < link->size; rank++)
        g_array_unref(l.claims[rank]);
    g_free(l.claims);
    g_free(l.writes);
    g_free(l.known);
}

/* ---- pieces ---- */

/*   rank 0                       leaders of groups                 others
 *   plans each piece  ------->   make the file, say so
 *                     ----------------------------------------->   get their places
 *                                write their blocks and send copies to the next group's leader, which writes them; fsync; say so
 *   all is written    ------->   give the file its name, say so
 *   all have it       ------->   remove what is not needed any more */

enum { ORDER_NOTHING, ORDER_GIVE_UP, ORDER_WRITE };

/* Bytes of one message with copies. */
static const uint64_t COPY_MOST = (uint64_t)8 << 20;

typedef struct part {
    dome_ckpt_job *job;
    const dome_ckpt_link *link;
    int order;
    dome_ckpt *head;  /* leader: what its piece begins with */
    uint64_t *copies; /* by block of the capture: place in the next group's piece; 0: none */
    int fd;
    bool leads, receiving;
    pthread_t receiver;
    char *problem, *copy_problem;
    double begin;
} part;

static void note_part(part *p, char *problem)
{
    if (problem && p->problem)
        g_free(problem);
    else if (problem)
        p->problem = problem;
}

/* What the tasks of the group before have, until each has said that there is no more. */
static void *receive_copies(void *argument)
{
    part *p = argument;
    const dome_ckpt_link *in = &p->job->pieces->in;
    for (int from = 1; from < in->size; from++) {
        for (;;) {
            void *data;
            uint64_t bytes, offset;
            char *message = NULL;
            if (!in->receive(in->ctx, from, &data, &bytes, &message)) {
                if (!p->copy_problem)
                    p->copy_problem = g_steal_pointer(&message);
                g_free(message);
                break;
            }
            bool end = bytes <= sizeof offset;
            if (!end && p->fd >= 0 && !p->copy_problem) {
                memcpy(&offset, data, sizeof offset);
                dome__store_write(p->fd, (char *)data + sizeof offset, bytes - sizeof offset, GUINT64_FROM_BE(offset),
                                  &p->copy_problem);
            }
            g_free(data);
            if (end)
                break;
        }
    }
    return NULL;
}

static bool send_copy(part *p, const char *data, uint64_t bytes, uint64_t offset)
{
    const dome_ckpt_link *out = &p->job->pieces->out;
    char *message = NULL;
    GByteArray *m = g_byte_array_new();
    put(m, offset);
    g_byte_array_append(m, (const guint8 *)data, (guint)bytes);
    bool good = out->send(out->ctx, 0, m->data, m->len, &message);
    g_byte_array_unref(m);
    note_part(p, message);
    return good;
}

static void send_copies(part *p, news *news)
{
    const dome_ckpt_capture *capture = p->job->capture;
    bool good = true;
    for (guint i = 0; p->order == ORDER_WRITE && good && i < capture->blocks->len; i++) {
        const dome_ckpt_block *b = &g_array_index(capture->blocks, dome_ckpt_block, i);
        for (uint64_t done = 0, n; p->copies[i] > 0 && good && done < b->bytes; done += n) {
            n = MIN(b->bytes - done, COPY_MOST);
            good = send_copy(p, capture->buffer + b->at + done, n, p->copies[i] + done);
            dome__store_got_on();
            tell_news(news);
        }
    }
    if (good)
        send_copy(p, NULL, 0, 0);
}

/* What one task has to do. Groups' leaders get the head of their piece as well. */
static GByteArray *order_for(const leader *l, dome_ckpt *const piece[], int rank, int order)
{
    const dome_ckpt_pieces *p = l->job->pieces;
    GByteArray *m = g_byte_array_new();
    put(m, (uint64_t)order);
    if (order != ORDER_WRITE)
        return m;
    int own = p->group[rank], next = (own + 1) % p->count;
    put(m, l->job->ckpt->number);
    for (guint i = 0; i < l->claims[rank]->len; i++) {
        claim c = g_array_index(l->claims[rank], claim, i);
        for (uint64_t k = 0; k < c.count; k++) {
            put(m, piece[own]->table[c.entry + k].offset);
            put(m, piece[next]->table[c.entry + k].offset);
        }
    }
    if (p->leader[own] == rank) {
        void *head = dome__ckpt_encode(piece[own]);
        put(m, piece[own]->file_bytes);
        put(m, piece[own]->head_bytes);
        g_byte_array_append(m, head, (guint)piece[own]->head_bytes);
        g_free(head);
    }
    return m;
}

static void take_order(part *p, const void *data, uint64_t bytes)
{
    dome_ckpt_job *job = p->job;
    const dome_ckpt_pieces *pieces = job->pieces;
    reader r = {data, bytes, false};
    p->order = (int)get(&r);
    if (p->order == ORDER_WRITE) {
        dome_ckpt name = {.number = get(&r), .pieces = (uint32_t)pieces->count};
        name.piece = (uint32_t)pieces->group[p->link->rank] + 1;
        p->copies = g_new0(uint64_t, job->capture->blocks->len + 1);
        for (guint i = 0; i < job->capture->blocks->len; i++) {
            g_array_index(job->capture->blocks, dome_ckpt_block, i).offset = get(&r);
            p->copies[i] = get(&r);
        }
        if (p->leads) {
            uint64_t file_bytes = get(&r), head_bytes = get(&r);
            const void *head = take(&r, head_bytes);
            p->head = head ? dome__ckpt_decode(head, head_bytes, file_bytes, &p->problem) : NULL;
            if (p->head)
                p->fd = dome__store_create(job->directory, p->head, &p->problem);
        } else {
            p->fd = dome__store_join(job->directory, &name, &p->problem);
        }
        if (r.bad)
            note_part(p, g_strdup("the places of blocks are missing"));
    }
    if (p->leads && p->order != ORDER_NOTHING)
        p->receiving = pthread_create(&p->receiver, NULL, receive_copies, p) == 0;
    if (p->leads && p->order != ORDER_NOTHING && !p->receiving)
        note_part(p, g_strdup("no thread can be started for copies"));
}

/* Until the thread ends, with news of what it writes. */
static void join_receiver(part *p, news *news)
{
    int joined;
    do {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        joined = pthread_timedjoin_np(p->receiver, NULL, &until);
        tell_news(news);
    } while (joined == ETIMEDOUT);
}

static void write_part(part *p)
{
    news news = begin_news(p->link);
    if (p->order == ORDER_WRITE && !p->problem)
        write_blocks(p->job->capture, p->fd, &news, &p->problem);
    if (p->order != ORDER_NOTHING)
        send_copies(p, &news);
    if (p->receiving) {
        join_receiver(p, &news);
        note_part(p, g_steal_pointer(&p->copy_problem));
    }
    if (p->fd >= 0 && !p->problem)
        dome__store_sync(p->fd, tell_news, &news, &p->problem);
    p->job->seconds = processor_seconds() - p->begin;
}

static void end_part(part *p, bool commit)
{
    if (p->leads && p->fd >= 0 && commit)
        dome__store_commit(p->job->directory, p->head, p->fd, &p->problem);
    else if (p->leads && p->fd >= 0)
        dome__store_abandon(p->job->directory, p->head, p->fd);
    else if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

static bool tell(part *p, const dome_ckpt_link *link)
{
    char *message = NULL;
    GByteArray *m = g_byte_array_new();
    put_text(m, p->problem);
    put(m, (uint64_t)(p->job->seconds * 1e9));
    bool good = link->send(link->ctx, 0, m->data, m->len, &message);
    g_byte_array_unref(m);
    note_part(p, message);
    return good;
}

static bool hear(part *p, const dome_ckpt_link *link, uint64_t *word)
{
    void *data = NULL;
    uint64_t bytes;
    char *message = NULL;
    if (!link->receive(link->ctx, 0, &data, &bytes, &message)) {
        note_part(p, message);
        return false;
    }
    reader r = {data, bytes, false};
    *word = get(&r);
    g_free(data);
    return true;
}

static void follow_pieces(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    const dome_ckpt_pieces *pieces = job->pieces;
    part p = {.job = job, .link = link, .fd = -1, .begin = processor_seconds()};
    void *data = NULL;
    uint64_t bytes, word = 0;
    p.leads = pieces->leader[pieces->group[link->rank]] == link->rank;
    convert_and_sum(job->capture);
    GByteArray *m = describe_capture(job->capture);
    bool good = link->send(link->ctx, 0, m->data, m->len, &p.problem);
    g_byte_array_unref(m);
    if (good && link->receive(link->ctx, 0, &data, &bytes, &p.problem)) {
        take_order(&p, data, bytes);
        good = p.order != ORDER_NOTHING && (!p.leads || tell(&p, link));
        write_part(&p);
        good = good && tell(&p, link);
        if (p.leads) {
            good = good && hear(&p, link, &word);
            end_part(&p, good && word != 0);
            good = good && word != 0 && tell(&p, link) && hear(&p, link, &word);
            job->written = good && word != 0;
            if (job->written && !p.problem)
                dome__store_prune(job->store, job->keep, &p.problem);
        }
        end_part(&p, false);
    } else {
        send_copy(&p, NULL, 0, 0); /* the next group's leader waits for the end of copies */
    }
    g_free(data);
    g_free(p.copies);
    dome__ckpt_free(p.head);
    job->message = p.problem;
}

/* What each piece has: the blocks of its group and those of the one before. */
static dome_ckpt **plan_pieces(leader *l, int size)
{
    const dome_ckpt_pieces *p = l->job->pieces;
    const dome_ckpt *whole = l->job->ckpt;
    dome_ckpt **piece = g_new0(dome_ckpt *, p->count + 1);
    for (int g = 0; g < p->count && !l->problem; g++) {
        piece[g] = dome__ckpt_whole_of(whole);
        piece[g]->piece = (uint32_t)g + 1;
        piece[g]->pieces = (uint32_t)p->count;
        for (int rank = 0; rank < size; rank++) {
            if (p->group[rank] != g && (p->group[rank] + 1) % p->count != g)
                continue;
            for (guint i = 0; i < l->claims[rank]->len; i++) {
                claim c = g_array_index(l->claims[rank], claim, i);
                for (uint64_t k = 0; k < c.count; k++) {
                    piece[g]->table[c.entry + k] = whole->table[c.entry + k];
                    piece[g]->table[c.entry + k].source = whole->number;
                }
            }
        }
        dome__ckpt_plan(piece[g], NULL, &l->problem);
    }
    return piece;
}

static void send_order(leader *l, const dome_ckpt_link *link, dome_ckpt *const piece[], int rank, int order)
{
    char *message = NULL;
    GByteArray *m = order_for(l, piece, rank, order);
    l->writes[rank] = link->send(link->ctx, rank, m->data, m->len, &message) && order != ORDER_NOTHING;
    if (message)
        note_lost(l, message);
    g_byte_array_unref(m);
}

static bool leads_group(const dome_ckpt_pieces *p, int rank)
{
    return p->leader[p->group[rank]] == rank;
}

static void send_word(leader *l, const dome_ckpt_link *link, uint64_t word)
{
    for (int rank = 1; rank < link->size; rank++) {
        char *message = NULL;
        GByteArray *m = g_byte_array_new();
        put(m, word);
        if (leads_group(l->job->pieces, rank) && !link->send(link->ctx, rank, m->data, m->len, &message))
            note(l, message);
        g_byte_array_unref(m);
    }
}

static void lead_pieces(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    const dome_ckpt_pieces *pieces = job->pieces;
    leader l = {.job = job, .fd = -1};
    part own = {.job = job, .link = link, .fd = -1, .leads = true, .begin = processor_seconds()};
    dome__ckpt_make_table(job->ckpt);
    l.known = g_malloc0(job->ckpt->entries + 1);
    l.claims = g_new0(GArray *, link->size);
    l.writes = g_new0(bool, link->size);
    convert_and_sum(job->capture);
    gather(&l, link);
    if (!l.problem)
        fill_unchanged(&l);
    dome_ckpt **piece = l.problem ? NULL : plan_pieces(&l, link->size);
    int order = l.problem ? ORDER_NOTHING : ORDER_WRITE;
    for (int rank = 1; rank < link->size; rank++)
        if (leads_group(pieces, rank))
            send_order(&l, link, piece, rank, order);
    GByteArray *m = order_for(&l, piece, 0, order);
    take_order(&own, m->data, m->len);
    g_byte_array_unref(m);
    for (int rank = 1; rank < link->size; rank++)
        if (l.writes[rank])
            take_done(&l, link, rank);
    if (own.problem)
        note(&l, g_strdup(own.problem));
    int others = order == ORDER_WRITE && l.problem ? ORDER_GIVE_UP : order;
    for (int rank = 1; rank < link->size; rank++)
        if (!leads_group(pieces, rank))
            send_order(&l, link, piece, rank, others);
    write_part(&own);
    for (int rank = 1; rank < link->size; rank++)
        if (l.writes[rank])
            take_done(&l, link, rank);
    if (own.problem)
        note(&l, g_steal_pointer(&own.problem));
    bool commit = order == ORDER_WRITE && !l.problem;
    if (order == ORDER_WRITE)
        send_word(&l, link, commit);
    end_part(&own, commit);
    if (commit) {
        if (own.problem)
            note(&l, g_steal_pointer(&own.problem));
        for (int rank = 1; rank < link->size; rank++)
            if (leads_group(pieces, rank))
                take_done(&l, link, rank);
        job->written = !l.problem;
        send_word(&l, link, job->written);
    }
    if (job->written) {
        for (int g = 0; g < pieces->count; g++)
            job->data_bytes += dome__ckpt_data_bytes(piece[g]);
        conclude(&l);
    }
    job->seconds = processor_seconds() - own.begin;
    job->cost = MAX(job->cost, job->seconds);
    job->message = l.problem;
    for (int g = 0; piece && g < pieces->count; g++)
        dome__ckpt_free(piece[g]);
    for (int rank = 0; rank < link->size; rank++)
        g_array_unref(l.claims[rank]);
    g_free(piece);
    g_free(own.problem);
    g_free(own.copies);
    dome__ckpt_free(own.head);
    g_free(l.claims);
    g_free(l.writes);
    g_free(l.known);
}

void dome__ckpt_write_together(dome_ckpt_job *job, const dome_ckpt_link *link)
{
    job->written = job->lost = job->previous_damaged = false;
    job->message = NULL;
    job->seconds = job->cost = 0;
    job->data_bytes = 0;
    if (job->pieces && link->rank == 0)
        lead_pieces(job, link);
    else if (job->pieces)
        follow_pieces(job, link);
    else if (link->rank == 0)
        lead(job, link);
    else
        follow(job, link);
}
