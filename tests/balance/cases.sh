#!/bin/bash
# Load balancing in running programs: each line is a case of balance/cases, a number of tasks and options. After the name, "ring" or
# "linear" says that data must not go but to neighbours.
# Arguments: words; only lines that have all of them are run. --once before them: each case once, in a ring if it is ever in one.
set -u
: "${DOME_BUILD_DIR:?}" "${RUN_MULTI:?}"
output=$(mktemp "${TMPDIR:-/tmp}/dome-case.XXXXXX") || exit 1
directory=$(mktemp -d "${TMPDIR:-/tmp}/dome-case.XXXXXX") || exit 1
trap 'rm -rf "$output" "$directory"' EXIT
failures=0

lines() {
    cat <<'END'
slow         | 4 |
slow         | 7 | --dome-balance-every 3
slow         | 4 | --dome-check-pointers
slow ring    | 5 | --dome-balance ring
slow ring    | 7 | --dome-balance ring --dome-balance-every 3
slow linear  | 5 | --dome-balance ring --dome-topology linear
slow         | 5 | --dome-balance ring --dome-balance-group 2
slow         | 2 | --dome-balance ring
slow         | 4 | --dome-balance-phases 3
early        | 4 | --dome-balance-every 100000
crawl        | 4 |
crawl ring   | 5 | --dome-balance ring
changes      | 4 |
changes ring | 5 | --dome-balance ring
alarm        | 4 |
alarm linear | 5 | --dome-balance ring --dome-topology linear
laps         | 4 |
real         | 4 |
real ring    | 3 | --dome-balance ring --dome-balance-every 3
equal        | 4 |
equal ring   | 7 | --dome-balance ring --dome-balance-every 3
equal        | 1 |
stop 5       | 4 |
stop 5       | 5 | --dome-balance ring
stop signal  | 3 | --dome-timeout 10
stop signal  | 3 | --dome-timeout 10 --dome-balance ring
stop 1       | 1 |
jump 3600    | 4 |
jump 3600    | 3 | --dome-balance-every 3
jump 3600    | 5 | --dome-balance ring
jump -1800   | 4 |
jump -1800   | 3 | --dome-balance-every 3
jump -1800   | 5 | --dome-balance ring
jump -1800   | 1 |
moments      | 4 |
moments      | 3 | --dome-balance-every 3
moments      | 5 | --dome-balance ring --dome-balance-every 7
regain       | 4 |
regain       | 5 | --dome-balance ring
regain       | 3 | --dome-balance-every 3
few          | 7 |
few          | 5 | --dome-balance-every 1
few          | 7 | --dome-balance ring --dome-balance-every 2
few          | 5 | --dome-balance random --dome-check-pointers
few          | 1 | --dome-balance random --dome-check-pointers
nothing      | 4 |
nothing      | 5 | --dome-balance-every 1
nothing      | 5 | --dome-balance ring --dome-balance-every 1
nothing      | 1 |
idle         | 4 | --dome-balance-every 1
idle ring    | 5 | --dome-balance ring --dome-balance-every 7
idle         | 5 | --dome-balance random --dome-check-pointers
later        | 4 |
later ring   | 5 | --dome-balance ring
halo         | 4 |
halo ring    | 5 | --dome-balance ring --dome-balance-every 7
halo         | 3 | --dome-balance random --dome-check-pointers
halo         | 1 | --dome-check-pointers
neighbours   | 4 |
neighbours passes | 4 |
neighbours   | 7 | --dome-road pvm
neighbours ring | 5 | --dome-balance ring
neighbours 1 | 3 |
neighbours 2 | 4 |
neighbours 3 | 3 | --dome-road pvm
neighbours 4 | 5 |
neighbours 7 | 4 |
saves 67     | 4 | --dome-checkpoint-dir DIRECTORY --dome-checkpoint-every 5 --dome-checkpoint-keep 100
saves 120    | 3 | --dome-checkpoint-dir DIRECTORY --dome-checkpoint-keep 100 --dome-restart
saves 100    | 4 | --dome-checkpoint-dir DIRECTORY --dome-restart=4
deferred     | 4 |
deferred ring| 5 | --dome-balance ring --dome-balance-every 7
deferred     | 3 | --dome-balance random --dome-check-pointers
failing      | 3 | --dome-balance none
failing      | 4 |
failing      | 4 | --dome-balance-every 1
failing      | 5 | --dome-balance ring
failing      | 3 | --dome-balance random --dome-check-pointers
failing      | 1 |
failing      | 1 | --dome-check-pointers
uneven       | 4 |
uneven ring  | 5 | --dome-balance ring
uneven linear| 5 | --dome-balance ring --dome-topology linear
apart        | 4 |
apart ring   | 5 | --dome-balance ring
fixed        | 4 |
fixed ring   | 5 | --dome-balance ring
lists        | 4 |
lists ring   | 5 | --dome-balance ring
ledger       | 4 |
ledger ring  | 5 | --dome-balance ring
ledger       | 3 | --dome-check-pointers
ledger alone | 4 |
ledger alone | 3 | --dome-check-pointers
END
}

once=
[ "${1:-}" != --once ] || { once=yes && shift; }
declare -A ran
while IFS='|' read -r words tasks options; do
    line="$words$tasks$options"
    for word in "$@"; do
        [[ " $line " == *" $word "* ]] || continue 2
    done
    if [ -n "$once" ]; then
        case=${words%% *}
        # Those that save go on from each other's files.
        [[ -z ${ran[$case]:-} || $words == saves* ]] || continue
        [[ $options == *"balance ring"* ]] || ! lines | grep -q "^$case .*balance ring" || continue
        ran[$case]=yes
    fi
    # shellcheck disable=SC2086 # words are separate arguments
    if ! "$RUN_MULTI" ${tasks// /} "$DOME_BUILD_DIR/tests/balance/cases" $words --dome-timeout 60 $options >"$output" 2>&1; then
        echo "failed: $line"
        grep -v '^dome: running as root' "$output"
        failures=$((failures + 1))
    fi
done < <(lines | sed "s|DIRECTORY|$directory|")

[ $failures -eq 0 ] || exit 1
echo "ok"
