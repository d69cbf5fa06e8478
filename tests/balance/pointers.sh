#!/bin/bash
# --dome-check-pointers: a program that keeps a pointer for too long ends with one line; a right one does not notice.
. "$(dirname "$0")/../support/checks.bash"
: "${DOME_BUILD_DIR:?}" "${RUN_MULTI:?}"
work=$(mktemp -d "${TMPDIR:-/tmp}/dome-ptr.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# run TASKS WHAT OPTIONS...: leaves $status, $what, and what was printed in out and err.
run() {
    local tasks=$1
    what="$2, $tasks tasks, ${*:3}"
    "$RUN_MULTI" "$tasks" "$DOME_BUILD_DIR/tests/balance/pointers" "${@:2}" >"$work/out" 2>"$work/err"
    status=$?
    sed -i '/^dome: running as root: /d' "$work/err"
}

# One line that says what was kept and until which operation it was good.
caught() {
    local operation=$1
    [ $status -eq 1 ] || fail "$what: status $status"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$what: not one line: $(cat "$work/err")"
    grep -qE "^dome: a pointer to the values of 'x' was used that is out of date since operation [0-9]+ \($operation\): .* \(task [0-9]+ on host [^ ]+\)$" \
        "$work/err" || fail "$what: $(cat "$work/err")"
}

for tasks in 1 3; do
    for policy in none global random "ring --dome-balance-every 1"; do
        options="--dome-balance $policy --dome-check-pointers"
        for kind in "" block whole; do
            [ -z "$kind" ] || [ "$policy" = none ] || [ "$policy" = random ] || continue
            # shellcheck disable=SC2086 # words are separate arguments
            {
                run $tasks right $kind $options
                if [ $status -ne 0 ] || [ -s "$work/err" ]; then
                    fail "$what: status $status: $(cat "$work/err")"
                fi
                run $tasks sum $kind $options && caught dvec_sum
                run $tasks write $kind $options && caught dome_barrier
                run $tasks map $kind $options && caught dvec_map
                run $tasks shift $kind $options && caught dvec_roll
                run $tasks later $kind $options && caught dome_barrier
                run $tasks freed $kind $options && caught dvec_free
                run $tasks whole $kind $options && caught dvec_free
                run $tasks halo $kind $options && caught dvec_halo_elements
            }
        done
    done
    # Without the option nothing is checked, and a program that has kept a pointer may well go on.
    run $tasks right --dome-balance random
    [ $status -eq 0 ] || fail "$what: status $status: $(cat "$work/err")"
done

# What has nothing to do with vectors ends as it would have: by the signal, in one task too.
for options in "" --dome-check-pointers; do
    run 1 null $options
    [ $status -eq 139 ] || fail "$what: status $status: $(cat "$work/err")"
    run 3 null $options
    [ $status -ne 0 ] || fail "$what: status $status"
    grep -qE '^dome: task [0-2] on host [^ ]+ is lost: its process .*' "$work/err" || fail "$what: $(cat "$work/err")"
done

# After dome_finalize there is nobody to ask what it was.
run 1 finalized --dome-check-pointers
[ $status -eq 139 ] || fail "$what: status $status: $(cat "$work/err")"

[ $failures -eq 0 ] || exit 1
echo "ok"
