/* Streams of stdio.h that belong to the image. */
#ifndef DOME_SRC_CAPTURE_STREAMS_H
#define DOME_SRC_CAPTURE_STREAMS_H

#include "system/bytes.h"

#include <dome/capture.h>
#include <glib.h>
#include <sys/stat.h>

/* The state of streams.c. Where the program began, it is expected to begin at a restart: paths are taken from there. */
typedef struct dome_capture_streams {
    GArray *all;
    uint64_t next;       /* number of the stream that is opened next */
    uint64_t input_read; /* how far, of a file that was standard input, which is no file now; else 0 */
    char *start_path;
    struct stat start;
} dome_capture_streams;

/* stdin, stdout and stderr are known as 0, 1 and 2. */
void dome__capture_streams_begin(void);

/* The number of a stream, -1 if it is none that is known; the stream of a number, NULL if there is none. */
int64_t dome__capture_stream_number(const void *stream);
FILE *dome__capture_stream(uint64_t number);

/* Whether a descriptor belongs to a stream. */
bool dome__capture_stream_owns(int descriptor);

/* Writes out what is buffered, and describes the streams. standard: the standard streams too. NULL, or why they cannot be saved
 * (g_free'd by the caller). */
char *dome__capture_streams_save(GByteArray *to, bool standard);

/* A stream in the image. path and mode are to be freed (g_free); of bytes that are bad they are there, too. */
typedef struct dome_capture_stream_record {
    uint64_t number, position, length; /* UINT64_MAX: none */
    char *path, *mode;
    uint64_t flags;
    const char *content;    /* in the bytes that were read; NULL: the file must be there */
    uint64_t given;         /* characters that were given back by ungetc */
    const char *given_back; /* likewise */
} dome_capture_stream_record;

void dome__capture_stream_record_read(dome_capture_stream_record *record, dome_bytes *from);

/* For a restart: reads what was saved (bad bytes: from->bad), then opens the streams again. */
typedef struct dome_capture_saved_streams dome_capture_saved_streams;
dome_capture_saved_streams *dome__capture_streams_read(dome_bytes *from);
char *dome__capture_streams_open(const dome_capture_saved_streams *saved); /* NULL, or a problem */
uint64_t dome__capture_streams_input_read(void); /* how far, of a file that was standard input, which is no file now; else 0 */
void dome__capture_streams_free(dome_capture_saved_streams *saved);

#endif
