/* The file of a checkpoint, as pure functions on memory. docs/checkpoint-format.md is the specification: header, directory, table
 * of blocks, data. The first three together are called the head here; a checksum in the header covers them.
 *
 * Writing: dome__ckpt_new, add counters and objects, dome__ckpt_make_table, fill length and sum of each entry of the table,
 * dome__ckpt_plan. From then on the offset of every block is known. Tasks that make the same calls with equal arguments have
 * equal heads. dome__ckpt_encode returns the bytes. Reading: dome__ckpt_head_bytes of a file's first bytes, then
 * dome__ckpt_decode of the head.
 *
 * Functions that fail return false or NULL and set *message, a text to follow "'FILE' ", g_free'd by the caller. */
#ifndef DOME_SRC_STORE_FORMAT_H
#define DOME_SRC_STORE_FORMAT_H

#include "system/checksum.h"

#include <dome/layout.h>
#include <dome/type.h>
#include <glib.h>

enum {
    DOME_CKPT_VERSION = 1,
    DOME_CKPT_VERSION_OF_DELTAS = 2,
    DOME_CKPT_HEADER = 64,
    DOME_CKPT_ENTRY = 40,
    DOME_CKPT_WINDOW = 56
};

/* Most other checkpoints to which a checkpoint refers. */
enum { DOME_CKPT_EARLIER_MAX = 16 };

/* Most checkpoints of deltas behind one that has a table. The last of them refers to all, and to what the first has referred to.
 */
enum { DOME_CKPT_CHAIN_MAX = 16 };

/* Type numbers: 0 is none, 1 to 12 are the basic types in the order of DOME_TYPE_LIST, 13 and up the structs of the file. */
enum { DOME_CKPT_NO_TYPE = 0, DOME_CKPT_FIRST_STRUCT = DOME_KIND_STRUCT + 1 };

typedef struct dome_ckpt_field {
    char *name;
    uint32_t type;
    uint64_t count;
} dome_ckpt_field;

typedef struct dome_ckpt_struct {
    char *name;
    GArray *fields; /* of dome_ckpt_field */
    uint64_t bytes; /* of one element in portable form; not in the file */
} dome_ckpt_struct;

typedef struct dome_ckpt_counter {
    char *name;
    uint64_t value;
} dome_ckpt_counter;

typedef struct dome_ckpt_object {
    char *name, *kind;
    uint32_t type;
    uint64_t length, width;
    dome_distribution distribution;
    uint64_t block_size; /* elements; 0: the whole object is one block */
    uint64_t blocks;
    bool fixed;           /* a block consists of its elements in portable form; otherwise its entry states its length */
    uint64_t first_entry; /* in the table; not in the file */
} dome_ckpt_object;

/* Another checkpoint that holds blocks of this one. */
typedef struct dome_ckpt_earlier {
    uint64_t number, file_bytes;
    dome_checksum sum; /* of its head */
} dome_ckpt_earlier;

/* The location of the bytes of a block: the file of the checkpoint `source`, which may be this one. 0: the block is not in this
 * piece. */
typedef struct dome_ckpt_entry {
    uint64_t source, offset, length;
    dome_checksum sum;
} dome_ckpt_entry;

/* A checkpoint of deltas says what differs from the checkpoint before. A window is a run of an object's blocks: as many as have a
 * mebibyte together. (windows.h) */
typedef struct dome_ckpt_window {
    uint64_t object, window; /* numbers: of the object, and of the window in it */
    uint64_t bytes;
    dome_checksum sum;    /* of the checksums of the deltas of its blocks */
    dome_checksum result; /* of the checksums of these blocks, as they are afterwards */
    uint64_t offset;      /* not in the file */
} dome_ckpt_window;

/* Whether deltas belong to a block. The checksum of its entry is that of the block with its deltas, if these were written by this
 * process, and without them, if they are in a file that was read. */
typedef enum dome_ckpt_patched { DOME_CKPT_UNPATCHED, DOME_CKPT_PATCHED_HERE, DOME_CKPT_PATCHED_BEFORE } dome_ckpt_patched;

typedef struct dome_ckpt {
    char *program;
    uint64_t number;        /* 1, 2, ... */
    uint64_t loop;          /* loop boundaries passed */
    uint32_t piece, pieces; /* 0 of 0: the whole; 1 to pieces: the part of one host */
    GArray *earlier, *counters, *structs, *objects;
    uint64_t entries;
    dome_ckpt_entry *table; /* all blocks of the first object, then of the second, ... */

    /* Of a checkpoint of deltas; otherwise NULL and 0. Its table is not in its file: the entries are those of the last checkpoint
     * that has one, and deltas belong to the blocks that are patched. */
    GArray *windows;  /* of dome_ckpt_window, by object and number */
    uint8_t *patched; /* by entry: dome_ckpt_patched; NULL: none is */
    unsigned chain;   /* checkpoints of deltas since then, with this one */

    /* Known after planning or decoding; sum: after encoding or decoding. */
    uint64_t head_bytes, file_bytes;
    dome_checksum sum;
} dome_ckpt;

/* ---- describing ---- */

dome_ckpt *dome__ckpt_new(const char *program, uint64_t number, uint64_t loop);
void dome__ckpt_free(dome_ckpt *ckpt);

/* Whether a checkpoint is of a program (NULL: any): of this name, or of the one that also is this program's (NULL: none). A
 * program that is saved inside its calls is known by its source files; earlier builds knew it by the name of its file. */
bool dome__ckpt_is_of(const dome_ckpt *ckpt, const char *program);
void dome__ckpt_also_of(const char *program);

