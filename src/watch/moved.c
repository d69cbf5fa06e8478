#include "watch/moved.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

static uint64_t moved_by(int fd, const struct sockaddr_in *except)
{
    struct tcp_info info = {0};
    struct sockaddr_in peer = {0};
    socklen_t bytes = sizeof info, length = sizeof peer;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) < 0 ||
        bytes < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received ||
        getpeername(fd, (struct sockaddr *)&peer, &length) < 0 ||
        (peer.sin_addr.s_addr == except->sin_addr.s_addr && peer.sin_port == except->sin_port))
        return 0;
    return info.tcpi_bytes_received + info.tcpi_bytes_acked;
}

uint64_t dome__bytes_moved(const struct sockaddr_in *except)
{
    uint64_t sum = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (const struct dirent *e; dir && (e = readdir(dir));)
        sum += moved_by(atoi(e->d_name), except);
    if (dir)
        closedir(dir);
    return sum;
}
