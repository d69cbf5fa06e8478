#include "capture/capture.h"
#include "heap/dangling.h"
#include "system/files.h"
#include "system/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No position, or no length: the stream is no regular file. */
#define NONE UINT64_MAX

/* BEYOND: the position lies behind the end of a file that is only read. COPY_MOST: a written file of at most so many bytes is in
 * the image as a whole, because the program may overwrite it, or make it anew, after the checkpoint. */
enum { STANDARD = 3, PATH_MOST = 1 << 16, COPY_MOST = 1 << 16 };
enum { AT_END = 1, COPIED = 2, BEYOND = 4, ERROR = 8, GIVEN_BACK = 16 };

/* Of characters given back by ungetc so many are looked for: C promises one. */
enum { GIVEN_BACK_MOST = 16 };

typedef struct stream {
    uint64_t number;
    FILE *file;
    char *path, *mode; /* NULL: a standard stream */
    unsigned asked;    /* characters that ungetc has got since the stream was looked at */
    unsigned given;    /* of them, those that are still to be read, when the stream is saved */
    char given_back[GIVEN_BACK_MOST];
    off_t behind; /* the position when they have been read */
} stream;

static void add(uint64_t number, FILE *file, const char *path, const char *mode)
{
    dome_capture_streams *own = &dome__capture->streams;
    stream s = {.number = number, .file = file, .path = g_strdup(path), .mode = g_strdup(mode)};
    dome__capture_dangling_cut(file, sizeof *file);
    g_array_append_val(own->all, s);
}

void dome__capture_streams_begin(void)
{
    dome_capture_streams *own = &dome__capture->streams;
    if (own->all)
        return;
    own->all = g_array_new(FALSE, FALSE, sizeof(stream));
    own->next = STANDARD;
    own->start_path = g_get_current_dir();
    if (stat(".", &own->start) < 0)
        own->start = (struct stat){0};
    add(0, stdin, NULL, NULL);
    add(1, stdout, NULL, NULL);
    add(2, stderr, NULL, NULL);
}

static stream *find(const void *file)
{
    dome_capture_streams *own = &dome__capture->streams;
    for (guint k = 0; own->all && k < own->all->len; k++)
        if (g_array_index(own->all, stream, k).file == file)
            return &g_array_index(own->all, stream, k);
    return NULL;
}

int64_t dome__capture_stream_number(const void *file)
{
    const stream *s = find(file);
    return s ? (int64_t)s->number : -1;
}

FILE *dome__capture_stream(uint64_t number)
{
    dome_capture_streams *own = &dome__capture->streams;
    for (guint k = 0; own->all && k < own->all->len; k++)
        if (g_array_index(own->all, stream, k).number == number)
            return g_array_index(own->all, stream, k).file;
    return NULL;
}

bool dome__capture_stream_owns(int descriptor)
{
    dome_capture_streams *own = &dome__capture->streams;
    for (guint k = 0; own->all && k < own->all->len; k++)
        if (fileno(g_array_index(own->all, stream, k).file) == descriptor)
            return true;
    return false;
}

FILE *dome_capture_fopen(const char *path, const char *mode)
{
    dome_capture_streams *own = &dome__capture->streams;
    FILE *file = fopen(path, mode);
    dome__capture_streams_begin();
    if (file)
        add(own->next++, file, path, mode);
    return file;
}

/* The name of a regular file, from where the program began if it lies below. NULL: it is none, or has no name any more. */
static char *name_of(int descriptor)
{
    dome_capture_streams *own = &dome__capture->streams;
    struct stat st, there;
    char *link = g_strdup_printf("/proc/self/fd/%d", descriptor), *path = NULL;
    if (fstat(descriptor, &st) == 0 && S_ISREG(st.st_mode))
        path = g_file_read_link(link, NULL);
    g_free(link);
    if (path && (stat(path, &there) < 0 || there.st_dev != st.st_dev || there.st_ino != st.st_ino))
        g_clear_pointer(&path, g_free);
    const size_t begin = strlen(own->start_path);
    if (path && strncmp(path, own->start_path, begin) == 0 && path[begin] == '/')
        memmove(path, path + begin + 1, strlen(path + begin));
    return path;
}

FILE *dome_capture_fdopen(int descriptor, const char *mode)
{
    dome_capture_streams *own = &dome__capture->streams;
    FILE *file = fdopen(descriptor, mode);
    dome__capture_streams_begin();
    char *path = file && descriptor >= STANDARD ? name_of(descriptor) : NULL;
    if (path)
        add(own->next++, file, path, mode);
    g_free(path);
    return file;
}

