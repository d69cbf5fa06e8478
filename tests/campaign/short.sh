#!/bin/bash
# The campaigns of this folder with few cases each, so that they stay in order.
here=$(dirname "$0")
failures=0
for campaign in "system_calls 12" "damage 40" "several_faults 6" "numpy_cases 300" "environments clock" "inputs 12"; do
    set -- $campaign
    output=$("$here/slow_$1.sh" "${@:2}" 2>&1)
    status=$?
    [ $status -eq 0 ] || [ $status -eq 77 ] || { failures=$((failures + 1)) && printf '%s\n' "$output"; }
    echo "$1: $(tail -1 <<<"$output")"
done
exit $((failures > 0))
