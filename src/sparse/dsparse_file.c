/* Sparse matrices as Matrix Market files. The tasks that see the file share its text evenly by bytes: a task parses the lines
 * that begin in its part. The entries then travel to the tasks that own their rows. */
#include "sparse/dsparse_private.h"

#include "core/layout.h"
#include "files/matrix_market.h"
#include "files/shared_file.h"
#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/transport.h"

#include <inttypes.h>
#include <string.h>

/* Text is read and written in pieces of this many bytes; a line is shorter. */
static const size_t PIECE_BYTES = DOME_MM_LONGEST;

/* ---- reading ---- */

/* The lines of one task: those that begin in the file's bytes first ... end - 1. */
typedef struct part {
    dome_shared_file *file;
    const dome_mm_header *header;
    uint64_t first, end;
    uint64_t lines;   /* parsed so far */
    uint64_t entries; /* of the file, without mirrored ones */
    dsparse_triplet_c128 *triplets;
    size_t count, room;
    char *message; /* what is wrong with the last line */
} part;

/* On rank 0: opens the file and parses its header. */
static bool open_first(dome_shared_file *f, dome_mm_header *header)
{
    size_t bytes = 0;
    char *text = NULL, *message = NULL;
    bool good = dome__shared_open(f), parsed = false;
    while (good && !parsed && !message) {
        bytes = (size_t)MIN(f->bytes, MAX(2 * (uint64_t)bytes, 4096));
        g_free(text);
        text = g_try_malloc(bytes + 1);
        if (!text)
            dome__shared_note(f, DOME_ERR_MEMORY, "no memory for the header of '%s'", f->path);
        good = text && dome__shared_read(f, 0, text, bytes);
        if (good)
            parsed = dome__mm_header(header, text, bytes, f->bytes, &message);
    }
    if (message)
        dome__shared_note_format(f, message);
    g_free(text);
    return parsed;
}

static int share_header(dome_env *env, dome_mm_header *h)
{
    uint64_t words[] = {h->field, h->symmetry, h->rows, h->columns, h->entries, h->bytes, h->lines};
    int failed = dome__bcast(env->transport, 0, DOME_U64, words, G_N_ELEMENTS(words));
    *h = (dome_mm_header){(dome_mm_field)words[0], (dome_mm_symmetry)words[1], words[2], words[3], words[4], words[5], words[6]};
    return failed ? dome__fail_transport(env, failed) : DOME_OK;
}

/* Sets which bytes of the file this task parses: none if it does not see the file. */
static void choose_part(part *p)
{
    dome_env *env = p->file->env;
    uint64_t seers = 0, before = 0, bytes = p->file->bytes - p->header->bytes;
    for (int r = 0; r < env->size; r++) {
        before += r < env->rank && p->file->seen[r];
        seers += p->file->seen[r];
    }
    p->first = p->header->bytes + bytes / seers * before + bytes % seers * before / seers;
    before += p->file->seen[env->rank];
    p->end = p->header->bytes + bytes / seers * before + bytes % seers * before / seers;
}

static bool keep(part *p, const dsparse_triplet_c128 *t, int count)
{
    if (p->room - p->count < 2) {
        size_t room = p->room ? 2 * p->room : 4096;
        dsparse_triplet_c128 *more = g_try_realloc_n(p->triplets, room, sizeof *more);
        if (!more) {
            dome__shared_note(p->file, DOME_ERR_MEMORY, "no memory for the entries of '%s'", p->file->path);
            return false;
        }
        p->triplets = more;
        p->room = room;
    }
    for (int k = 0; k < count; k++)
        p->triplets[p->count++] = t[k];
    p->entries += count > 0;
    return true;
}

static bool take_line(part *p, const char *line, size_t bytes)
{
    dsparse_triplet_c128 t[2];
    int count;
    p->lines++;
    return dome__mm_line(p->header, line, bytes, t, &count, &p->message) && keep(p, t, count);
}

/* Takes the lines that begin in buffer[from ... limit - 1] and are whole: they end with a newline or, if `last`, with the buffer.
 * Returns where the first line begins that was not taken; `bytes` if a line was refused. */
static size_t take_lines(part *p, const char *buffer, size_t from, size_t limit, size_t bytes, bool last)
{
    while (from < limit) {
        const char *newline = memchr(buffer + from, '\n', bytes - from);
        if (!newline && !last)
            return from;
        size_t end = newline ? (size_t)(newline - buffer) : bytes;
        if (!take_line(p, buffer + from, end - from))
            return bytes;
        from = MIN(end + 1, bytes);
    }
    return from;
}

/* Where the first line begins that begins in the part, in a buffer with the file's bytes from p->first - 1 on; `bytes` if it is
 * not in the buffer. */
static size_t first_line(const part *p, const char *buffer, size_t bytes)
{
    if (p->first == p->header->bytes)
        return 0;
    const char *newline = memchr(buffer, '\n', bytes);
    return newline ? (size_t)(newline - buffer) + 1 : bytes;
}