static void forget(FILE *file)
{
    dome_capture_streams *own = &dome__capture->streams;
    stream *s = find(file);
    if (!s)
        return;
    g_free(s->path);
    g_free(s->mode);
    g_array_remove_index(own->all, (guint)(s - (stream *)(void *)own->all->data));
}

FILE *dome_capture_freopen(const char *path, const char *mode, FILE *file)
{
    dome_capture_streams *own = &dome__capture->streams;
    dome__capture_streams_begin();
    stream *s = find(file);
    uint64_t number = s ? s->number : own->next++;
    const bool standard = !path && s && !s->mode; /* in another mode, but nothing that a restart could open */
    char *same = path || !s ? g_strdup(path) : g_strdup(s->path);
    FILE *again = freopen(path, mode, file);
    forget(file);
    if (again)
        add(number, again, same, standard ? NULL : mode);
    g_free(same);
    return again;
}

int dome_capture_fclose(FILE *file)
{
    forget(file);
    dome__capture_dangling_add(file, sizeof *file);
    return fclose(file);
}

int dome_capture_ungetc(int c, FILE *file)
{
    dome__capture_streams_begin();
    stream *s = find(file);
    const int given = ungetc(c, file);
    if (s && given != EOF)
        s->asked++;
    return given;
}

static bool writes(const char *mode)
{
    return mode && (mode[0] != 'r' || strchr(mode, '+'));
}

/* ---- saving ---- */

/* The content of a file, which the stream itself may not be allowed to read. NULL: it cannot be read as a whole. */
static char *copy_content(const stream *s, uint64_t length)
{
    char *path = g_strdup_printf("/proc/self/fd/%d", fileno(s->file)), *content = g_malloc(COPY_MOST + 1);
    int from = open(path, O_RDONLY | O_CLOEXEC);
    const uint64_t got = from >= 0 ? dome__io_read_at(from, content, length, 0) : 0;
    if (from >= 0)
        close(from);
    g_free(path);
    if (got == length)
        return content;
    g_free(content);
    return NULL;
}

/* Finds what was given back and is still to be read, which the C library does not tell: reads as many characters as ungetc has
 * got, and compares them with the file. Bytes that the file itself has at these places do no harm. */
static void find_given_back(stream *s)
{
    char in_file[GIVEN_BACK_MOST];
    const unsigned most = MIN(s->asked, (unsigned)GIVEN_BACK_MOST);
    const bool at_end = feof(s->file), failed = ferror(s->file);
    unsigned n = 0;
    for (int c; n < most && (c = getc(s->file)) != EOF; n++)
        s->given_back[n] = (char)c;
    s->behind = ftello(s->file);
    if (n < most && !at_end && !failed)
        clearerr(s->file);
    for (unsigned k = n; k > 0; k--)
        ungetc((unsigned char)s->given_back[k - 1], s->file);
    const off_t begin = s->behind - (off_t)n;
    const bool same =
        begin >= 0 && pread(fileno(s->file), in_file, n, begin) == (ssize_t)n && memcmp(in_file, s->given_back, n) == 0;
    s->given = s->asked = s->behind < 0 || same ? 0 : n;
}

static void give_back(FILE *file, const char *characters, uint64_t count)
{
    for (uint64_t k = count; k > 0; k--)
        ungetc((unsigned char)characters[k - 1], file);
}

/* fflush forgets what was given back. */
static char *write_out(stream *s)
{
    struct stat st;
    s->given = 0;
    if (s->asked && fstat(fileno(s->file), &st) == 0 && S_ISREG(st.st_mode)) /* from a terminal, reading would wait */
        find_given_back(s);
    if (!(writes(s->mode) || !s->mode) || s->number == 0)
        return NULL;
    const bool failed = fflush(s->file) != 0 || (s->given && fseeko(s->file, s->behind, SEEK_SET) != 0);
    give_back(s->file, s->given_back, s->given);
    return failed ? g_strdup_printf("'%s' cannot be written: %s", s->path ? s->path : "standard output", strerror(errno)) : NULL;
}

/* Whether a restart would find the same file under the path: it may have been renamed or removed, or the program is in another
 * directory than it was. */
