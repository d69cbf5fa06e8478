#!/bin/bash
# .npy files where hosts see different directories, and where all see the same one: same bytes as on one host.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
in_lab 3 "$@"
portable=$DOME_BUILD_DIR/tests/cluster/portable
what="f64 i64 particles"

run alone on h1 "$portable" "$work" alone --dome-transport self
ended_well alone
grep -q 'different 0$' alone.out || fail "what was written is not what was read: $(cat alone.out)"

say "a directory that all hosts see"
run shared on h1 "$dome" run --hosts "$work/hosts" -n 6 "$portable" "$work" shared
ended_well shared
same "on three hosts" alone.out shared.out
for w in $what; do
    same "written by three hosts" alone.$w.npy shared.$w.npy
done

say "a directory of each host's own"
run apart on h1 "$dome" run --hosts "$work/hosts" -n 6 "$portable" /tmp apart
ended_well apart
same "with different directories" alone.out apart.out
for w in $what; do
    on h1 cat /tmp/apart.$w.npy >apart.$w.npy
    same "written by the first host for the others" alone.$w.npy apart.$w.npy
    on h1 rm -f /tmp/apart.$w.npy
done
clean "files of other hosts"

say "a directory that other hosts do not have"
on h1 mkdir -p /tmp/only/here
run only on h1 "$dome" run --hosts "$work/hosts" -n 6 "$portable" /tmp/only/here only
ended_well only
same "with a directory of one host" alone.out only.out
on h1 rm -r /tmp/only
clean only

say "a directory that no host has"
run none on h1 "$dome" run --hosts "$work/hosts" -n 6 "$portable" /tmp/none none
failed_with none "dvec_write of 'z': .*/tmp/none" "task [0-5] on host h[123]"
clean none
finish
