#!/bin/bash
# Every public function of the headers is given NULL by tests/programs/nulls.c, and other wrong arguments by tests/programs/wrong.c: it
# reports them in one line that begins with its name, or allows them.
. "$(dirname "$0")/../support/checks.bash"
: "${DOME_BUILD_DIR:?}" "${DOME_SOURCE_DIR:?}" "${RUN_MULTI:?}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/dome-nulls.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
program=$DOME_BUILD_DIR/tests/programs/nulls wrong=$DOME_BUILD_DIR/tests/programs/wrong
absent='none[.]h' # A library without checkpoints has no functions of these. libdome-omp alone has those of openmp.h.
grep -q '^DOME_CHECKPOINT:BOOL=ON' "$DOME_BUILD_DIR/CMakeCache.txt" || absent='(capture|delta)[.]h'

# expect_functions PROGRAM HEADERS...: it names the functions that they declare.
expect_functions() {
    local name=$1 missing gone
    shift
    python3 "$DOME_SOURCE_DIR/tests/scripts/declared.py" "$@" | sort -u >"$dir/declared"
    [ "$(wc -l <"$dir/declared")" -gt 150 ] || fail "the headers declare only $(wc -l <"$dir/declared") functions"
    "$DOME_BUILD_DIR/tests/programs/$name" names | sort -u >"$dir/called" || fail "names: status $?"
    missing=$(comm -23 "$dir/declared" "$dir/called" | tr '\n' ' ')
    [ -z "$missing" ] || fail "without an entry in tests/programs/$name.c: $missing"
    gone=$(comm -13 "$dir/declared" "$dir/called" | tr '\n' ' ')
    [ -z "$gone" ] || fail "in tests/programs/$name.c, but in no header: $gone"
}
mapfile -t headers < <(find "$DOME_SOURCE_DIR/include/dome" -name '*.h' ! -name openmp.h | grep -Ev "/$absent\$")
mapfile -t without_capture < <(find "$DOME_SOURCE_DIR/include/dome" -name '*.h' ! -name openmp.h ! -name capture.h)
expect_functions wrong "${without_capture[@]}"
expect_functions nulls "${headers[@]}"

"$RUN_MULTI" self "$wrong" >"$dir/out" 2>"$dir/err"
status=$?
[ $status -eq 0 ] && grep -qx ok "$dir/out" || fail "status $status: $(cat "$dir/out" "$dir/err")"
"$RUN_MULTI" self "$program" >"$dir/out" 2>"$dir/err"
status=$?
[ $status -eq 0 ] && grep -qx ok "$dir/out" || fail "status $status: $(cat "$dir/out" "$dir/err")"
"$RUN_MULTI" self "$program" abort >"$dir/out" 2>"$dir/err"
status=$?
[ $status -eq 1 ] && grep -q '^dome: the end of 1 (task 0 on host ' "$dir/err" || fail "dome_abort: status $status: $(cat "$dir/err")"
[ $failures -eq 0 ] || exit 1
echo "ok: $(wc -l <"$dir/declared") functions"
