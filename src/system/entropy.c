#include "system/entropy.h"

#include "system/io.h"

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
    const bool good = fd >= 0 && dome__io_read(fd, to, bytes) == bytes;
    const int error = good || errno ? errno : EIO;
    if (fd >= 0)
        close(fd);
    errno = error;
    return good;
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
