/* Runs a program, and all that it starts, where the system refuses some calls: EPERM, as a strict container does.
 *
 *     forbid CALL[,CALL...] PROGRAM [ARGUMENTS...]     CALL: one of those below */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name)                                                                                                               \
    {                                                                                                                            \
#name, SYS_##name                                                                                                        \
    }

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    CALL(accept4),
    CALL(bind),
    CALL(clone3),
    CALL(close_range),
    CALL(connect),
    CALL(dup3),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(eventfd2),
    CALL(fallocate),
    CALL(fcntl),
    CALL(flock),
    CALL(ftruncate),
    CALL(getcwd),
    CALL(getpeername),
    CALL(getrandom),
    CALL(getsockname),
    CALL(getsockopt),
    CALL(ioctl),
    CALL(kill),
    CALL(listen),
    CALL(memfd_create),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(pipe2),
    CALL(prctl),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(setsockopt),
    CALL(shutdown),
    CALL(signalfd4),
    CALL(socket),
    CALL(socketpair),
    CALL(tgkill),
    CALL(wait4),
#ifdef SYS_dup2
    CALL(dup2),
#endif
#ifdef SYS_epoll_wait
    CALL(epoll_wait),
#endif
#ifdef SYS_poll
    CALL(poll),
#endif
#ifdef SYS_readlink
    CALL(readlink),
#endif
};

enum { KNOWN = sizeof calls / sizeof *calls };

/* Adds the number of a call. False: it is not known. */
static int forbid(struct sock_filter *code, unsigned short *length, const char *name)
{
    for (int k = 0; k < KNOWN; k++)
        if (strcmp(calls[k].name, name) == 0) {
            code[(*length)++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[k].number, 0, 1);
            code[(*length)++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
            return 1;
        }
    return 0;
}

int main(int argc, char **argv)
{
    struct sock_filter code[2 + 2 * KNOWN] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short length = 1;
    if (argc < 3)
        return 2;
    char *rest = NULL;
    for (char *name = strtok_r(argv[1], ",", &rest); name && length + 2 < 2 + 2 * KNOWN; name = strtok_r(NULL, ",", &rest))
        if (!forbid(code, &length, name)) {
            fprintf(stderr, "forbid: no call %s on this machine\n", name);
            return 77;
        }
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        printf("skipped: no system calls can be forbidden here: %s\n", strerror(errno));
        return 77;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
