#define _FILE_OFFSET_BITS 64

#include "files/shared_file.h"
#include "system/io.h"

#include "transport/agree.h"
#include "transport/collective.h"
#include "transport/message.h"
#include "transport/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Identifies rank 0's file: a task compares it with the file that it finds under the same name. While the file is read, its time
 * belongs to its identity. */
typedef struct identity {
    uint64_t inode, bytes, seconds, nanoseconds;
} identity;

/* From a task that does not see the file to rank 0, in DOME_U64: the part that it wants to read or write. No bytes: that was all.
 * name: bytes of the name that follows, of another file in the folder; 0: the shared file. */
typedef struct request {
    uint64_t offset, bytes, name;
} request;

enum { REQUEST_WORDS = 3 };

/* Rank 0's answer to one that reads a file of the folder: how it went, and the bytes, which follow if there are any to be read.
 */
enum { ANSWER_FAILED, ANSWER_ABSENT, ANSWER_LONG, ANSWER_DATA };
enum { ANSWER_WORDS = 2 };

static const uint64_t LONGEST_NAME = 4096;

/* Where other tasks find the file that rank 0 writes. */
enum { UNNAMED, HIDDEN, IN_PLACE };

void dome__shared_begin(dome_shared_file *f, dome_env *env, const char *path)
{
    *f = (dome_shared_file){.env = env, .path = path, .fd = -1, .folder = -1, .new.fd = -1};
}

/* The format's own part of giving up what it writes. */
static void drop(dome_shared_file *f)
{
    void (*function)(dome_shared_file *) = f->drop;
    f->drop = NULL;
    if (function)
        function(f);
}

void dome__shared_end(dome_shared_file *f)
{
    drop(f);
    if (f->fd >= 0 && f->fd != f->new.fd)
        close(f->fd);
    f->fd = -1;
    if (f->folder >= 0)
        close(f->folder);
    f->folder = -1;
    for (; f->flushed < f->put; f->flushed++)
        close(f->unflushed[f->flushed % DOME_SHARED_UNFLUSHED]);
    dome__new_file_end(&f->new);
    g_clear_pointer(&f->data, g_free);
    g_clear_pointer(&f->seen, g_free);
    g_clear_pointer(&f->text, g_free);
}

/* ---- failures ---- */

void dome__shared_note(dome_shared_file *f, int status, const char *format, ...)
{
    if (f->status)
        return;
    va_list args;
    va_start(args, format);
    f->text = g_strdup_vprintf(format, args);
    va_end(args);
    f->status = status;
}

void dome__shared_note_errno(dome_shared_file *f, const char *what)
{
    int code = errno;
    dome__shared_note(f, code == ENOMEM ? DOME_ERR_MEMORY : DOME_ERR_IO, "'%s' cannot be %s: %s", f->path, what,
                      dome__file_error(code));
}

void dome__shared_note_format(dome_shared_file *f, char *message)
{
    dome__shared_note(f, DOME_ERR_FORMAT, "'%s' %s", f->path, message);
    g_free(message);
}

/* Deletes the new file, or what has been added to the file, if there is one. */
static void drop_new(dome_shared_file *f)
{
    drop(f);
    if (f->new.fd >= 0) {
        dome__new_file_end(&f->new);
        f->fd = -1;
    }
}

/* Reports that a message could not be sent or received. */
static bool check(dome_shared_file *f, int failed)
{
    if (failed && !f->broken) {
        drop_new(f);
        f->broken = dome__fail_transport(f->env, failed);
    }
    return !f->broken;
}

int dome__shared_agree(dome_shared_file *f)
{
    int64_t worst = f->status;
    if (f->broken)
        return f->broken;
    if (!check(f, dome__allreduce(f->env->transport, DOME_I64, &worst, 1, dome__combine_max_i64, NULL)))
        return f->broken;
    if (!worst)
        return DOME_OK;
    drop_new(f);
    return dome__agree(f->env, f->status, f->text);
}

/* ---- opening ---- */