/* The counter of the tasks that a checkpoint needs. tasks: their number; 0: any. */
#define DOME_CKPT_TASKS "tasks"
uint64_t dome__ckpt_tasks(const dome_ckpt *ckpt);

bool dome__ckpt_add_counter(dome_ckpt *ckpt, const char *name, uint64_t value, char **message);

/* An object of a program. block_size and fixed as in dome_ckpt_object; type: of one value, or NULL; ndim and shape: the
 * dimensions of the array that its values are, 0 and NULL if it has none of its own. */
typedef struct dome_ckpt_description {
    const char *name, *kind;
    dome_type type;
    uint64_t length, width;
    dome_distribution distribution;
    uint64_t block_size;
    bool fixed;
    int ndim;
    const uint64_t *shape;
} dome_ckpt_description;

/* Objects must be added in order of creation. */
bool dome__ckpt_add_object(dome_ckpt *ckpt, const dome_ckpt_description *description, char **message);

/* Called when all objects have been added. Sets the lengths of entries that are known (fixed); the others are 0. */
void dome__ckpt_make_table(dome_ckpt *ckpt);

const dome_ckpt_object *dome__ckpt_object(const dome_ckpt *ckpt, size_t index);
const dome_ckpt_object *dome__ckpt_find(const dome_ckpt *ckpt, const char *name); /* NULL if there is none */
dome_ckpt_entry *dome__ckpt_entry(const dome_ckpt *ckpt, const dome_ckpt_object *object, uint64_t block);

/* The shape of an object: *ndim numbers, g_free'd by the caller. NULL, and 0 dimensions, if it has none of its own. */
uint64_t *dome__ckpt_shape(const dome_ckpt *ckpt, const dome_ckpt_object *object, int *ndim);

/* Whether any object has a shape. If not, the file may be from before shapes were kept. */
bool dome__ckpt_has_shapes(const dome_ckpt *ckpt);

/* Whether a counter is a number of a shape, which readers show with the object. */
bool dome__ckpt_is_shape(const dome_ckpt_counter *counter);

/* Bytes of one value in portable form. */
uint64_t dome__ckpt_type_bytes(const dome_ckpt *ckpt, uint32_t type);

/* Whether a type of the program is the one in the file: the same names, and names, counts, types and order of fields. Offsets and
 * padding may differ between machines. */
bool dome__ckpt_type_fits(const dome_ckpt *ckpt, uint32_t type, dome_type program);
const char *dome__ckpt_type_name(const dome_ckpt *ckpt, uint32_t type); /* "none" for DOME_CKPT_NO_TYPE */

/* A checksum of the directory but for the loop boundary, which only task 0 has to know: with the lengths of blocks the directory
 * decides where in the file each block lies. */
dome_checksum dome__ckpt_directory_sum(dome_ckpt *ckpt);

/* ---- planning ---- */

/* Decides where each block is stored. A block with the bytes (length and sum) of the same block in `previous` becomes a reference
 * to the file that holds them; the others get offsets in this file, in order. previous: the checkpoint before in the directory,
 * encoded or decoded, or NULL: then all blocks are stored here. In a piece (set piece and pieces before) entries whose source is
 * 0 are absent and stay so; for a whole checkpoint the source need not be set. References that would keep too much old data on
 * disk are given up (see the specification). */
bool dome__ckpt_plan(dome_ckpt *ckpt, const dome_ckpt *previous, char **message);

/* Whether two entries, each of its checkpoint, are known to have the same bytes. */
bool dome__ckpt_known_equal(const dome_ckpt *of_a, const dome_ckpt_entry *a, const dome_ckpt *of_b, const dome_ckpt_entry *b);

/* Bytes of data that this file holds, after planning. */
uint64_t dome__ckpt_data_bytes(const dome_ckpt *ckpt);

/* ---- bytes ---- */

/* Encodes the head: head_bytes bytes, g_free'd by the caller. Sets ckpt->sum. */
void *dome__ckpt_encode(dome_ckpt *ckpt);

/* The length of the head of a file of file_bytes bytes that begins with these (DOME_CKPT_HEADER, or fewer if the file is
 * shorter). */
bool dome__ckpt_head_bytes(const void *start, size_t bytes, uint64_t file_bytes, uint64_t *head_bytes, char **message);

/* Whether a head has the checksum stated in its header (DOME_CKPT_HEADER bytes); sets *sum to it. The bytes after the header are
 * requested in chunks, so that no memory is allocated for a file that only claims to have a long head. */
typedef bool (*dome_ckpt_more)(void *ctx, void *to, uint64_t bytes, uint64_t offset, char **message);

bool dome__ckpt_read_sum(const void *header, uint64_t head_bytes, dome_ckpt_more more, void *ctx, dome_checksum *sum,
                         char **message);

/* Decodes and checks a whole head. The memory used is in proportion to `bytes`. NULL on failure. */
dome_ckpt *dome__ckpt_decode(const void *head, size_t bytes, uint64_t file_bytes, char **message);

/* Whether two are pieces of one checkpoint, or the whole and a piece: equal except for where bytes are stored. */
bool dome__ckpt_same(const dome_ckpt *a, const dome_ckpt *b);

/* The description of the whole checkpoint of a piece, with a table that is not filled yet. */
dome_ckpt *dome__ckpt_whole_of(const dome_ckpt *piece);

/* A name from a file or program for use in messages: printable, not too long. g_free'd by the caller. */
char *dome__ckpt_shown(const char *name);

/* Sets a message and returns false. */
bool dome__ckpt_refuse(char **message, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
