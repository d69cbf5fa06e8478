#!/bin/bash
# One of three hosts is a big-endian machine (s390x under qemu): tasks on it and x86-64 tasks form one program, with the bits of a
# program on one host.
. "$(dirname "${BASH_SOURCE[0]}")/common"
other=$DOME_BUILD_DIR/tests/s390x
if [ -z "${LAB:-}" ]; then
    "$lab" 1 true || exit
    "$here/s390x" "$other" || exit
fi
in_lab 3 "$@"
portable=$DOME_BUILD_DIR/tests/cluster/portable
printf '%s\n' "h2 dx=$other/pvmd ep=$other/bin" "h3" >hosts

check() { # NAME
    local w
    ended_well "$1"
    same alone.out "$1.out" "$1"
    for w in f64 i64 particles; do
        same alone.$w.npy "$1.$w.npy" "$1"
    done
}

on h1 od -An -tx1 -j5 -N1 "$portable" | grep -q 01 || skip "this machine is not little-endian itself"
on h2 od -An -tx1 -j5 -N1 "$other/build/tests/cluster/portable" | grep -q 02 || fail "the other machine is not big-endian"
run alone on h1 "$portable" "$work" alone --dome-transport self
ended_well alone

say "s390x alone"
run s390x on h2 "$other/bin/portable" "$work" s390x --dome-transport self
check s390x

for tasks in 3 6 5 2; do
    say "$tasks tasks on x86-64, s390x and x86-64"
    rm -f started
    run mixed$tasks on h1 env DOME_TEST_STARTED="$work/started" "$dome" run --hosts "$work/hosts" -n $tasks "$portable" "$work" mixed$tasks
    check mixed$tasks
    [ "$(wc -l <started)" -eq $(((tasks + 1) / 3)) ] || fail "mixed$tasks: tasks on s390x: $(wc -l <started)"
    clean mixed$tasks
done

say "files of the first host only"
run apart on h1 "$dome" run --hosts "$work/hosts" -n 6 "$portable" /tmp apart
for w in f64 i64 particles; do
    on h1 cat /tmp/apart.$w.npy >apart.$w.npy
    on h1 rm -f /tmp/apart.$w.npy
done
check apart
clean apart

finish
