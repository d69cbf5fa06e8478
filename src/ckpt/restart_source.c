#include "ckpt/restart_source.h"

#include "store/store.h"
#include "system/files.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct restart_source {
    dome_block_source source;
    dome_env *env;
    dome_ckpt_file *file;
    const dome_ckpt_object *there;
    char *directory;
} restart_source;

/* ---- the file `doubted` ---- */

static char *doubted_path(const char *directory)
{
    return g_build_filename(directory, "doubted", NULL);
}

bool dome__restart_is_doubted(const char *directory)
{
    struct stat st;
    char *path = doubted_path(directory);
    const bool doubted = lstat(path, &st) == 0;
    g_free(path);
    return doubted;
}

/* A directory that cannot be written to has no such file: the next restart finds the damage again, and says so. */
void dome__restart_doubt(const char *directory)
{
    const char *reason;
    char *path = doubted_path(directory);
    dome__file_replace(path, "verify before going on\n", dome__store_file_mode(directory), &reason);
    g_free(path);
}

void dome__restart_trust(const char *directory)
{
    char *path = doubted_path(directory);
    unlink(path); /* what is left costs time alone */
    g_free(path);
}

/* ---- reading ---- */

static void lose(const restart_source *s, const char *why) __attribute__((noreturn));
static void lose(const restart_source *s, const char *why)
{
    char *line = g_strdup_printf("%s; the program has gone on before all of it was read, so this task ends; the next restart "
                                 "verifies first and takes an older checkpoint (task %d on host %s)",
                                 why, s->env->rank, s->env->hosts[s->env->rank]);
    dome__restart_doubt(s->directory);
    dome__fail_beside(s->env, DOME_ERR_LOST, line);
}

typedef struct taking {
    dome_block_take *take;
    void *ctx;
} taking;

static bool take_block(void *ctx, uint64_t block, const void *bytes, uint64_t length, char **message)
{
    const taking *t = ctx;
    (void)length, (void)message;
    t->take(t->ctx, block, bytes);
    return true;
}

static void read_blocks(dome_block_source *source, dome_span blocks, dome_block_take *take, void *ctx)
{
    const restart_source *s = (const restart_source *)source;
    const uint64_t longest = dome__ckpt_entry(dome__ckpt_head(s->file), s->there, 0)->length; /* all but the last are so long */
    const uint64_t room = MAX(MIN(DOME_CKPT_READ, longest * blocks.count), longest);
    const dome_ckpt_taker taker = {g_try_malloc((gsize)MAX(room, 1)), room, take_block, &(taking){take, ctx}};
    char *why = NULL;
    if (!taker.buffer)
        lose(s, "there is no memory for a block of a checkpoint");
    if (!dome__ckpt_read_run(s->file, s->there, blocks, &taker, &why))
        lose(s, why);
    g_free(taker.buffer);
}

static void free_source(dome_block_source *source)
{
    restart_source *s = (restart_source *)source;
    dome__ckpt_close(s->file);
    g_free(s->directory);
    g_free(s);
}

dome_block_source *dome__restart_source_new(dome_env *env, dome_ckpt_file *from, const dome_ckpt_object *there)
{
    restart_source *s = g_new(restart_source, 1);
    *s = (restart_source){.source = {read_blocks, free_source},
                          .env = env,
                          .file = dome__ckpt_ref(from),
                          .there = there,
                          .directory = g_path_get_dirname(dome__ckpt_path(from))};
    return &s->source;
}
