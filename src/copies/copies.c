#include "copies/copies_private.h"

#include "peer/peer_start.h"
#include "system/bytes.h"
#include "system/files.h"
#include "system/io.h"
#include "system/time.h"
#include "transport/agree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a question, and how many of them wait for their answers: as many as the channel takes (DOME_PEER_KEPT). */
enum { CHUNK = 192 << 10, WINDOW = 4 };

/* Between two looks whether this task is to leave the view. */
static const uint64_t LOOK_NS = 5000000;

/* ---- the line to the partner ---- */

static dome_copies_line *line_new(void)
{
    dome_copies_line *l = g_new0(dome_copies_line, 1);
    pthread_condattr_t clock;
    l->refs = 1;
    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&l->come, &clock);
    pthread_condattr_destroy(&clock);
    return l;
}

static void line_unref(dome_copies_line *l)
{
    if (!g_atomic_int_dec_and_test(&l->refs))
        return;
    pthread_cond_destroy(&l->come);
    pthread_mutex_destroy(&l->lock);
    g_free(l->why);
    g_free(l);
}

/* In the channel's thread. */
static void answered(void *ctx, const dome_peer_answer *answer)
{
    dome_copies_line *l = ctx;
    pthread_mutex_lock(&l->lock);
    l->under_way--;
    l->gone |= answer->status != DOME_PEER_OK;
    if (answer->status == DOME_PEER_OK && answer->bytes && !l->why)
        l->why = g_strndup(answer->data, answer->bytes);
    pthread_cond_signal(&l->come);
    pthread_mutex_unlock(&l->lock);
    line_unref(l);
}

/* Waits until so few questions are under way. */
static bool await(dome_copies *c, unsigned most)
{
    dome_copies_line *l = c->line;
    dome_transport *t = c->env->transport;
    const uint64_t start = dome__account_begin_wait(&t->account, DOME_WAITS(c->partner, DOME_WAITS_SERVICE), 0);
    pthread_mutex_lock(&l->lock);
    while (l->under_way > most && !l->gone && !l->why && !dome__transport_asks_to_leave()) {
        const struct timespec until = dome__in_ns(LOOK_NS);
        pthread_cond_timedwait(&l->come, &l->lock, &until);
    }
    const bool good = l->under_way <= most && !l->gone && !l->why;
    pthread_mutex_unlock(&l->lock);
    const uint64_t took = start ? dome__account_end_wait(&t->account, c->partner, start) : 0;
    if (start && t->waited)
        t->waited(t, c->partner, start, took);
    return good;
}

/* The copies are incomplete until all of this has been answered. */
static bool ask(dome_copies *c, const GByteArray *question)
{
    dome_copies_line *l = c->line;
    g_clear_pointer(&c->host, g_free);
    if (c->failed || !await(c, WINDOW - 1))
        return !(c->failed = true);
    pthread_mutex_lock(&l->lock);
    l->under_way++;
    pthread_mutex_unlock(&l->lock);
    g_atomic_int_inc(&l->refs);
    const dome_peer_question q = {c->partner, DOME_PEER_COPIES, question->data, question->len, answered, l};
    if (dome__peer_ask_then(c->env->peer, &q) == DOME_PEER_OK)
        return true;
    answered(l, &(dome_peer_answer){.status = DOME_PEER_GONE});
    return !(c->failed = true);
}

/* ---- giving ---- */

static GByteArray *question_of(dome_keeper_kind kind, const uint64_t *words, size_t count)
{
    GByteArray *q = g_byte_array_new();
    dome__append_u64(q, kind);
    for (size_t k = 0; k < count; k++)
        dome__append_u64(q, words[k]);
    return q;
}

bool dome__copies_range(dome_copies *c, const dome_copies_range *range)
{
    bool good = true;
    for (uint64_t done = 0; good && done < range->length;) {
        const uint64_t part = MIN(range->length - done, CHUNK),
                       words[] = {range->file, range->place, range->bytes, range->from + done};
        GByteArray *q = question_of(DOME_KEEPER_RANGE, words, G_N_ELEMENTS(words));
        dome__append_bytes(q, (const char *)range->data + done, (size_t)part);
        good = ask(c, q);
        g_byte_array_unref(q);
        done += part;
    }
    return good;
}

static bool unreadable(dome_copies *c, const char *path, const char *reason)
{
    dome_copies_line *l = c->line;
    pthread_mutex_lock(&l->lock);
    if (!l->why)
        l->why = g_strdup_printf("'%s' cannot be read: %s", path, reason);
    pthread_mutex_unlock(&l->lock);
    return !(c->failed = true);
}

static bool give_file(dome_copies *c, uint64_t number, int fd, const char *path)
{
    char *buffer = g_malloc(CHUNK);
    bool good = true;
    for (uint64_t at = 0; good;) {
        const ssize_t got = pread(fd, buffer, CHUNK, (off_t)at);
        if (got < 0 && errno != EINTR)
            good = unreadable(c, path, g_strerror(errno));
        if (got == 0)
            break;
        if (got < 0)
            continue;
        GByteArray *q = question_of(DOME_KEEPER_PART, (const uint64_t[]){number, at}, 2);
        dome__append_bytes(q, buffer, (size_t)got);
        good = ask(c, q);
        g_byte_array_unref(q);
        at += (uint64_t)got;
    }
    g_free(buffer);
    return good;
}

