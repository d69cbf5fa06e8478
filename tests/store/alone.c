/* The example of src/store/README.md: two checkpoints of a vector, written and read without the rest of the library. */
#include "store/store.h"
#include "system/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 10, BLOCK = 4, BLOCKS = 3 };

static char *message;

static void check(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "failed: %s: %s\n", what, message ? message : "");
    exit(1);
}

/* The portable form of block b: big-endian doubles. Returns its length. */
static uint64_t portable(const double x[], uint64_t b, uint8_t bytes[])
{
    const uint64_t first = b * BLOCK, count = MIN(BLOCK, LENGTH - first);
    for (uint64_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &x[first + k], sizeof bits);
        dome__put_u64(bytes + k * sizeof bits, bits);
    }
    return count * sizeof(uint64_t);
}

/* Writes checkpoint `number`, and returns its head. previous: the head of the one before. */
static dome_ckpt *save(const char *directory, uint64_t number, const double x[], const dome_ckpt *previous)
{
    const dome_ckpt_description vector = {.name = "x",
                                          .kind = "dvec",
                                          .type = DOME_F64,
                                          .length = LENGTH,
                                          .width = 1,
                                          .distribution = DOME_DYNAMIC,
                                          .block_size = BLOCK,
                                          .fixed = true};
    uint8_t bytes[BLOCK * sizeof(double)];
    dome_ckpt *ckpt = dome__ckpt_new("example", number, 10 * number);
    check(dome__ckpt_add_object(ckpt, &vector, &message), "describing");
    dome__ckpt_make_table(ckpt);
    const dome_ckpt_object *object = dome__ckpt_find(ckpt, "x");
    for (uint64_t b = 0; b < BLOCKS; b++)
        dome__ckpt_entry(ckpt, object, b)->sum = dome__checksum(bytes, portable(x, b, bytes));
    check(dome__ckpt_plan(ckpt, previous, &message), "planning");
    const int fd = dome__store_create(directory, ckpt, &message);
    check(fd >= 0, "creating");
    for (uint64_t b = 0; b < BLOCKS; b++) {
        const dome_ckpt_entry *e = dome__ckpt_entry(ckpt, object, b);
        portable(x, b, bytes);
        if (e->source == number) /* otherwise the file of an earlier checkpoint has the block */
            check(dome__store_write(fd, bytes, e->length, e->offset, &message), "writing");
    }
    check(dome__store_commit(directory, ckpt, fd, &message), "committing");
    return ckpt;
}

static void expect(dome_ckpt_file *file, const double x[])
{
    const dome_ckpt_object *object = dome__ckpt_find(dome__ckpt_head(file), "x");
    uint8_t read[BLOCK * sizeof(double)], bytes[BLOCK * sizeof(double)];
    check(object && object->blocks == BLOCKS, "finding x");
    for (uint64_t b = 0; b < BLOCKS; b++) {
        check(dome__ckpt_read(file, object, b, read, &message), "reading");
        check(memcmp(read, bytes, portable(x, b, bytes)) == 0, "comparing");
    }
}

/* The two files, and the file by which a program locks a directory. */
static void remove_all(const char *directory)
{
    for (uint64_t number = 1; number <= 2; number++) {
        char *path = dome__ckpt_file_path(directory, number, 0, 0);
        check(unlink(path) == 0, "removing a checkpoint");
        g_free(path);
    }
    char *lock = g_build_filename(directory, "lock", NULL);
    check(unlink(lock) == 0 && rmdir(directory) == 0, "removing the directory");
    g_free(lock);
}

int main(void)
{
    double x[LENGTH] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    char *directory = g_dir_make_tmp("dome-store-XXXXXX", NULL), *skipped;
    dome_store *store = dome__store_open(directory, "example", &message);
    check(store, "opening");
    dome_ckpt *first = save(directory, 1, x, NULL);
    x[9] = -1;
    dome_ckpt *second = save(directory, 2, x, first);
    check(dome__ckpt_data_bytes(first) == sizeof x, "the first file has all blocks");
    check(dome__ckpt_data_bytes(second) == 2 * sizeof(double), "the second file has only the block that changed");
    dome_ckpt_file *newest = dome__store_newest(directory, "example", true, &skipped, &message);
    check(newest && !skipped && dome__ckpt_head(newest)->number == 2, "finding the newest");
    expect(newest, x);
    dome__ckpt_close(newest);
    dome__ckpt_free(first);
    dome__ckpt_free(second);
    dome__store_close(store);
    remove_all(directory);
    g_free(directory);
    printf("two checkpoints were written and read\n");
    return 0;
}
