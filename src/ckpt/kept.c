#include "ckpt/kept.h"

#include "ckpt/handover_private.h"
#include "core/storage.h"
#include "system/bytes.h"
#include "system/files.h"
#include "transport/agree.h"
#include "transport/collective.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dome_kept {
    dome_env *env;
    int files[DOME_KEPT_FILES];
    uint64_t of[DOME_KEPT_FILES]; /* the number of the state in each; 0: it has none, or one that is not complete */
    uint64_t number;              /* of the newest that any task has tried to write; the same on all tasks */
};

/* ---- the files ---- */

/* NULL: it holds no state. */
static dome_ckpt_file *open_file(const dome_kept *k, int file)
{
    char *message = NULL, *path = g_strdup_printf("/proc/self/fd/%d", k->files[file]);
    dome_ckpt_file *opened = k->files[file] >= 0 ? dome__ckpt_open(path, &message) : NULL;
    g_free(message);
    g_free(path);
    return opened;
}

/* From now on the file's content is not taken for a state, even if this process ends. */
static void forget(dome_kept *k, int file)
{
    static const char blank[DOME_CKPT_HEADER];
    char *unlikely = NULL; /* its memory is there */
    k->of[file] = 0;
    if (k->files[file] >= 0)
        dome__store_write(k->files[file], blank, sizeof blank, 0, &unlikely);
    g_free(unlikely);
}

int dome__kept_new(dome_env *env, const int files[DOME_KEPT_FILES], dome_kept **kept)
{
    dome_kept *k = *kept = g_new0(dome_kept, 1);
    k->env = env;
    for (int f = 0; f < DOME_KEPT_FILES; f++) {
        k->files[f] = files[f];
        dome_ckpt_file *file = open_file(k, f);
        k->of[f] = file ? dome__ckpt_head(file)->number : 0;
        k->number = MAX(k->number, k->of[f]);
        dome__ckpt_close(file);
    }
    int status = dome__allreduce(env->transport, DOME_U64, &k->number, 1, dome__combine_max_u64, NULL);
    return status ? dome__fail_transport(env, status) : DOME_OK;
}

void dome__kept_free(dome_kept *k)
{
    g_free(k);
}

void dome__kept_lose(dome_kept *k)
{
    forget(k, k->of[0] > k->of[1] ? 0 : 1);
}

/* ---- writing ---- */

/* Whether the system has the memory that the file does not have yet. */
static void check_memory(dome_state_piece *w, const dome_env *env)
{
    struct stat s;
    const uint64_t has = fstat(w->file.fd, &s) == 0 ? (uint64_t)s.st_blocks * 512 : 0;
    const uint64_t more = w->ckpt->file_bytes > has ? w->ckpt->file_bytes - has : 0;
    if (more + w->file.room > dome__storage_available())
        w->why = g_strdup_printf("host %s has no memory for another %" PRIu64 " MB", env->hosts[env->rank], (more >> 20) + 1);
    dome__state_piece_room(w);
}

/* The head comes last: with it the state is complete. */
static void write_piece(dome_state_piece *w, const dome_env *env)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    const bool sized = ftruncate(w->file.fd, (off_t)w->ckpt->file_bytes) == 0;
    const int error = errno;
    dome__file_limit_end(&limit);
    if (!sized)
        w->why = g_strdup_printf("there is no memory for it: %s", dome__file_error(error));
    dome__state_piece_write(w, env);
    void *head = w->why ? NULL : dome__ckpt_encode(w->ckpt);
    if (head)
        dome__store_write(w->file.fd, head, w->ckpt->head_bytes, 0, &w->why);
    g_free(head);
}