bool dome__copies_file(dome_copies *c, uint64_t number, const char *path)
{
    const char *reason;
    const int fd = dome__file_open(path, O_RDONLY | O_NOFOLLOW, &reason);
    struct stat s;
    if (fd < 0)
        return unreadable(c, path, reason);
    const bool good = give_file(c, number, fd, path);
    c->given = fstat(fd, &s) == 0 ? (uint64_t)s.st_size : 0;
    close(fd);
    return good;
}

bool dome__copies_commit(dome_copies *c, uint64_t number, const uint64_t *used, size_t count)
{
    GByteArray *q = question_of(DOME_KEEPER_COMMIT, (const uint64_t[]){number, c->given}, 2);
    for (size_t k = 0; k < count; k++)
        dome__append_u64(q, used[k]);
    bool good = ask(c, q);
    g_byte_array_unref(q);
    good = good && await(c, 0);
    c->failed = !good;
    if (good)
        c->host = g_strdup(c->env->hosts[c->partner]);
    return good;
}

/* What was under way is not waited for: its answers belong to the line before. */
char *dome__copies_why(dome_copies *c)
{
    dome_copies_line *before = g_steal_pointer(&c->line);
    c->line = line_new();
    c->failed = false;
    pthread_mutex_lock(&before->lock);
    char *why = g_steal_pointer(&before->why);
    pthread_mutex_unlock(&before->lock);
    line_unref(before);
    return why;
}

const char *dome__copies_host(const dome_copies *c)
{
    return c->host;
}

/* ---- when a view begins ---- */

/* Tasks of a group have partners in turn. */
int dome__copies_partner(int rank, int size, int groups, const int *group)
{
    const int next = (group[rank] + 1) % groups;
    int place = 0, there = 0;
    for (int r = 0; r < size; r++) {
        place += r < rank && group[r] == group[rank];
        there += group[r] == next;
    }
    place %= there;
    for (int r = 0; r < size; r++)
        if (group[r] == next && place-- == 0)
            return r;
    return -1;
}

/* In the channel's thread. */
static void keep(void *ctx, const dome_peer_request *request)
{
    dome_copies *c = ctx;
    char *why = dome__keeper_take(c->keeper, request->from, request->data, request->bytes);
    dome__peer_reply(request->peer, request->from, request->id, why, why ? (uint32_t)strlen(why) : 0);
    g_free(why);
}

/* Of what was given in views before, this group's keeper knows. The copies of a task that stays may still be whole. */
static void look_through(dome_copies *c, const GArray *items)
{
    const dome_copies_view *v = &c->view;
    for (guint i = 0; i < items->len; i++) {
        const dome_copies_item *x = &g_array_index(items, dome_copies_item, i);
        if ((int)x->group == v->group[c->env->rank])
            dome__keeper_note(c->keeper, (int)x->rank, x->number);
        if (v->stays && v->newest && v->newest == x->number && (int)x->rank == c->env->rank &&
            (int)x->group == v->group[c->partner] && g_strcmp0(v->host, c->env->hosts[c->partner]) == 0 && !c->host)
            c->host = g_strdup(v->host);
    }
}

static int connect_partner(dome_env *env, dome_copies *c)
{
    char *message = NULL;
    int status = dome__peer_start(env, "checkpoints");
    if (status != DOME_OK)
        return status;
    dome__peer_on(env->peer, DOME_PEER_COPIES, keep, c);
    if (dome__peer_reach(env->peer, c->partner) != DOME_PEER_OK)
        message = g_strdup_printf("the connections for checkpoints cannot be made: reaching task %d: %s", c->partner,
                                  g_strerror(dome__peer_error(env->peer, c->partner)));
    status = dome__agree(env, message ? DOME_ERR_START : DOME_OK, message);
    g_free(message);
    return status;
}

int dome__copies_start(dome_env *env, const dome_copies_view *view, dome_copies **copies)
{
    GArray *items = NULL;
    int status = dome__copies_list(env, view, &items);
    if (status == DOME_OK)
        status = dome__copies_fetch(env, view, items);
    if (status == DOME_OK) {
        dome_copies *c = *copies = g_new0(dome_copies, 1);
        *c = (dome_copies){.env = env, .view = *view, .line = line_new()};
        c->partner = dome__copies_partner(env->rank, env->size, view->groups, view->group);
        c->keeper = dome__keeper_new(view->directory, view->program, env->size, view->memory);
        look_through(c, items);
        status = connect_partner(env, c);
    }
    if (items)
        g_array_unref(items);
    return status;
}

void dome__copies_free(dome_copies *c)
{
    if (!c)
        return;
    if (c->env->peer)
        dome__peer_on(c->env->peer, DOME_PEER_COPIES, NULL, NULL);
    dome__keeper_free(c->keeper);
    line_unref(c->line);
    g_free(c->host);
    g_free(c);
}