static bool is_at_path(const stream *s, const struct stat *file)
{
    dome_capture_streams *own = &dome__capture->streams;
    struct stat here, there;
    const bool moved = stat(".", &here) < 0 || here.st_dev != own->start.st_dev || here.st_ino != own->start.st_ino;
    char *path = moved && !g_path_is_absolute(s->path) ? g_build_filename(own->start_path, s->path, NULL) : g_strdup(s->path);
    const bool same = stat(path, &there) == 0 && there.st_dev == file->st_dev && there.st_ino == file->st_ino;
    g_free(path);
    return same;
}

static void append_path(GByteArray *to, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    length = MIN(length, PATH_MOST);
    dome__append_leb128(to, length);
    dome__append_bytes(to, text, length);
}

static char *save(const stream *s, GByteArray *to)
{
    struct stat st;
    uint64_t position = NONE, length = NONE;
    char *content = NULL;
    const bool standard = !s->mode;
    if (fstat(fileno(s->file), &st) < 0)
        return standard ? NULL : g_strdup_printf("'%s' cannot be examined: %s", s->path, strerror(errno));
    if (S_ISREG(st.st_mode) && !standard && !is_at_path(s, &st))
        return g_strdup_printf("'%s' is open, and a restart would not find it under this name: it was renamed or removed, or "
                               "the program has changed its directory",
                               s->path);
    if (S_ISREG(st.st_mode) && (!standard || s->number == 0)) {
        off_t at = s->given ? s->behind : ftello(s->file);
        if (at < 0)
            return g_strdup_printf("the position in '%s' is not known: %s", s->path ? s->path : "standard input",
                                   strerror(errno));
        position = (uint64_t)at;
        if (writes(s->mode)) {
            length = (uint64_t)st.st_size;
            if (fdatasync(fileno(s->file)) < 0 && errno != EINVAL && errno != EROFS)
                return g_strdup_printf("'%s' cannot be written: %s", s->path, strerror(errno));
            content = length <= COPY_MOST ? copy_content(s, length) : NULL;
        }
    } else if (!standard && !S_ISCHR(st.st_mode)) {
        return g_strdup_printf("'%s' is open, which is no file that can be opened again at its position", s->path);
    }
    if (standard && position == NONE)
        return NULL; /* goes on as it is */
    dome__append_leb128(to, s->number);
    append_path(to, s->path);
    append_path(to, s->mode);
    dome__append_leb128(to, position + 1); /* NONE: 0 */
    dome__append_leb128(to, length + 1);
    const bool beyond = position != NONE && length == NONE && position > (uint64_t)st.st_size;
    dome__append_leb128(to, (position != NONE && feof(s->file) ? AT_END : 0) | (content ? COPIED : 0) | (beyond ? BEYOND : 0) |
                                (ferror(s->file) ? ERROR : 0) | (s->given ? GIVEN_BACK : 0));
    if (content)
        dome__append_bytes(to, content, (size_t)length);
    if (s->given) {
        dome__append_leb128(to, s->given);
        dome__append_bytes(to, s->given_back, s->given);
    }
    g_free(content);
    return NULL;
}

static int by_number(const void *a, const void *b)
{
    const stream *s = a, *t = b;
    return s->number < t->number ? -1 : s->number > t->number;
}

char *dome__capture_streams_save(GByteArray *to, bool standard)
{
    dome_capture_streams *own = &dome__capture->streams;
    char *problem = NULL;
    GByteArray *all = g_byte_array_new();
    uint64_t count = 0;
    dome__capture_streams_begin();
    g_array_sort(own->all, by_number);
    /* All of them first: two may lead to one file. */
    for (guint k = 0; k < own->all->len && !problem; k++)
        problem = write_out(&g_array_index(own->all, stream, k));
    for (guint k = 0; k < own->all->len && !problem; k++) {
        guint before = all->len;
        const stream *s = &g_array_index(own->all, stream, k);
        problem = standard || s->mode ? save(s, all) : NULL;
        count += all->len > before;
    }
    dome__append_leb128(to, own->next);
    dome__append_leb128(to, count);
    dome__append_bytes(to, all->data, all->len);
    g_byte_array_unref(all);
    return problem;
}

/* ---- restarting ---- */

typedef dome_capture_stream_record saved_stream;

struct dome_capture_saved_streams {
    uint64_t next;
    GArray *all;
};

