#include "memory/uffd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in linux/userfaultfd.h and linux/fs.h of Linux 6.7. */
enum { USER_MODE_ONLY = 1, CONTINUE_MODE_WP = 2, PROTECT_MODE_WP = 1 };
enum { SCAN_WRITTEN = 2, SCAN_PROTECT = 1, SCAN_CHECK_ASYNC = 2 };
static const uint64_t version = 0xaa;

typedef struct uffd_api {
    uint64_t api, features, ioctls;
} uffd_api;

typedef struct uffd_register {
    uint64_t start, bytes, modes, ioctls;
} uffd_register;

typedef struct uffd_continue {
    uint64_t start, bytes, mode;
    int64_t mapped;
} uffd_continue;

typedef struct uffd_protect {
    uint64_t start, bytes, mode;
} uffd_protect;

typedef struct scan_region {
    uint64_t start, end, categories;
} scan_region;

typedef struct scan_request {
    uint64_t size, flags, start, end, walk_end, regions, most, max_pages, inverted, mask, any_of, wanted;
} scan_request;

#define IOCTL_API      _IOWR(0xaa, 0x3f, uffd_api)
#define IOCTL_REGISTER _IOWR(0xaa, 0x00, uffd_register)
#define IOCTL_PROTECT  _IOWR(0xaa, 0x06, uffd_protect)
#define IOCTL_CONTINUE _IOWR(0xaa, 0x07, uffd_continue)
#define IOCTL_SCAN     _IOWR('f', 16, scan_request)

/* The kernel says EAGAIN while another thread changes mappings. */
enum { TRIES = 1000 };

int dome__uffd_open(uint64_t features, const char **why)
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY);
    if (fd < 0) {
        *why = errno == ENOSYS   ? "the kernel has no userfaultfd"
               : errno == EPERM  ? "userfaultfd is forbidden here, as by the list of system calls of a container"
               : errno == EINVAL ? "the kernel has no userfaultfd without privileges (Linux 5.11)"
                                 : g_strerror(errno);
        return -1;
    }
    uffd_api api = {.api = version, .features = features};
    if (ioctl(fd, IOCTL_API, &api) < 0) {
        const int error = errno;
        *why = error == EINVAL ? "the kernel is too old" : g_strerror(error);
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

int dome__uffd_register(int fd, void *at, size_t bytes, uint64_t modes)
{
    uffd_register r = {.start = (uintptr_t)at, .bytes = bytes, .modes = modes};
    return ioctl(fd, IOCTL_REGISTER, &r);
}

int dome__uffd_protect(int fd, void *at, size_t bytes, int closed)
{
    uffd_protect p = {(uintptr_t)at, bytes, closed ? PROTECT_MODE_WP : 0};
    int status = -1;
    for (int k = 0; k < TRIES && (status = ioctl(fd, IOCTL_PROTECT, &p)) < 0 && errno == EAGAIN; k++)
        continue;
    return status;
}

size_t dome__uffd_continue(int fd, void *at, size_t bytes, int closed)
{
    size_t done = 0;
    for (int k = 0; k < TRIES && done < bytes; k++) {
        uffd_continue c = {(uintptr_t)at + done, bytes - done, closed ? CONTINUE_MODE_WP : 0, 0};
        int status = ioctl(fd, IOCTL_CONTINUE, &c);
        if (c.mapped > 0) {
            done += (size_t)c.mapped;
            k = -1; /* as long as it goes on */
        }
        if (status < 0 && errno != EAGAIN && c.mapped <= 0)
            break;
    }
    return done;
}

int dome__uffd_scan(int pagemap, char **at, char *end, int most, char **starts, char **ends)
{
    scan_region found[64];
    scan_request r = {.size = sizeof r,
                      .flags = SCAN_PROTECT | SCAN_CHECK_ASYNC,
                      .start = (uintptr_t)*at,
                      .end = (uintptr_t)end,
                      .regions = (uintptr_t)found,
                      .most = (uint64_t)MIN(most, (int)G_N_ELEMENTS(found)),
                      .mask = SCAN_WRITTEN,
                      .wanted = SCAN_WRITTEN};
    int n = ioctl(pagemap, IOCTL_SCAN, &r);
    for (int k = 0; k < n; k++) {
        starts[k] = (char *)(uintptr_t)found[k].start;
        ends[k] = (char *)(uintptr_t)found[k].end;
    }
    if (n >= 0)
        *at = (char *)(uintptr_t)r.walk_end;
    return n;
}
