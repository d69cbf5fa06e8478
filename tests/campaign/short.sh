#!/bin/bash
# The campaigns of this folder with few cases each, so that they stay in order.
here=$(dirname "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/dome-short.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# CAMPAIGN ARGUMENTS...: its output and its status in files
run() {
    "$here/slow_$1.sh" "${@:2}" >"$work/$1" 2>&1
    echo $? >"$work/$1.status"
}

judge() { # CAMPAIGN
    local status
    status=$(<"$work/$1.status")
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || { failures=$((failures + 1)) && cat "$work/$1"; }
    echo "$1: $(tail -1 "$work/$1")"
}

run several_faults 6 & # mostly waits
for campaign in "system_calls 12" "damage 40" "numpy_cases 300" "scipy_cases 75" "environments clock" "inputs 12" "csmith 2 1"; do
    # shellcheck disable=SC2086
    run $campaign
    judge "${campaign%% *}"
done
wait
judge several_faults
exit $((failures > 0))