static char *read_path(dome_bytes *from)
{
    const uint64_t length = dome__read_leb128(from);
    const char *text = dome__read_bytes(from, length);
    return g_strndup(text ? text : "", text ? (gsize)length : 0);
}

void dome__capture_stream_record_read(dome_capture_stream_record *s, dome_bytes *from)
{
    s->number = dome__read_leb128(from);
    from->bad |= s->number >> DOME_CAPTURE_SPACE_SHIFT != 0; /* more than a pointer has bits for */
    s->path = read_path(from);
    s->mode = read_path(from);
    s->position = dome__read_leb128(from) - 1;
    s->length = dome__read_leb128(from) - 1;
    s->flags = dome__read_leb128(from);
    s->content = s->flags & COPIED && s->length <= COPY_MOST ? dome__read_bytes(from, s->length) : NULL;
    from->bad |= s->flags & COPIED && !s->content;
    s->given = s->flags & GIVEN_BACK ? dome__read_leb128(from) : 0;
    from->bad |= s->given > GIVEN_BACK_MOST;
    s->given_back = s->given > 0 && !from->bad ? dome__read_bytes(from, s->given) : NULL;
    from->bad |= s->given > 0 && !s->given_back;
}

static void clear_saved(void *saved)
{
    saved_stream *s = saved;
    g_free(s->path);
    g_free(s->mode);
    g_free((char *)(uintptr_t)s->content);
    g_free((char *)(uintptr_t)s->given_back);
}

void dome__capture_streams_free(dome_capture_saved_streams *saved)
{
    if (!saved)
        return;
    g_array_unref(saved->all);
    g_free(saved);
}

dome_capture_saved_streams *dome__capture_streams_read(dome_bytes *from)
{
    dome_capture_saved_streams *saved = g_new0(dome_capture_saved_streams, 1);
    saved->all = g_array_new(FALSE, TRUE, sizeof(saved_stream));
    g_array_set_clear_func(saved->all, clear_saved);
    saved->next = dome__read_leb128(from);
    uint64_t count = dome__read_leb128(from);
    uint64_t after = 0;
    for (uint64_t k = 0; k < count && !from->bad; k++) {
        saved_stream s;
        dome__capture_stream_record_read(&s, from);
        if (s.content)
            s.content = memcpy(g_malloc((gsize)s.length + 1), s.content, (size_t)s.length);
        s.given_back = g_memdup2(s.given_back, (gsize)s.given);
        from->bad |=
            s.number < after || s.number >= saved->next || (s.number >= STANDARD && !strchr("rwa", *s.mode ? *s.mode : 'x'));
        from->bad |= (s.position != NONE && s.position > INT64_MAX) || (s.length != NONE && s.length > INT64_MAX);
        after = s.number + 1;
        g_array_append_val(saved->all, s);
    }
    from->bad |= saved->next < STANDARD || saved->next >> DOME_CAPTURE_SPACE_SHIFT != 0;
    return saved;
}

/* The mode in which a file is opened again: it is not made anew. */
static char *mode_again(const char *mode)
{
    GString *again = g_string_new(mode);
    if (*mode == 'w') {
        again->str[0] = 'r';
        if (!strchr(mode, '+'))
            g_string_insert_c(again, 1, '+');
    }
    char *only = strchr(again->str, 'x');
    if (only)
        g_string_erase(again, only - again->str, 1);
    return g_string_free(again, FALSE);
}

static const char *shown(const saved_stream *s)
{
    return *s->path ? s->path : "standard input";
}

static char *too_short(const saved_stream *s, const struct stat *st)
{
    return g_strdup_printf("'%s' has %" PRIu64 " bytes, and the program had read it up to byte %" PRIu64, shown(s),
                           (uint64_t)st->st_size, s->position);
}

/* Whether the content of a stream's file is in the image: its own, or that of another stream which writes the file. */
static bool is_copied(const dome_capture_saved_streams *saved, const saved_stream *s)
{
    for (guint k = 0; k < saved->all->len; k++) {
        const saved_stream *other = &g_array_index(saved->all, saved_stream, k);
        if (other->content && strcmp(other->path, s->path) == 0)
            return true;
    }
    return false;
}

