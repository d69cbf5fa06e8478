/* Writes a stream, and counts the bytes in such a way that a process which comes after knows how many there are, wherever this
 * one has been killed: between a write and its counting too.
 *
 * A piece of text is put into a page of a file in memory, and goes from there to the stream by sendfile: the kernel moves the
 * file's position in the same step. So the position tells how much of the page has been written, and memory that both processes
 * share tells how much had been before that page. Each piece has a page of its own, whose text never changes: a pipe may hold the
 * page itself. Places in the file are used in turns, each time with a new page. */
#ifndef DOME_SRC_SHOWN_STREAM_H
#define DOME_SRC_SHOWN_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* PIECE: the most bytes of one write. PAGES: the bytes of the file that the pages take. */
enum { DOME_SHOWN_PIECE = 4096, DOME_SHOWN_PAGES = 1 << 24 };

/* Lies in the memory that they share. All 0 at first. */
typedef struct dome_shown_stream {
    uint64_t before[2]; /* bytes before the pages with even numbers, before those with odd numbers: of the last two pages */
    uint64_t offset;    /* in the file that the stream is, when this hub began; UINT64_MAX: it is none */
    uint64_t since;     /* bytes written then */
    uint32_t begun;     /* task 0 has come to dome_init once: what it had printed before is not part of this */
    uint32_t ranks;     /* tasks of which something is known (shown_store.h) */
} dome_shown_stream;

typedef struct dome_shown_writer {
    dome_shown_stream *stream;
    int file;       /* its position is shared with the process that comes after; pages begin at `first` */
    uint64_t first; /* a multiple of a page's size */
    bool plain;     /* sendfile does not serve this stream: a file that is appended to, say */
} dome_shown_writer;

/* For a file whose position is 0, or where the process before has left it; the file is as long as that or longer. False with
 * errno. */
bool dome__shown_writer_open(dome_shown_writer *writer, dome_shown_stream *stream, int file, uint64_t first);

/* The bytes written so far, by all processes. Any thread may ask. */
uint64_t dome__shown_written(const dome_shown_writer *writer);

/* It is known otherwise how many there are. */
bool dome__shown_set_written(dome_shown_writer *writer, uint64_t written);

/* Where the next byte goes in the file that the stream is; UINT64_MAX: it is none. */
uint64_t dome__shown_offset(int fd);

/* As write(2) with at most DOME_SHOWN_PIECE bytes. */
ssize_t dome__shown_write(dome_shown_writer *writer, int fd, const char *text, size_t length);

#endif
