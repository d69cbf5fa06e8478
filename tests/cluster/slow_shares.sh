#!/bin/bash
# bench/shares at sizes at which times mean nothing: programs run in a setting with changes, and all results of a program are the same.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
shares=$DOME_SOURCE_DIR/bench/shares
command -v python3 >/dev/null || skip "python3 is not installed"
getent services exec/tcp >/dev/null || skip "PVM looks up the service exec to add hosts: netbase is not installed"
for program in bench/programs/options examples/particles; do
    [ -x "$DOME_BUILD_DIR/$program" ] || skip "$program was not built"
done
work=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

say "one round"
mkdir traces
"$shares" --rounds 1 --percent 1 --programs options,kmeans,particles --settings changing --csv figures.csv --traces traces >out 2>err </dev/null
status=$?
[ $status -ne 77 ] || skip "$(tail -1 err)"
[ $status -eq 0 ] || fail "status $status: $(tail -1 err)"
grep -Eq '^All runs of a program had the same result to the last bit; [0-9]+ of 6 reached\.$' out || fail "the last line: $(tail -1 out)"
for setting in changing; do
    for program in options kmeans particles; do
        for balance in none global; do
            [ "$(grep -Ec "^1,$setting,$program,$balance,[0-9.e-]+," figures.csv)" -eq 1 ] || fail "figures.csv: $setting $program $balance"
            sed -n "/^$setting: /,/^\$/p" out | grep -Eq "^$program +$balance( +[0-9.]+){4} " || fail "table: $setting $program $balance"
            [ -s traces/$program-$setting-$balance-1.trace ] || fail "no trace: $setting $program $balance"
        done
    done
done
[ "$failures" -eq 0 ] || cat out

say "what it refuses"
refused() {
    local text=$1
    shift
    "$shares" "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$text" err || fail "$*: status $status, $(cat err)"
    echo "   $(cat err)"
}
refused "'fast' is not one of" --settings fixed,fast
refused "'0' is not a whole number" --rounds 0
refused "no such directory" --traces nowhere
PVM_ALLOW_ROOT=1 "$DOME_BUILD_DIR/bench/programs/wave" --side 0 >out 2>err && fail "wave --side 0: status 0"
[ "$(wc -l <err)" -eq 1 ] || fail "wave --side 0: $(cat err)"

finish
