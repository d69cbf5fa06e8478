#!/bin/bash
# bench/run --quick and bench/figure6 --quick, with programs that print made-up times: no case stops them, they show from where to where
# their rounds go, which differences mean nothing, and which targets that leaves open.
. "$(dirname "$0")/../support/checks.bash"
cd "${DOME_SOURCE_DIR:?}" || exit 1
command -v python3 >/dev/null || { echo "skipped: python3 is not installed" && exit 77; }
work=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bench/cases"
# program NAME: prints what its lines in $work/NAME.says say for this round, one file line for each round.
program() {
    cat >"$work/bench/cases/$1" <<END
#!/bin/sh
echo x >>"$work/$1.calls"
sed -n "\$(grep -c x "$work/$1.calls")p" "$work/$1.says" | tr '|' '\n'
END
    chmod +x "$work/bench/cases/$1"
}
run() {
    rm -f "$work"/*.calls
    bench/run --built --build "$work" --plot "$work/plot.svg" "$@" >"$work/out" 2>"$work/err" </dev/null
}
expect() { # expect PATTERN
    grep -Eq -- "$1" "$work/out" || fail "no '$1' in: $(cat "$work/out" "$work/err")"
}

# In seconds: 90, 100 and 160 ns; 1 us; and the smallest pair 1.0, 1.2 and 1.05 times as long as by hand, the sum of pairs 2, 2.2 and 2.1.
program small
printf '%s\n' 'record.run 90e-9|single 1e-6' 'record.run 100e-9|single 1e-6' 'record.run 160e-9|single 1e-6' >"$work/small.says"
program pairs
for ratios in "1.0 2.0" "1.2 2.2" "1.05 2.1"; do
    read -r least sum <<<"$ratios"
    echo "least.dome $least|least.hand 1|sum.dome $sum|sum.hand 1|sum.add 1"
done >"$work/pairs.says"
run --quick --only twins,small,pairs || fail "--quick: status $?, $(cat "$work/err")"
[ ! -s "$work/err" ] || fail "--quick: $(cat "$work/err")"
expect '^  no program of this case is short enough for --quick$'
expect '^  one deferred operation on 16 elements, .* 100 \(90 to 160\) +ns +at most 150 +not decided$'
expect '^  the smallest pair, .* 1\.050 \(1\.000 to 1\.200\) +at most 1\.1 +not decided$'
expect '^  the sum of pairs, dvec_sum_struct with .* 2\.100 \(2\.000 to 2\.200\) +at most 1\.1 +MISSED$'
# Of twelve and three figures more than nine in ten are within 14 % of their medians (1.2 of 1.05), one is not (160 of 100).
expect '^quick: differences below 14 % mean nothing '
expect '^0 of 3 targets reached; missed: the sum of pairs, .* \(2\.1\); not decided: one deferred operation .* \(100\); the smallest pair, '
python3 - "$work/bench/run.json" <<'END' || fail "run.json"
import json, sys
rows = json.load(open(sys.argv[1]))["cases"]["pairs"]["rows"]
assert rows[0]["rounds"] == [1.0, 1.2, 1.05] and rows[0]["value"] == 1.05, rows[0]
END
run --quick --only twins || fail "nothing to compare: status $?, $(cat "$work/err")"
expect '^no plot: nothing to compare$'
grep -q ', plot in ' "$work/out" && fail "a plot that is not there: $(cat "$work/out")"
run --quick --rounds 1 --only small || fail "one round: status $?"
expect '^quick: one round shows no difference that means anything$'
run --rounds 3 --only small,pairs || fail "status $?"
expect '^  the smallest pair, .* 1\.050 \(1\.000 to 1\.200\) +at most 1\.1 +reached$'
grep -q '^quick: ' "$work/out" && fail "a whole run calls itself quick"
run --quick --only matmul || fail "programs that are not there: status $?, $(cat "$work/err")"
expect "^    dome +not compared: matmul was not built"
for bad in --rounds=0 --seconds=-1 --only=nothing; do
    run --quick $bad && fail "$bad: status 0"
done
python3 - >"$work/out" 2>"$work/err" <<'END' || fail "a case of which nothing can run: $(tail -1 "$work/err")"
import argparse, importlib.machinery, importlib.util, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "bench")
loader = importlib.machinery.SourceFileLoader("bench_run", "bench/run")
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench_run", loader))
loader.exec_module(run)
run.command_of = lambda *_: (None, "not here")
for case in run.CASES.values():
    for quick in (True, False):
        rounds, missing = run.measure(case, argparse.Namespace(quick=quick, build="", seconds=1, rounds=3), {})
        lines = run.report(case, rounds, missing, quick)
        assert rounds == {} and all(line["value"] is None for line in lines), case.title
        run.last_words(lines, quick)
END

# figure6's tables, from records of three rounds.
python3 - <<'END' >"$work/out" 2>"$work/err" || fail "figure6's tables: $(tail -1 "$work/err")"
import importlib.machinery, importlib.util, sys
sys.dont_write_bytecode = True
sys.path.insert(0, "bench")
loader = importlib.machinery.SourceFileLoader("figure6", "bench/figure6")
figure6 = importlib.util.module_from_spec(importlib.util.spec_from_loader("figure6", loader))
loader.exec_module(figure6)
sys.argv = ["figure6", "--quick", "--settings", "changing"]
o = figure6.options()
assert o.rounds == 3 and "mmdome-1" not in o.programs and "mmdome" in o.programs
seconds = {"mmdome": (10.1, 11.4, 18.7), "mmpvm": (20, 21, 30), "mmdome-none": (19, 20, 21)}
o.programs = list(seconds)
records = [{"round": k + 1, "setting": "changing", "program": name, "seconds": times[k], "bound": 10.0, "half": times[k] / 2}
           for name, times in seconds.items() for k in range(3)]
results = figure6.Results(records)
figure6.print_tables(o, results)
reached, of = figure6.print_targets(o, results)
print(figure6.noise_text([results.ratios("changing", name, "oracle") for name in seconds]))
assert (reached, of) == (0, 2), (reached, of)
END
expect '^mmdome +11\.40 +10\.10 +18\.70 .* 1\.140 \(1\.01 to 1\.87\) +- '
expect '^changing shares: mmdome / oracle +1\.140 \(1\.010 to 1\.870\) +\(at most 1\.15: not decided\)$'
expect '^changing shares: mmpvm / mmdome +1\.842 \(1\.604 to 1\.980\) +\(at least 1\.80: not decided\)$'
expect '^quick: differences below 64 % mean nothing '

[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