int dome__kept_write(dome_kept *k, const char *program, uint64_t loop, char **why)
{
    const int file = k->of[0] <= k->of[1] ? 0 : 1;
    dome_state_piece w = {.file.fd = k->files[file]};
    k->number++;
    dome__state_piece_describe(&w, k->env, program, k->number, loop);
    dome__state_piece_plan(&w, k->env);
    if (w.file.fd < 0 && !w.why)
        w.why = g_strdup("the system gives no file in memory for it");
    if (!w.why)
        check_memory(&w, k->env);
    if (!w.why) {
        forget(k, file);
        write_piece(&w, k->env);
    }
    if (w.why) {
        char *text = g_strdup_printf("%s (task %d on host %s)", w.why, k->env->rank, k->env->hosts[k->env->rank]);
        g_free(w.why);
        w.why = text;
    }
    /* From here on all tasks have it, or none. */
    int status = dome__handover_agree(k->env, &w.why);
    if (status == DOME_OK && !w.why)
        k->of[file] = k->number;
    else if (status == DOME_OK)
        forget(k, file);
    dome__ckpt_free(w.ckpt);
    g_free(w.file.buffer);
    *why = w.why;
    return status;
}

/* ---- reading ---- */

/* The newest state that is present on every task that has kept one. all: the numbers of each task's files. */
static uint64_t newest(const uint64_t *all, int size)
{
    uint64_t best = 0;
    for (int k = 0; k < size * DOME_KEPT_FILES; k++) {
        bool common = all[k] > best;
        for (int r = 0; common && r < size; r++) {
            const uint64_t *of = all + (size_t)r * DOME_KEPT_FILES;
            common = of[0] == all[k] || of[1] == all[k] || (of[0] == 0 && of[1] == 0);
        }
        best = common ? all[k] : best;
    }
    return best;
}

/* A task without a piece gets the directory from the first one that has one. */
static int share_piece(dome_env *env, int leader, dome_ckpt **piece)
{
    dome_transport *t = env->transport;
    void *head = t->group.rank == leader ? dome__ckpt_encode(*piece) : NULL;
    uint64_t words[2] = {*piece ? (*piece)->head_bytes : 0, *piece ? (*piece)->file_bytes : 0};
    char *why = NULL;
    int status = dome__bcast(t, leader, DOME_U64, words, G_N_ELEMENTS(words));
    if (status)
        status = dome__fail_transport(env, status);
    if (status == DOME_OK && !head)
        head = words[0] <= G_MAXSIZE ? g_try_malloc((gsize)words[0]) : NULL;
    if (status == DOME_OK)
        status = dome__agree(env, head ? DOME_OK : DOME_ERR_MEMORY, "no memory for the directory of the program's state");
    if (status == DOME_OK && (status = dome__bcast(t, leader, DOME_U8, head, words[0])))
        status = dome__fail_transport(env, status);
    if (status == DOME_OK && !*piece)
        *piece = dome__ckpt_decode(head, (size_t)words[0], words[1], &why);
    if (status == DOME_OK)
        status = dome__agree(env, *piece ? DOME_OK : DOME_ERR_FORMAT, why);
    g_free(why);
    g_free(head);
    return status;
}

/* Words about a block, from the task that has it. */
enum { LENGTH, OFFSET, SUM, HOLDER = SUM + DOME_HANDOVER_SUM, WORDS };

static void tell(uint64_t *words, const dome_ckpt_entry *e, int rank)
{
    words[LENGTH] = e->length;
    words[OFFSET] = e->offset;
    for (int k = 0; k < DOME_HANDOVER_SUM; k++)
        words[SUM + k] = dome__get_u64(e->sum.bytes + (size_t)k * sizeof *words);
    words[HOLDER] = (uint64_t)rank + 1;
}

static void hear(dome_ckpt_entry *e, const uint64_t *words, uint64_t number)
{
    *e = (dome_ckpt_entry){.source = number, .offset = words[OFFSET], .length = words[LENGTH]};
    for (int k = 0; k < DOME_HANDOVER_SUM; k++)
        dome__put_u64(e->sum.bytes + (size_t)k * sizeof *words, words[SUM + k]);
}