/* Why a file is not the one that the program had; NULL: it may be. */
static char *check(const dome_capture_saved_streams *saved, const saved_stream *s)
{
    struct stat st;
    const uint64_t least = s->length != NONE ? s->length : s->flags & BEYOND ? 0 : s->position;
    if (!*s->mode || least == NONE)
        return NULL;
    const bool copied = is_copied(saved, s);
    if (stat(s->path, &st) < 0)
        return copied && errno == ENOENT
                   ? NULL
                   : g_strdup_printf("file '%s', which the program had open, cannot be examined: %s", s->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return g_strdup_printf("'%s' was a file, and is none now", s->path);
    if (copied || (uint64_t)st.st_size >= least)
        return NULL;
    return s->length != NONE ? g_strdup_printf("file '%s' has %" PRIu64 " bytes, and had %" PRIu64 " at the checkpoint", s->path,
                                               (uint64_t)st.st_size, s->length)
                             : too_short(s, &st);
}

/* Brings back what the file had. */
static char *write_content(const saved_stream *s)
{
    int to = open(s->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    char *problem =
        to < 0 || !dome__io_write_at(to, s->content, s->length, 0) || ftruncate(to, (off_t)s->length) < 0
            ? g_strdup_printf("file '%s', which the program wrote, cannot be written again: %s", s->path, strerror(errno))
            : NULL;
    if (to >= 0)
        close(to);
    return problem;
}

static char *cut_file(const saved_stream *s)
{
    return truncate(s->path, (off_t)s->length) < 0
               ? g_strdup_printf("file '%s' cannot be cut to %" PRIu64 " bytes: %s", s->path, s->length, strerror(errno))
               : NULL;
}

/* A file that the program writes, as it was. */
static char *bring_back(const saved_stream *s)
{
    if (!*s->mode || s->length == NONE)
        return NULL;
    return s->content ? write_content(s) : cut_file(s);
}

static char *set_position(FILE *file, const saved_stream *s)
{
    dome_capture_streams *own = &dome__capture->streams;
    struct stat st;
    if (s->position == NONE)
        return NULL;
    if (fstat(fileno(file), &st) < 0 || !S_ISREG(st.st_mode)) {
        own->input_read = s->position; /* if it is standard input */
        return s->number == 0 ? NULL : g_strdup_printf("'%s' was a file, and is none now", shown(s));
    }
    if (s->length == NONE && !(s->flags & BEYOND) &&
        (uint64_t)st.st_size < s->position) /* one that is written may be sought beyond its end */
        return too_short(s, &st);
    if (fseeko(file, (off_t)s->position, SEEK_SET) < 0)
        return g_strdup_printf("the position in '%s' cannot be set: %s", shown(s), strerror(errno));
    if (s->flags & AT_END) {
        int c = getc(file);
        if (c != EOF)
            ungetc(c, file);
    }
    give_back(file, s->given_back, s->given);
    return NULL;
}

/* glibc's, which has no function for it. */
enum { SEEN_ERROR = 0x20 };

static char *open_again(const saved_stream *s)
{
    FILE *file = dome__capture_stream(s->number);
    if (s->number >= STANDARD || *s->mode) {
        char *mode = mode_again(s->mode);
        file = s->number < STANDARD ? freopen(s->path, mode, file) : fopen(s->path, mode);
        g_free(mode);
        if (!file)
            return g_strdup_printf("file '%s' cannot be opened again: %s", s->path, strerror(errno));
        forget(s->number < STANDARD ? file : NULL);
        add(s->number, file, s->path, s->mode);
    }
    char *problem = file ? set_position(file, s) : NULL;
    if (file && s->flags & ERROR)
        file->_flags |= SEEN_ERROR;
    stream *now = find(file);
    if (now)
        now->asked = (unsigned)s->given;
    return problem;
}

uint64_t dome__capture_streams_input_read(void)
{
    dome_capture_streams *own = &dome__capture->streams;
    return own->input_read;
}

char *dome__capture_streams_open(const dome_capture_saved_streams *saved)
{
    dome_capture_streams *own = &dome__capture->streams;
    char *problem = NULL;
    dome__capture_streams_begin();
    /* No file is changed if one of them is not there. */
    for (guint k = 0; k < saved->all->len && !problem; k++)
        problem = check(saved, &g_array_index(saved->all, saved_stream, k));
    /* Written again before any is opened: another stream may read the same file. */
    for (guint k = 0; k < saved->all->len && !problem; k++)
        problem = bring_back(&g_array_index(saved->all, saved_stream, k));
    for (guint k = 0; k < saved->all->len && !problem; k++)
        problem = open_again(&g_array_index(saved->all, saved_stream, k));
    own->next = saved->next;
    return problem;
}
