#!/bin/bash
# bench/figure6 at sizes at which times mean nothing: every program runs in every setting, all compute the same, nothing is missing.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
figure6=$DOME_SOURCE_DIR/bench/figure6
command -v python3 >/dev/null || skip "python3 is not installed"
getent services exec/tcp >/dev/null || skip "PVM looks up the service exec to add hosts: netbase is not installed"
for program in bench/mm/mmdome bench/mm/mmpvm examples/particles; do
    [ -x "$DOME_BUILD_DIR/$program" ] || skip "$program was not built"
done
work=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

say "two rounds of everything"
plot=()
! command -v gnuplot >/dev/null || plot=(--plot plot.svg)
"$figure6" --rounds 2 --products 20 --rows 1920 --k 32 --particles 500 --steps 4 --share 100 --csv times.csv "${plot[@]}" \
    >out 2>err </dev/null
status=$?
[ $status -ne 77 ] || skip "$(tail -1 err)"
[ $status -eq 0 ] || fail "status $status: $(tail -1 err)"
grep -q '^All programs computed the same, those of Dome to the last bit; [0-7] of 7 reached\.$' out || fail "the last line: $(tail -1 out)"
for setting in equal slow changing internal; do
    programs="mmpvm mmpvmopt mmdome-none mmdome-1 mmdome-2 mmdome-3 mmdome mmdome-ring"
    [ $setting != internal ] || programs="particles-none particles particles-ring"
    for program in $programs; do
        [ "$(grep -Ec "^[12],$setting,$program,[0-9.e-]+," times.csv)" -eq 2 ] || fail "times.csv: $setting $program"
        sed -n "/^$setting: /,/^\$/p" out | grep -Eq "^$program( +[0-9.]+){3} .* [0-9.]+\)?\$" || fail "table: $setting $program"
    done
done
[ "$(grep -Ec '^[12],alone,(mmseq|particles-seq),' times.csv)" -eq 4 ] || fail "times.csv: alone"
[ ${#plot[@]} -eq 0 ] || grep -q '</svg>' plot.svg || fail "no plot"
[ "$failures" -eq 0 ] || cat out

say "what it refuses"
refused() {
    local text=$1
    shift
    "$figure6" "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$text" err || fail "$*: status $status, $(cat err)"
    echo "   $(cat err)"
}
refused "'fast' is not one of" --settings equal,fast
refused "'cc' is not one of" --programs cc
refused "'0' is not a whole number" --rounds 0
refused "'200' is not a percentage" --share 200
refused "none of these programs" --settings internal --programs mmpvm
refused "no such directory" --csv nowhere/times.csv
for program in mmseq mmpvm; do
    "$DOME_BUILD_DIR/bench/mm/$program" --rows 0 >out 2>err && fail "$program --rows 0: status 0"
    [ "$(wc -l <err)" -eq 1 ] || fail "$program --rows 0: $(cat err)"
done

finish
