#!/bin/bash
# SIGTERM while the disk is slow: the checkpoint that it asks for is written to its end, however long that takes, as long as it gets
# on; with another SIGTERM the program ends at once, and the checkpoint before is good.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
command -v cc >/dev/null || { echo "skipped: there is no compiler for the slow disk"; exit 77; }

# Every write and every fsync of a checkpoint takes so many seconds once the file `slow` is there.
cat >slow.c <<END
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static void wait_for_disk(void)
{
    if (access("$work/slow", F_OK) == 0)
        sleep(4);
}
ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t at)
{
    wait_for_disk();
    return ((ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64"))(fd, data, bytes, at);
}
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    return pwrite64(fd, data, bytes, at);
}
int fsync(int fd)
{
    wait_for_disk();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd);
}
END
cc -shared -fPIC -o slow.so slow.c -ldl || { echo "skipped: no library can be made"; exit 77; }

# begin TASKS: a program that takes very long, with a checkpoint
begin() {
    local options=(--dome-transport self)
    [ "$1" = self ] || options=(--dome-transport pvm --dome-tasks "$1")
    rm -rf dir slow
    env -u PVM_VMID TMPDIR="$work" PVM_TMP="$work" LD_PRELOAD="$work/slow.so" "$examples/state" 100000000 none 1 \
        --dome-checkpoint-dir dir "${options[@]}" --dome-checkpoint-every 1000000000 >out 2>err &
    pid=$!
    trap 'kill -KILL $pid 2>/dev/null; rm -rf "$work"' EXIT
    until_there run
    kill -USR1 "$pid"
    until_there ckpt-00000001.dckpt
    : >slow
}

ended() {
    wait "$pid"
    status=$?
    [ $status -eq 143 ] || fail "$1: status $status, not 143: $(cat err)"
    ! grep -v -e "^dome: running as root: " -e "^dome: ended by signal 15 " err || fail "$1: on standard error"
    "$DOME_BUILD_DIR/tools/dome" ckpt verify dir >checked || fail "$1: $(ls dir)"
}

for tasks in self $([ "$counts" = self ] || echo 3); do
    begin "$tasks"
    start=$SECONDS
    kill -TERM "$pid"
    ended "$tasks, one SIGTERM"
    [ -e dir/ckpt-00000002.dckpt ] || fail "$tasks: no checkpoint after SIGTERM, $((SECONDS - start)) s: $(ls dir)"
    [ $((SECONDS - start)) -ge 11 ] || fail "$tasks: the disk was not slow: $((SECONDS - start)) s"

    begin "$tasks"
    kill -TERM "$pid"
    until_there ckpt-00000002.dckpt.part
    kill -TERM "$pid"
    ended "$tasks, two SIGTERMs"
    [ ! -e dir/ckpt-00000002.dckpt ] || fail "$tasks: a second SIGTERM was not heard"
done
finish
