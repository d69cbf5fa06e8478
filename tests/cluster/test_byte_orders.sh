#!/bin/bash
# One of three hosts is a big-endian machine (s390x under qemu): tasks on it and x86-64 tasks form one program, with the bits of a
# program on one host.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x
if [ -z "${LAB:-}" ]; then
    need_lab
    why=$("$DOME_SOURCE_DIR/tools/dome-lab-s390x" portable "$here/portable.c" 2>&1)
    case $? in
    0) ;;
    77) skip "${why#dome-lab-s390x: }" ;;
    *) fail "$why" && finish ;;
    esac
fi
in_lab 3 "$@"
portable=$DOME_BUILD_DIR/tests/cluster/portable
"$lab" arch h2 s390x || exit
# It says that it was started.
mkdir bin
printf '#!/bin/sh\necho here >>%s\nexec %s "$@"\n' "$work/started" "$DOME_LAB_S390X/bin/portable" >bin/portable
chmod +x bin/portable
printf '%s\n' "h2 ep=$work/bin" "h3" >hosts

check() { # NAME
    local w
    ended_well "$1"
    same "$1" alone.out "$1.out"
    for w in f64 i64 particles; do
        same "$1" alone.$w.npy "$1.$w.npy"
    done
}

on h1 od -An -tx1 -j5 -N1 "$portable" | grep -q 01 || skip "this machine is not little-endian itself"
on h2 od -An -tx1 -j5 -N1 "$DOME_LAB_S390X/programs/portable" | grep -q 02 || fail "the other machine is not big-endian"
run alone on h1 "$portable" "$work" alone --dome-transport self
ended_well alone

say "s390x alone"
run s390x on h2 "$DOME_LAB_S390X/bin/portable" "$work" s390x --dome-transport self
check s390x

for tasks in 3 6 5 2; do
    say "$tasks tasks on x86-64, s390x and x86-64"
    rm -f started
    run mixed$tasks on h1 "$dome" run --hosts "$work/hosts" -n $tasks "$portable" "$work" mixed$tasks
    check mixed$tasks
    [ "$(wc -l <started)" -eq $(((tasks + 1) / 3)) ] || fail "mixed$tasks: tasks on s390x: $(wc -l <started)"
    clean mixed$tasks
done

say "programs that are found there, without a word about them"
run found on h1 "$dome" run --hosts "$LAB/hostfile" "$portable" "$work" found
check found
clean found

say "files of the first host only"
run apart on h1 "$dome" run --hosts "$work/hosts" -n 6 "$portable" /tmp apart
for w in f64 i64 particles; do
    on h1 cat /tmp/apart.$w.npy >apart.$w.npy
    on h1 rm -f /tmp/apart.$w.npy
done
check apart
clean apart

finish