static identity identify(const struct stat *s)
{
    return (identity){(uint64_t)s->st_ino, (uint64_t)s->st_size, (uint64_t)s->st_mtim.tv_sec, (uint64_t)s->st_mtim.tv_nsec};
}

static bool same(const identity *a, const identity *b, bool times)
{
    return a->inode == b->inode && a->bytes == b->bytes &&
           (!times || (a->seconds == b->seconds && a->nanoseconds == b->nanoseconds));
}

/* The folder of a file, where the other files of an array are; -1 if it cannot be opened. */
static int open_folder_of(const char *path)
{
    char *folder = g_path_get_dirname(path);
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    g_free(folder);
    return fd;
}

bool dome__shared_open(dome_shared_file *f)
{
    struct stat s;
    f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &s) < 0) {
        dome__shared_note_errno(f, "opened");
        return false;
    }
    if (!S_ISREG(s.st_mode)) {
        dome__shared_note(f, DOME_ERR_IO, "'%s' is not a regular file", f->path);
        return false;
    }
    f->bytes = (uint64_t)s.st_size;
    f->written = s.st_mtim;
    f->folder = open_folder_of(f->path);
    return true;
}

bool dome__shared_unchanged(dome_shared_file *f)
{
    struct stat opened, found;
    bool good = fstat(f->fd, &opened) == 0 && stat(f->path, &found) == 0 && found.st_dev == opened.st_dev &&
                found.st_ino == opened.st_ino && (uint64_t)found.st_size == f->bytes &&
                found.st_mtim.tv_sec == f->written.tv_sec && found.st_mtim.tv_nsec == f->written.tv_nsec;
    if (!good)
        dome__shared_note(f, DOME_ERR_IO, "'%s' changes while it is read", f->path);
    return good;
}

/* Whether the other tasks can open an unnamed file of rank 0's: through /proc. */
static bool on_one_host(const dome_env *env)
{
    for (int r = 1; r < env->size; r++)
        if (strcmp(env->hosts[r], env->hosts[0]) != 0)
            return false;
    return true;
}

static bool set_length(int fd, uint64_t bytes)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    bool good = ftruncate(fd, (off_t)bytes) == 0;
    dome__file_limit_end(&limit);
    return good;
}

bool dome__shared_make(dome_shared_file *f, uint64_t bytes)
{
    struct stat before;
    bool there = stat(f->path, &before) == 0;
    f->writing = true;
    if (there && !S_ISREG(before.st_mode)) {
        dome__shared_note(f, DOME_ERR_IO, "'%s' is there and not a regular file", f->path);
        return false;
    }
    f->fd = dome__new_file_begin(&f->new, f->path, 0666, !on_one_host(f->env));
    if (f->fd < 0 || !set_length(f->fd, bytes))
        dome__shared_note_errno(f, "written");
    else if (there && fchmod(f->fd, before.st_mode & 0777) < 0)
        dome__shared_note_errno(f, "given the rights it has");
    f->bytes = bytes;
    return !f->status;
}

bool dome__shared_measure(dome_shared_file *f)
{
    struct stat s;
    if (fstat(f->fd, &s) < 0)
        dome__shared_note_errno(f, "examined");
    else
        f->bytes = (uint64_t)s.st_size;
    return !f->status;
}

bool dome__shared_open_to_add(dome_shared_file *f)
{
    struct stat s;
    f->writing = true;
    f->fd = open(f->path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &s) < 0)
        dome__shared_note_errno(f, "written");
    else if (!S_ISREG(s.st_mode))
        dome__shared_note(f, DOME_ERR_IO, "'%s' is there and not a regular file", f->path);
    else
        f->bytes = (uint64_t)s.st_size;
    return !f->status;
}

bool dome__shared_reserve(dome_shared_file *f, uint64_t bytes)
{
    struct rlimit limit; /* which fallocate does not look at */
    bool allowed = getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
    if (!allowed)
        errno = EFBIG;
    bool good =
        allowed && (bytes <= f->bytes || fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)f->bytes, (off_t)(bytes - f->bytes)) == 0);
    if (!good && errno != EOPNOTSUPP && errno != ENOSYS) {
        dome__shared_note_errno(f, "written");
        if (ftruncate(f->fd, (off_t)f->bytes) < 0) /* gives back what it has got */
            dome__shared_note_errno(f, "written");
    }
    return !f->status;
}

