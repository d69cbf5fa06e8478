/* Vectors from text files of columns. Rank 0 reads the first record. The tasks that see the file share the rest evenly by bytes:
 * each scans its part for every state in which it may begin (csv.h); all tasks exchange what they have found, so each knows the
 * state at the beginning of its part and the number of its first record, and parses the records that begin there. The values then
 * travel to the tasks that own the elements. */
#ifndef DOME_SRC_DVEC_CSV_H
#define DOME_SRC_DVEC_CSV_H

#include "arrays/dvec_ranges.h"
#include "files/csv.h"
#include "files/shared_file.h"

/* Text is read in pieces of this many bytes; the buffer grows for a record that is longer. */
enum { DVEC_CSV_PIECE = 1 << 20 };

/* A vector that is made: one column, or all of them. */
typedef struct dvec_csv_output {
    const char *name; /* of the vector */
    dome_type type;
    bool text;
    uint64_t width;
    char *values; /* of this task's records */
    dvec *vector;
} dvec_csv_output;

/* A column that is read: its number in the file, and where its values go in the elements of an output. */
typedef struct dvec_csv_wanted {
    const char *name; /* NULL: by number */
    uint64_t number, output, place;
} dvec_csv_wanted;

typedef struct dvec_csv {
    dome_shared_file file;
    dvec_text_options options;
    dome_csv_format format;
    dvec_csv_wanted *wanted;
    dvec_csv_output *outputs;
    uint64_t nwanted, noutputs;
    bool matrix;                /* all columns go to one output: their number is found in the file */
    uint64_t fields;            /* of every record */
    uint64_t first_byte, lines; /* behind the names: the byte, and how many lines lie before it */
    uint64_t begin, end;        /* this task's part */
    dome_csv_state state;       /* before it */
    dome_span *ranges;          /* by rank, twice: its records (the second is empty) */
    uint64_t records, total;    /* of this task; of all */
    uint64_t line, offset;      /* lines before the record that is parsed, at first before the part; where it begins */
    dome_csv_field *field;      /* of a record */
    char *scratch;              /* for a field without doubled quotes */
    size_t scratch_bytes;
} dvec_csv;

/* On rank 0: opens the file and takes its first record. Failures are noted. */
void dvec__csv_open(dvec_csv *r);

/* Collective, when rank 0 has opened the file and all tasks know what it has found: reads the values of the outputs. Returns a
 * status. */
int dvec__csv_read(dvec_csv *r);

/* The ends of lines in a text, and the text of a field in a message. */
uint64_t dvec__csv_lines(const char *text, size_t bytes);
void dvec__csv_show(GString *to, const char *text, size_t length);

#endif
