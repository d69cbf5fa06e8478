/* Reading and writing whole: all of the bytes, whatever a single call does. A signal that interrupts a call is no error. Each
 * sets errno on failure. Functions of files.h bound what a write does beyond the limit of a file's size. */
#ifndef DOME_SRC_IO_H
#define DOME_SRC_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* False after an error; where the system takes no more without saying why, that is ENOSPC. */
bool dome__io_write(int fd, const void *data, uint64_t bytes);
bool dome__io_write_at(int fd, const void *data, uint64_t bytes, uint64_t offset);

/* How many bytes were read: fewer than `bytes` where the file ends (errno is 0) or after an error. */
uint64_t dome__io_read(int fd, void *to, uint64_t bytes);
uint64_t dome__io_read_at(int fd, void *to, uint64_t bytes, uint64_t offset);

/* Reads the bytes that are there, at most so many, as read does; again if a signal interrupts it. */
ssize_t dome__io_read_some(int fd, void *to, uint64_t bytes);

#endif
