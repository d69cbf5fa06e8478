/* One file of which every task reads or writes its own parts. Rank 0 opens or makes it. Each other task finds out whether it sees
 * the same file; a task that does not reads and writes through rank 0.
 *
 *     reading                              writing
 *     dome__shared_begin                   dome__shared_begin
 *     rank 0: dome__shared_open            rank 0: dome__shared_make
 *     dome__shared_agree                   dome__shared_agree
 *     dome__shared_find                    dome__shared_find
 *     dome__shared_read, any number        dome__shared_write, any number
 *     dome__shared_finish                  dome__shared_finish: the file takes its name
 *     dome__shared_end                     dome__shared_end
 *
 * The same for a folder of files, each of which one task reads or writes as a whole: to read, the shared file is one of them
 * (dome__shared_open, then dome__shared_get for others); to write, dome__shared_make_folder and dome__shared_put.
 *
 * A task that fails notes it and goes on to the next collective call, where all tasks fail with its text.
 *
 * To add to an existing file rank 0 calls dome__shared_open_to_add instead of dome__shared_make. */
#ifndef DOME_SRC_SHARED_FILE_H
#define DOME_SRC_SHARED_FILE_H

#include "core/environment.h"
#include "system/files.h"

#include <time.h>

/* Files of a folder that are written but perhaps not on the disk yet: so many at the same time. */
enum { DOME_SHARED_UNFLUSHED = 128 };

typedef struct dome_shared_file {
    dome_env *env;
    const char *path;
    int fd;                  /* -1: this task does not see the file */
    int folder;              /* that of the other files; -1: this task has none */
    uint64_t bytes;          /* its length */
    struct timespec written; /* on rank 0: when, if it was opened for reading */
    bool writing;
    dome_new_file new;                    /* rank 0's, while the file is written */
    uint8_t *seen;                        /* by rank: whether the task sees the file; NULL before dome__shared_find */
    int unflushed[DOME_SHARED_UNFLUSHED]; /* a ring */
    uint64_t flushed, put;                /* files so far */
    void *data;                           /* of dome__shared_get */
    uint64_t room;                        /* its bytes */
    int status;                           /* the first failure of this task, */
    char *text;                           /* and its text */

    /* A format's own functions, if not NULL, and what they need. */
    bool (*read)(struct dome_shared_file *f, uint64_t offset, void *data, uint64_t bytes); /* where the task sees the file */
    void (*complete)(struct dome_shared_file *f); /* on rank 0, once all parts are on the disk; a new file has it NULL */
    void (*drop)(struct dome_shared_file *f);     /* on rank 0, once, if that has failed */
    void *context;

    int broken; /* status of a failed communication, which has been reported and ends the transfer */
} dome_shared_file;

/* env and path must outlive f. */
void dome__shared_begin(dome_shared_file *f, dome_env *env, const char *path);

/* Closes the file and frees what f holds; a new file that has not taken its name is deleted. */
void dome__shared_end(dome_shared_file *f);

/* Note this task's first failure; later ones are dropped. note_errno: "'PATH' cannot be `what`: ". note_format: takes `message`,
 * a text to follow "'PATH' ", as DOME_ERR_FORMAT. */
void dome__shared_note(dome_shared_file *f, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void dome__shared_note_errno(dome_shared_file *f, const char *what);
void dome__shared_note_format(dome_shared_file *f, char *message);

/* Collective: a failure noted by any task becomes the failure of all. A new file is removed before the failure is reported, which
 * may end the program. */
int dome__shared_agree(dome_shared_file *f);

/* On rank 0: opens the file, a regular one, for reading; or makes one of so many bytes, which has no name yet. False with a note.
 */
bool dome__shared_open(dome_shared_file *f);
bool dome__shared_make(dome_shared_file *f, uint64_t bytes);

/* On rank 0: opens an existing regular file for writing in place. False with a note. */
bool dome__shared_open_to_add(dome_shared_file *f);

/* On rank 0: has room on the disk behind the file for it to become `bytes` long, if the file system can do that. False with a
 * note. */
bool dome__shared_reserve(dome_shared_file *f, uint64_t bytes);

/* On rank 0: whether the path still leads to the file that has been opened, and it has not been written since. What is read by
 * the path, or from other files of the folder, may otherwise be part of another array. False with a note. */
bool dome__shared_unchanged(dome_shared_file *f);

/* On rank 0: takes the length that the file has now. False with a note. */
bool dome__shared_measure(dome_shared_file *f);

/* On rank 0: makes a folder, which has a hidden name at first. The caller has found that it may replace a folder of this name.
 * False with a note. */
bool dome__shared_make_folder(dome_shared_file *f);

/* Collective: the other tasks look for rank 0's file. */
int dome__shared_find(dome_shared_file *f);

/* Read or write `bytes` bytes at an offset. False with a note, or if communication is broken. Rank 0 may call them before
 * dome__shared_find. */
bool dome__shared_read(dome_shared_file *f, uint64_t offset, void *data, uint64_t bytes);
bool dome__shared_write(dome_shared_file *f, uint64_t offset, const void *data, uint64_t bytes);

/* Write or read a whole file of the folder. Of one that is not there, or longer than `most` bytes, *data is NULL, and *bytes is 0
 * or its length; otherwise *data is valid until the next call. False as above. */
bool dome__shared_put(dome_shared_file *f, const char *name, const void *data, uint64_t bytes);
bool dome__shared_get(dome_shared_file *f, const char *name, uint64_t most, const void **data, uint64_t *bytes);

/* Collective, after each task's last read or write: waits for all, and gives a new file or folder its name. */
int dome__shared_finish(dome_shared_file *f);

#endif