/* Puts together which task has which block. mine: this task's piece is one. whole and holder as for dome__handover_open_kept. */
static int put_together(dome_env *env, int leader, const dome_ckpt *piece, bool mine, dome_ckpt **whole, uint32_t **holder)
{
    uint64_t *words = g_try_new0(uint64_t, (gsize)piece->entries * WORDS + 1);
    *holder = g_try_new(uint32_t, (gsize)piece->entries + 1);
    *whole = dome__ckpt_whole_of(piece);
    int status = dome__agree(env, words && *holder ? DOME_OK : DOME_ERR_MEMORY, "no memory for the table of the program's state");
    for (guint i = 0; status == DOME_OK && mine && i < piece->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(piece, i);
        const bool tells = object->distribution != DOME_WHOLE || env->rank == leader;
        for (uint64_t b = 0; tells && b < object->blocks; b++)
            if (dome__ckpt_entry(piece, object, b)->source)
                tell(words + (object->first_entry + b) * WORDS, dome__ckpt_entry(piece, object, b), env->rank);
    }
    if (status == DOME_OK &&
        (status = dome__allreduce(env->transport, DOME_I64, words, piece->entries * WORDS, dome__combine_sum_i64, NULL)))
        status = dome__fail_transport(env, status);
    for (guint i = 0; status == DOME_OK && i < piece->objects->len; i++) {
        const dome_ckpt_object *object = dome__ckpt_object(piece, i);
        for (uint64_t b = 0; b < object->blocks; b++) {
            const uint64_t entry = object->first_entry + b, *of = words + entry * WORDS;
            (*holder)[entry] = of[HOLDER] ? (uint32_t)of[HOLDER] - 1 : DOME_HANDOVER_LOST;
            if (mine && object->distribution == DOME_WHOLE) /* its place here */
                (*whole)->table[entry] = piece->table[entry];
            else if (of[HOLDER])
                hear(&(*whole)->table[entry], of, piece->number);
        }
    }
    g_free(words);
    return status;
}

static int open_state(dome_kept *k, uint32_t view, uint64_t number, const bool *holds, dome_ckpt_file **file,
                      dome_handover_source **source)
{
    dome_env *env = k->env;
    const int own = k->of[0] == number ? 0 : 1;
    const bool mine = holds[env->rank];
    int leader = 0;
    while (!holds[leader])
        leader++;
    dome_ckpt_file *opened = mine ? open_file(k, own) : NULL;
    dome_ckpt *piece = opened ? dome__ckpt_take_head(opened) : NULL, *whole = NULL;
    uint32_t *holder = NULL;
    int status = dome__agree(env, !mine || piece ? DOME_OK : DOME_ERR_IO, "what the task has kept cannot be read from memory");
    if (status == DOME_OK)
        status = share_piece(env, leader, &piece);
    if (status == DOME_OK)
        status = put_together(env, leader, piece, mine, &whole, &holder);
    if (status == DOME_OK)
        status = dome__handover_open_kept(env,
                                          &(dome_handover_kept){.view = view,
                                                                .fd = mine ? k->files[own] : -1,
                                                                .whole = g_steal_pointer(&whole),
                                                                .holder = g_steal_pointer(&holder),
                                                                .holds = holds},
                                          file, source);
    dome__ckpt_free(piece);
    dome__ckpt_free(whole);
    g_free(holder);
    return status;
}

int dome__kept_open(dome_kept *k, uint32_t view, dome_ckpt_file **file, dome_handover_source **source)
{
    dome_env *env = k->env;
    const int size = env->size;
    uint64_t *all = g_new0(uint64_t, (gsize)size * DOME_KEPT_FILES);
    bool *holds = g_new0(bool, size);
    *file = NULL;
    int status = dome__allgather(env->transport, DOME_U64, k->of, DOME_KEPT_FILES, all);
    const uint64_t number = status ? 0 : newest(all, size);
    for (int r = 0; r < size; r++)
        holds[r] = number > 0 && (all[r * DOME_KEPT_FILES] == number || all[r * DOME_KEPT_FILES + 1] == number);
    if (status)
        status = dome__fail_transport(env, status);
    else if (number > 0)
        status = open_state(k, view, number, holds, file, source);
    /* A newer one is of a time that the program has gone back from. An older one stays, in case that this one is damaged. */
    for (int f = 0; status == DOME_OK && f < DOME_KEPT_FILES; f++)
        if (k->of[f] > number)
            forget(k, f);
    g_free(holds);
    g_free(all);
    return status;
}