static void parse_part(part *p)
{
    dome_shared_file *f = p->file;
    uint64_t at = p->first - (p->first > p->header->bytes); /* of buffer[0] in the file */
    char *buffer = p->first < p->end ? g_try_malloc(PIECE_BYTES) : NULL;
    size_t bytes = 0;
    bool inside = false; /* a line of the part has begun */
    if (p->first < p->end && !buffer)
        dome__shared_note(f, DOME_ERR_MEMORY, "no memory to read '%s'", f->path);
    while (buffer && !p->message && at < p->end) {
        size_t more = (size_t)MIN(PIECE_BYTES - bytes, f->bytes - at - bytes);
        if (!dome__shared_read(f, at + bytes, buffer + bytes, more))
            break;
        bytes += more;
        size_t from = inside ? 0 : first_line(p, buffer, bytes);
        inside = inside || from < bytes || (bytes > 0 && buffer[bytes - 1] == '\n');
        size_t next = take_lines(p, buffer, from, (size_t)MIN(bytes, p->end - at), bytes, at + bytes == f->bytes);
        if (next == 0 && bytes == PIECE_BYTES && ++p->lines)
            p->message = g_strdup_printf("the line has more than %zu bytes", PIECE_BYTES);
        memmove(buffer, buffer + next, bytes - next);
        at += next;
        bytes -= next;
        if (f->status || at + bytes == f->bytes)
            break;
    }
    g_free(buffer);
}

/* All tasks fail with the first line that is wrong, or go on. */
static int check_parts(part *p)
{
    dome_shared_file *f = p->file;
    dome_env *env = f->env;
    uint64_t mine[2] = {p->lines, p->entries}, *all = g_new(uint64_t, 2 * (gsize)env->size), line = p->header->lines, found = 0;
    int failed = dome__allgather(env->transport, DOME_U64, mine, 2, all);
    for (int r = 0; r < env->size && !failed; r++) {
        line += r <= env->rank ? all[2 * r] : 0;
        found += all[2 * r + 1];
    }
    g_free(all);
    if (failed)
        return dome__fail_transport(env, failed);
    if (p->message)
        dome__shared_note(f, DOME_ERR_FORMAT, "'%s', line %" PRIu64 ": %s", f->path, line, p->message);
    int status = dome__shared_finish(f);
    if (!status && found != p->header->entries)
        status = dome__fail(env, DOME_ERR_FORMAT, "'%s' has %" PRIu64 " entries, but promises %" PRIu64, f->path, found,
                            p->header->entries);
    return status;
}

static int read_entries(dsparse *a, dome_shared_file *f, const dome_mm_header *header)
{
    part p = {.file = f, .header = header};
    int status = dome__shared_find(f);
    if (!status) {
        choose_part(&p);
        parse_part(&p);
        status = check_parts(&p);
    }
    if (!status)
        status = (int)dsparse__assemble_parts(a, p.count, p.triplets);
    g_free(p.triplets);
    g_free(p.message);
    return status;
}

dsparse *dsparse_read(dome_env *env, const char *name, const char *path)
{
    DOME_NEEDS(env, "the environment", NULL);
    dome_operation op;
    uint64_t words[] = {dome__text_word(env, name), dome__text_word(env, path)};
    dome__begin_with(&op, env, DOME_OP_DSPARSE_READ, NULL, words, G_N_ELEMENTS(words));
    if (!path || !*path) {
        dome__end(&op, dome__fail(env, DOME_ERR_ARGUMENT, "no file is named"));
        return NULL;
    }
    dome_shared_file f;
    dome_mm_header header = {0};
    dsparse *a = NULL;
    dome__shared_begin(&f, env, path);
    if (env->rank == 0)
        open_first(&f, &header);
    int status = dome__shared_agree(&f);
    if (!status)
        status = share_header(env, &header);
    if (!status) {
        dome_type type = header.field == DOME_MM_COMPLEX ? DOME_C128 : DOME_F64;
        a = dsparse_new_of(env, name, type, header.rows, header.columns);
        status = a ? read_entries(a, &f, &header) : (int)dome_error_status(env);
    }
    if (status && a) {
        dome_object_free(a->object);
        a = NULL;
    }
    dome__shared_end(&f);
    dome__end(&op, status);
    return a;
}

/* ---- writing ---- */

/* The text of this task's rows, which is made twice: first its length, then its bytes. */
typedef struct text {
    const dsparse *a;
    dome_shared_file *file; /* NULL: only the length is wanted */
    char *buffer;
    size_t filled;
    uint64_t offset; /* in the file, of the buffer; or the length so far */
} text;

static bool flush(text *t)
{
    bool good = !t->file || dome__shared_write(t->file, t->offset, t->buffer, t->filled);
    t->offset += t->filled;
    t->filled = 0;
    return good;
}

static bool print_block(text *t, const dsparse_block *b, uint64_t first)
{
    bool good = true;
    for (uint32_t i = 0; b->start && i < b->rows && good; i++)
        for (uint32_t k = b->start[i]; k < b->start[i + 1] && good; k++) {
            const dsparse_number v = dsparse__entry(t->a, b, k);
            char *line = t->buffer + t->filled;
            if (dsparse__integer(t->a))
                t->filled += dome__mm_print_integer(line, first + i, b->column[k], v.integer);
            else
                t->filled += dome__mm_print(line, first + i, b->column[k], (double[]){v.re, v.im}, t->a->parts);
            good = t->filled + DOME_MM_LINE <= PIECE_BYTES || flush(t);
        }
    return good;
}