bool dome__shared_make_folder(dome_shared_file *f)
{
    struct stat before;
    bool there = stat(f->path, &before) == 0;
    f->writing = true;
    if (there && !S_ISDIR(before.st_mode)) {
        dome__shared_note(f, DOME_ERR_IO, "'%s' is there and not a folder", f->path);
        return false;
    }
    f->fd = dome__new_file_begin(&f->new, f->path, 0600, true);
    if (f->fd >= 0 && dome__new_file_folder(&f->new, 0777))
        f->folder = open(f->new.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->folder < 0)
        dome__shared_note_errno(f, "written");
    else if (there && fchmod(f->folder, before.st_mode & 0777) < 0)
        dome__shared_note_errno(f, "given the rights it has");
    return !f->status;
}

/* On a task other than rank 0: opens the file under this name if it is rank 0's. */
static void open_same(dome_shared_file *f, const char *name, const identity *expected)
{
    struct stat s;
    int fd = open(name, (f->writing ? O_WRONLY : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    bool good = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    identity found = good ? identify(&s) : (identity){0};
    if (good && same(&found, expected, !f->writing))
        f->fd = fd;
    else
        close(fd);
}

/* On a task other than rank 0 that sees the shared file: opens the folder. A task that cannot open it does not see the file. */
static void open_same_folder(dome_shared_file *f, const char *name)
{
    char *folder = f->writing ? dome__new_file_folder_name(name) : NULL;
    f->folder = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : open_folder_of(name);
    g_free(folder);
    if (f->folder < 0) {
        close(f->fd);
        f->fd = -1;
    }
}

int dome__shared_find(dome_shared_file *f)
{
    enum { INODE, BYTES, SECONDS, NANOSECONDS, WRITING, PROCESS, NAME, NUMBER, FOLDER, WORDS };
    dome_transport *t = f->env->transport;
    uint64_t words[WORDS] = {0};
    struct stat s;
    if (t->group.rank == 0) {
        if (fstat(f->fd, &s) < 0)
            dome__shared_note_errno(f, "examined");
        else if ((uint64_t)s.st_size != f->bytes)
            dome__shared_note(f, DOME_ERR_IO, "'%s' changes while it is %s", f->path, f->writing ? "written" : "read");
        else
            memcpy(words,
                   (uint64_t[]){(uint64_t)s.st_ino, (uint64_t)s.st_size, (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec,
                                f->writing, (uint64_t)getpid(),
                                f->new.fd < 0   ? IN_PLACE
                                : f->new.hidden ? HIDDEN
                                                : UNNAMED,
                                f->new.number, f->folder >= 0},
                   sizeof words);
    }
    if (!check(f, dome__bcast(t, 0, DOME_U64, words, WORDS)))
        return f->broken;
    if (t->group.rank > 0) {
        f->bytes = words[BYTES];
        f->writing = words[WRITING] != 0;
        char *name = words[NAME] != IN_PLACE ? dome__new_file_name(f->path, words[NAME] == HIDDEN, words[PROCESS], words[NUMBER])
                                             : g_strdup(f->path);
        open_same(f, name, &(identity){words[INODE], words[BYTES], words[SECONDS], words[NANOSECONDS]});
        if (f->fd >= 0 && words[FOLDER])
            open_same_folder(f, name);
        g_free(name);
    }
    uint8_t mine = f->fd >= 0;
    f->seen = g_malloc0((gsize)t->group.size);
    check(f, dome__allgather(t, DOME_U8, &mine, 1, f->seen));
    return f->broken;
}

/* ---- parts ---- */

static bool pread_all(int fd, void *data, uint64_t bytes, uint64_t offset)
{
    const bool good = dome__io_read_at(fd, data, bytes, offset) == bytes;
    if (!good && !errno)
        errno = EIO;
    return good;
}

static bool pwrite_all(int fd, const void *data, uint64_t bytes, uint64_t offset)
{
    dome_file_limit limit;
    dome__file_limit_begin(&limit);
    const bool good = dome__io_write_at(fd, data, bytes, offset);
    dome__file_limit_end(&limit);
    return good;
}

static bool ask(dome_shared_file *f, const request *r, const char *name)
{
    dome_transport *t = f->env->transport;
    uint64_t words[REQUEST_WORDS] = {r->offset, r->bytes, r->name};
    return check(f, dome__send(t, 0, DOME_CHANNEL_DATA, DOME_U64, words, REQUEST_WORDS)) &&
           (!name || check(f, dome__send(t, 0, DOME_CHANNEL_DATA, DOME_U8, name, r->name)));
}

/* Rank 0 answers with no bytes if it has failed. */
static bool read_through_first(dome_shared_file *f, uint64_t offset, void *data, uint64_t bytes)
{
    void *got = NULL;
    uint64_t count = 0;
    if (!ask(f, &(request){offset, bytes, 0}, NULL) ||
        !check(f, dome__recv_new(f->env->transport, 0, DOME_CHANNEL_DATA, DOME_U8, &got, &count)))
        return false;
    if (count == bytes)
        memcpy(data, got, (size_t)bytes);
    else
        dome__shared_note(f, DOME_ERR_IO, "'%s' cannot be read by rank 0", f->path);
    g_free(got);
    return !f->status;
}

bool dome__shared_read(dome_shared_file *f, uint64_t offset, void *data, uint64_t bytes)
{
    if (f->broken || f->status)
        return false;
    if (bytes == 0)
        return true;
    if (f->fd < 0)
        return read_through_first(f, offset, data, bytes);
    if (f->read)
        return f->read(f, offset, data, bytes);
    if (!pread_all(f->fd, data, bytes, offset))
        dome__shared_note_errno(f, "read");
    return !f->status;
}

bool dome__shared_write(dome_shared_file *f, uint64_t offset, const void *data, uint64_t bytes)
{
    if (f->broken || f->status)
        return false;
    if (bytes == 0)
        return true;
    if (f->fd < 0)
        return ask(f, &(request){offset, bytes, 0}, NULL) &&
               check(f, dome__send(f->env->transport, 0, DOME_CHANNEL_DATA, DOME_U8, data, bytes));
    if (!pwrite_all(f->fd, data, bytes, offset))
        dome__shared_note_errno(f, "written");
    return !f->status;
}

/* ---- files of a folder ---- */

static void note_file(dome_shared_file *f, const char *name, const char *what)
{
    char *folder = f->writing ? g_strdup(f->path) : g_path_get_dirname(f->path);
    int code = errno;
    dome__shared_note(f, code == ENOMEM ? DOME_ERR_MEMORY : DOME_ERR_IO, "'%s/%s' cannot be %s: %s", folder, name, what,
                      dome__file_error(code));
    g_free(folder);
}

/* Some file systems report a lack of room only here. */
static void flush_file(dome_shared_file *f)
{
    int fd = f->unflushed[f->flushed++ % DOME_SHARED_UNFLUSHED];
    if (!f->status && fsync(fd) < 0 && errno != EINVAL)
        dome__shared_note_errno(f, "written");
    if (close(fd) < 0)
        dome__shared_note_errno(f, "written");
}

/* The disk works on a file while the next ones are being written. */
static void put_file(dome_shared_file *f, const char *name, const void *data, uint64_t bytes)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    if (f->put - f->flushed == DOME_SHARED_UNFLUSHED)
        flush_file(f);
    int fd = openat(f->folder, name, flags, 0666);
    while (fd < 0 && (errno == EMFILE || errno == ENFILE) && f->flushed < f->put) {
        flush_file(f);
        fd = openat(f->folder, name, flags, 0666);
    }
    if (fd < 0) {
        note_file(f, name, "written");
        return;
    }
    f->unflushed[f->put++ % DOME_SHARED_UNFLUSHED] = fd;
    if (!pwrite_all(fd, data, bytes, 0))
        note_file(f, name, "written");
    sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* a hint: flush_file finds what is wrong */
}

/* Makes f->data long enough. */
static bool make_room(dome_shared_file *f, uint64_t bytes)
{
    if (bytes <= f->room)
        return true;
    g_free(f->data);
    f->data = bytes <= SIZE_MAX ? g_try_malloc((gsize)bytes) : NULL;
    f->room = f->data ? bytes : 0;
    if (!f->data)
        dome__shared_note(f, DOME_ERR_MEMORY, "no memory to read '%s'", f->path);
    return f->data != NULL;
}

static bool get_file(dome_shared_file *f, const char *name, uint64_t most, const void **data, uint64_t *bytes)
{
    struct stat s;
    int fd = openat(f->folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (fd < 0 || fstat(fd, &s) < 0) {
        note_file(f, name, "read");
    } else if (!S_ISREG(s.st_mode)) {
        errno = S_ISDIR(s.st_mode) ? EISDIR : EINVAL;
        note_file(f, name, "read");
    } else if ((uint64_t)s.st_size > most) {
        *bytes = (uint64_t)s.st_size;
    } else if (make_room(f, MAX((uint64_t)s.st_size, 1))) {
        if (pread_all(fd, f->data, (uint64_t)s.st_size, 0)) {
            *data = f->data;
            *bytes = (uint64_t)s.st_size;
        } else {
            note_file(f, name, "read");
        }
    }
    if (fd >= 0)
        close(fd);
    return !f->status;
}

static bool get_through_first(dome_shared_file *f, const char *name, uint64_t most, const void **data, uint64_t *bytes)
{
    dome_transport *t = f->env->transport;
    uint64_t words[ANSWER_WORDS];
    if (!ask(f, &(request){0, most, strlen(name)}, name) ||
        !check(f, dome__recv(t, 0, DOME_CHANNEL_DATA, DOME_U64, words, ANSWER_WORDS)))
        return false;
    if (words[0] == ANSWER_FAILED)
        dome__shared_note(f, DOME_ERR_IO, "'%s' cannot be read by rank 0", f->path);
    if (words[0] == ANSWER_LONG || words[0] == ANSWER_DATA)
        *bytes = words[1];
    if (words[0] != ANSWER_DATA)
        return !f->status;
    void *got = NULL;
    uint64_t count = 0;
    if (!check(f, dome__recv_new(t, 0, DOME_CHANNEL_DATA, DOME_U8, &got, &count)))
        return false;
    g_free(f->data);
    f->data = got ? got : g_malloc(1);
    f->room = MAX(count, 1);
    *data = f->data;
    return true;
}

bool dome__shared_get(dome_shared_file *f, const char *name, uint64_t most, const void **data, uint64_t *bytes)
{
    *data = NULL;
    *bytes = 0;
    if (f->broken || f->status)
        return false;
    return f->fd < 0 ? get_through_first(f, name, most, data, bytes) : get_file(f, name, most, data, bytes);
}

bool dome__shared_put(dome_shared_file *f, const char *name, const void *data, uint64_t bytes)
{
    if (f->broken || f->status)
        return false;
    if (f->fd < 0)
        return ask(f, &(request){0, bytes, strlen(name)}, name) &&
               check(f, dome__send(f->env->transport, 0, DOME_CHANNEL_DATA, DOME_U8, data, bytes));
    put_file(f, name, data, bytes);
    return !f->status;
}

/* ---- what rank 0 does for the others ---- */

static void serve_read(dome_shared_file *f, int rank, const request *r)
{
    void *data = f->status ? NULL : g_try_malloc((gsize)r->bytes);
    if (!f->status && !data)
        dome__shared_note(f, DOME_ERR_MEMORY, "no memory to read '%s' for rank %d", f->path, rank);
    bool good = !f->status && dome__shared_read(f, r->offset, data, r->bytes);
    check(f, dome__send(f->env->transport, rank, DOME_CHANNEL_DATA, DOME_U8, data, good ? r->bytes : 0));
    g_free(data);
}

static void serve_get(dome_shared_file *f, int rank, const char *name, uint64_t most)
{
    dome_transport *t = f->env->transport;
    const void *data;
    uint64_t bytes;
    bool good = dome__shared_get(f, name, most, &data, &bytes);
    uint64_t words[ANSWER_WORDS] = {!good ? ANSWER_FAILED : data ? ANSWER_DATA : bytes ? ANSWER_LONG : ANSWER_ABSENT, bytes};
    if (check(f, dome__send(t, rank, DOME_CHANNEL_DATA, DOME_U64, words, ANSWER_WORDS)) && words[0] == ANSWER_DATA)
        check(f, dome__send(t, rank, DOME_CHANNEL_DATA, DOME_U8, data, bytes));
}

/* Receives the data after a failure, too: their sender does not know of it. */
static void serve_write(dome_shared_file *f, int rank, const request *r, const char *name)
{
    void *data = NULL;
    uint64_t count = 0;
    if (!check(f, dome__recv_new(f->env->transport, rank, DOME_CHANNEL_DATA, DOME_U8, &data, &count)))
        return;
    if (name)
        dome__shared_put(f, name, data, MIN(count, r->bytes));
    else
        dome__shared_write(f, r->offset, data, MIN(count, r->bytes));
    g_free(data);
}

/* The name that follows a request; NULL after a failure. */
static char *receive_name(dome_shared_file *f, int rank, const request *r)
{
    char *name = g_malloc0((gsize)MIN(r->name, LONGEST_NAME) + 1);
    if (r->name <= LONGEST_NAME && check(f, dome__recv(f->env->transport, rank, DOME_CHANNEL_DATA, DOME_U8, name, r->name)))
        return name;
    g_free(name);
    return NULL;
}

static void serve(dome_shared_file *f, int rank)
{
    uint64_t words[REQUEST_WORDS];
    while (check(f, dome__recv(f->env->transport, rank, DOME_CHANNEL_DATA, DOME_U64, words, REQUEST_WORDS)) && words[1] > 0) {
        request r = {words[0], words[1], words[2]};
        char *name = r.name ? receive_name(f, rank, &r) : NULL;
        if (r.name && !name)
            return;
        if (f->writing)
            serve_write(f, rank, &r, name);
        else if (name)
            serve_get(f, rank, name, r.bytes);
        else
            serve_read(f, rank, &r);
        g_free(name);
    }
}

/* Some file systems report a lack of room only at the end. Rank 0 keeps its file open until it has its name. */
static void flush(dome_shared_file *f)
{
    while (f->flushed < f->put)
        flush_file(f);
    if (f->fd >= 0 && fsync(f->fd) < 0 && errno != EINVAL)
        dome__shared_note_errno(f, "written");
    if (f->fd >= 0 && f->env->rank > 0) {
        if (close(f->fd) < 0)
            dome__shared_note_errno(f, "written");
        f->fd = -1;
    }
}

static void put_in_place(dome_shared_file *f)
{
    if (f->folder >= 0 && fsync(f->folder) < 0 && errno != EINVAL)
        dome__shared_note_errno(f, "written for good");
    if (!dome__new_file_place(&f->new)) {
        dome__shared_note_errno(f, "written");
        return;
    }
    char *folder = g_path_get_dirname(f->new.target);
    int directory = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    if (directory >= 0) {
        if (fsync(directory) < 0 && errno != EINVAL)
            dome__shared_note_errno(f, "written for good");
        close(directory);
    }
    g_free(folder);
}

int dome__shared_finish(dome_shared_file *f)
{
    dome_transport *t = f->env->transport;
    if (t->group.rank > 0 && f->fd < 0 && !f->broken)
        ask(f, &(request){0, 0, 0}, NULL);
    for (int r = 1; r < t->group.size && t->group.rank == 0; r++)
        if (!f->broken && !f->seen[r])
            serve(f, r);
    if (f->writing)
        flush(f);
    int status = dome__shared_agree(f);
    if (status || !f->writing)
        return status;
    f->drop = NULL; /* all of it is there */
    if (t->group.rank == 0 && f->complete)
        f->complete(f);
    else if (t->group.rank == 0)
        put_in_place(f);
    return dome__shared_agree(f);
}
