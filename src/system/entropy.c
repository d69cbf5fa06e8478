#include "system/entropy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/types.h>
#include <unistd.h>

/* An old kernel does not know the call, and a strict container refuses it. */
static bool from_file(uint8_t *to, size_t bytes)
{
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    size_t done = 0;
    while (fd >= 0 && done < bytes) {
        const ssize_t n = read(fd, to + done, bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = EIO;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    const int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return done == bytes;
}

bool dome__random(void *to, size_t bytes)
{
    uint8_t *at = to;
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = getrandom(at + done, bytes - done, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return from_file(at + done, bytes - done);
        done += (size_t)n;
    }
    return true;
}
