/* What has been shown of a task's standard output, so that a program that goes back shows nothing twice.
 *
 *     the task prints    a b c | d e        at the boundary "|" it is saved; behind e it is lost, and goes back to the boundary
 *     it prints again            d e f g    d and e have been shown: only f and g are
 *
 * The output is cut into lines. Its end is the number of whole lines shown and the bytes of the line behind them; a mark is the
 * same at a loop boundary. What comes between the mark to which the program has gone back and the end is not shown, and each of
 * its lines is compared with the one shown before, which stands.
 *
 * A program that goes on from a checkpoint runs main once more, and may print in front of its loop what it printed there at
 * first. Until its first boundary, lines are left out that were printed before the first boundary of all, and never since.
 * Another line is news until the program has made its objects, and is shown; behind them it is one of the loop.
 *
 * A program that is told of losses goes another way with fewer tasks: from the first line on that differs, all is news. */
#ifndef DOME_SRC_WIRE_SHOWN_H
#define DOME_SRC_WIRE_SHOWN_H

#include <glib.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* LINES: whose hashes are kept, for comparing. FIRST: lines before the first boundary. MARKS: boundaries to which the program may
 * go back. */
enum { DOME_SHOWN_LINES = 1 << 16, DOME_SHOWN_FIRST = 256, DOME_SHOWN_MARKS = 256 };

typedef struct dome_shown_place {
    uint64_t line, column; /* whole lines before it; bytes of the line behind them, */
    uint64_t hash;         /* and their hash */
} dome_shown_place;

typedef struct dome_shown_mark {
    dome_shown_place at;
    uint64_t loop;  /* the boundary */
    uint64_t used;  /* 0: there is no mark here */
    uint64_t whole; /* 1: the run begins here, by a checkpoint of another one: all that the program prints is to be shown */
} dome_shown_mark;

/* Without pointers: it may lie in memory that outlives the process which writes it. All 0 at first. Numbers of 64 bits alone: so
 * it can be copied to a file for hosts of another kind (shown_copy.h). */
typedef struct dome_shown_past {
    dome_shown_place end;
    uint64_t from;      /* bytes of the stream to which it is written, at its beginning, */
    uint64_t bytes;     /* and at the end */
    uint64_t different; /* lines printed again that are not those shown */
    uint64_t firsts;
    uint64_t begun, first_over, marks;
    uint64_t unhashed; /* 1: the hash of the end is not known */
    uint64_t recurs[DOME_SHOWN_FIRST];
    uint64_t first[DOME_SHOWN_FIRST];
    dome_shown_mark mark[DOME_SHOWN_MARKS];
    struct {
        uint64_t hash, bytes; /* bytes: as above, behind the line */
    } line[DOME_SHOWN_LINES];
} dome_shown_past;

/* A program that has gone back: in its loop; in front of it, with its objects or without them. */
typedef enum dome_shown_zone { DOME_SHOWN_LOOP, DOME_SHOWN_MADE, DOME_SHOWN_MAKES } dome_shown_zone;

typedef struct dome_shown {
    dome_shown_past *past;
    dome_shown_place at; /* where the program is */
    dome_shown_zone zone;
    uint64_t first_at; /* in front of the loop: the first of `first` that has not come again */
    GString *held;     /* of a line there */
    bool told;         /* the program is told of losses */
    GString *again;    /* told: of a line that the program prints again, behind `at` */
    uint64_t since;    /* lines from here on have changed since the caller set it to the end's */
} dome_shown;

/* The program goes on behind what has been shown. bytes: the length of the stream so far; if nothing has been shown yet, the
 * program's output begins there. told: the program is told of losses. */
void dome__shown_begin(dome_shown *s, dome_shown_past *past, uint64_t bytes, bool told);
void dome__shown_clear(dome_shown *s);

/* The program has printed this. Appends to `out` what of it is to be shown, behind so many bytes of the stream. */
void dome__shown_take(dome_shown *s, const char *text, size_t length, uint64_t bytes, GString *out);

/* The program has all objects with which it goes on. */
void dome__shown_made(dome_shown *s);

/* The program has passed its first boundary: what it had printed of a line is appended to `out`, too. */
void dome__shown_pass(dome_shown *s, uint64_t bytes, GString *out);

/* The program may go back to here, the boundary `loop`. After dome__shown_pass. */
void dome__shown_mark(dome_shown *s, uint64_t loop);

/* The program goes on from the boundary `loop`; 0: its beginning. True: it runs main in front of its loop, and has printed before
 * what it prints there. */
bool dome__shown_back(dome_shown *s, uint64_t loop);

/* Only so many bytes of the stream have been written. column: the beginning of a line may have been. */
void dome__shown_rewind(dome_shown_past *past, uint64_t bytes, bool column);

/* The program has ended, in order: lines that it has not printed again differ, too. */
void dome__shown_end(dome_shown *s);

#endif
