#!/bin/bash
# A value that is summed and then read, time after time, is computed once each time but for the first few.
set -u
out=$(mktemp "${TMPDIR:-/tmp}/dome-test.XXXXXX") || exit 1
trap 'rm -f "$out"' EXIT
times=30 spare=3
failed=0

complain() {
    echo "chains: $*" >&2
    sed -n '/^chain/p' "$out" >&2
    failed=1
}

command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || {
    echo "skipped: there is no C compiler"
    exit 77
}
for tasks in self 2; do
    "$RUN_MULTI" $tasks "$DOME_BUILD_DIR/tests/programs/chains" $times --dome-evaluator compiled --dome-profile >"$out" 2>&1 ||
        complain "$tasks: fails: $(cat "$out")"
    # "chain of 2 operations and dvec_sum: ...; 27 runs, ...": the first computation may be counted elsewhere
    runs=$(sed -n 's/^chain of 2 operations.*; \([0-9]*\) runs,.*/\1/p' "$out" | awk '{ sum += $1 } END { print sum + 0 }')
    [ "$runs" -ge $((times - spare)) ] || complain "$tasks: the chains of the profile ran $runs times of $times"
    [ "$runs" -le $((times + spare)) ] || complain "$tasks: computed $runs times where $times would do"
done
exit $failed