/* Prints blocks from ... end - 1 of this task. */
static bool print_blocks(text *t, uint64_t from, uint64_t end)
{
    const dsparse *a = t->a;
    bool good = true;
    for (uint64_t k = from; k < end && good; k++)
        good =
            print_block(t, &a->block[k], dome_layout_block(a->layout, dome__layout_block_at(a->layout, a->env->rank, k)).first);
    return good && flush(t);
}

enum { SPANS = 2 };

/* A run of rows of one task, as it stands in the file. */
typedef struct run {
    uint64_t first_row, bytes, entries;
} run;

enum { RUN_WORDS = 3 };

/* This task's runs, of which each may be empty, and which of its blocks is the first of the second. */
static uint64_t measure(text *t, run runs[SPANS])
{
    const dsparse *a = t->a;
    dome_span spans[SPANS] = {{0}};
    int nspans = dome_layout_spans(a->layout, a->env->rank, spans);
    uint64_t rows = 0, k = 0, second = a->blocks;
    for (int s = 0; s < SPANS; s++) {
        uint64_t from = k;
        runs[s] = (run){.first_row = s < nspans ? spans[s].first : a->rows};
        for (rows = 0; s < nspans && rows < spans[s].count; k++) {
            rows += a->block[k].rows;
            runs[s].entries += dsparse__block_entries(&a->block[k]);
        }
        if (s == 0)
            second = k;
        t->offset = 0;
        print_blocks(t, from, k);
        runs[s].bytes = t->offset;
    }
    return second;
}

/* Collective: where this task's runs begin in the file after its header, and the sums over all tasks. */
static int place(const dsparse *a, const run runs[SPANS], uint64_t offset[SPANS], uint64_t *bytes, uint64_t *entries)
{
    gsize size = (gsize)a->env->size;
    uint64_t mine[SPANS * RUN_WORDS], *all = g_new(uint64_t, size * G_N_ELEMENTS(mine));
    for (int s = 0; s < SPANS; s++)
        memcpy(mine + s * RUN_WORDS, (uint64_t[]){runs[s].first_row, runs[s].bytes, runs[s].entries}, RUN_WORDS * sizeof *mine);
    int failed = dome__allgather(a->env->transport, DOME_U64, mine, G_N_ELEMENTS(mine), all);
    memset(offset, 0, SPANS * sizeof *offset);
    *bytes = *entries = 0;
    for (gsize r = 0; r < SPANS * size && !failed; r++) {
        const uint64_t *other = all + r * RUN_WORDS;
        for (int s = 0; s < SPANS; s++)
            offset[s] += other[0] < runs[s].first_row ? other[1] : 0;
        *bytes += other[1];
        *entries += other[2];
    }
    g_free(all);
    return failed ? dome__fail_transport(a->env, failed) : DOME_OK;
}

static int write_file(text *t, dome_shared_file *f)
{
    const dsparse *a = t->a;
    run runs[SPANS];
    uint64_t offset[SPANS], bytes, entries, second = measure(t, runs);
    int status = place(a, runs, offset, &bytes, &entries);
    if (status)
        return status;
    const dome_mm_field field = dsparse__integer(a) ? DOME_MM_INTEGER : a->parts > 1 ? DOME_MM_COMPLEX : DOME_MM_REAL;
    char *banner = dome__mm_banner(field, a->rows, a->columns, entries);
    size_t before = strlen(banner);
    if (a->env->rank == 0 && dome__shared_make(f, before + bytes))
        dome__shared_write(f, 0, banner, before);
    g_free(banner);
    status = dome__shared_agree(f);
    if (!status)
        status = dome__shared_find(f);
    if (status)
        return status;
    t->file = f;
    t->offset = before + offset[0];
    print_blocks(t, 0, second);
    t->offset = before + offset[1];
    print_blocks(t, second, a->blocks);
    return dome__shared_finish(f);
}

dome_status dsparse_write(const dsparse *a, const char *path)
{
    DOME_NEEDS(a, "the matrix", DOME_ERR_ARGUMENT);
    dome_operation op;
    dome__begin(&op, a->env, DOME_OP_DSPARSE_WRITE, a->object, dome__text_word(a->env, path));
    if (!path || !*path)
        return dome__end(&op, dome__fail(a->env, DOME_ERR_ARGUMENT, "no file is named"));
    text t = {.a = a, .buffer = g_try_malloc(PIECE_BYTES)};
    dome_shared_file f;
    dome__shared_begin(&f, a->env, path);
    if (!t.buffer)
        dome__shared_note(&f, DOME_ERR_MEMORY, "no memory to write '%s'", path);
    int status = dome__shared_agree(&f);
    if (!status)
        status = write_file(&t, &f);
    dome__shared_end(&f);
    g_free(t.buffer);
    return dome__end(&op, status);
}
