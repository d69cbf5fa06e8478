/* Runs a program, and all that it starts, where the system refuses some calls: EPERM, as a strict container does.
 *
 *     forbid CALL[,CALL...] PROGRAM [ARGUMENTS...]     CALL: process_vm_readv, memfd_create */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    unsigned vm = strstr(argv[1], "process_vm_readv") ? SYS_process_vm_readv : ~0u;
    unsigned memory = strstr(argv[1], "memfd_create") ? SYS_memfd_create : ~0u;
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, vm, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, memory, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        printf("skipped: no system calls can be forbidden here: %s\n", strerror(errno));
        return 77;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 2;
}
