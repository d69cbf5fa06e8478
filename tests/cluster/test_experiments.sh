#!/bin/bash
# Text files for tools/dome-lab: timed events and experiments. Mistakes are found before anything starts; events come in the order
# of their times; the example in examples/lab gives the result of a single host.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
[ -x /usr/lib/pvm3/lib/pvmd ] || command -v pvmd >/dev/null || skip "PVM is not installed"

if [ -z "${LAB:-}" ]; then
    need_lab
    dir=$(mktemp -d)
    trap 'rm -rf "$dir"' EXIT

    # LINE PATTERN TEXT: an experiment that is not one
    mistake() {
        local where=$1 pattern=$2 line got
        shift 2
        printf '%s\n' "$@" >"$dir/wrong.lab"
        line=$("$lab" run "$dir/wrong.lab" </dev/null 2>&1)
        got=$?
        [ $got -eq 2 ] || fail "'$*': status $got"
        [[ $line = "dome-lab: $dir/wrong.lab$where: "* ]] && [ "$(grep -c '' <<<"$line")" -eq 1 ] && grep -Eq "$pattern" <<<"$line" || fail "'$*': '$line'"
    }
    say "mistakes in experiments"
    mistake "" "no line with hosts" "# nothing"
    mistake "" "no run line, and no command" "hosts 2"
    mistake ":2" "first line must say how many hosts.*hosts 3$" "" "cpu h1 20"
    mistake ":1" "number from 1 to 250$" "hosts many"
    mistake ":1" "number from 1 to 250$" "hosts 251"
    mistake ":1" "number from 1 to 250$" "hosts"
    mistake ":2" "one line with hosts" "hosts 2" "hosts 3"
    mistake ":3" "begins with hosts, .* not with 'kill'" "hosts 2" "run h1 true" "kill h1"
    mistake ":2" "no host 'h3'" "hosts 2" "cpu h3 20"
    mistake ":2" "a share is" "hosts 2" "cpu h1 0 # 20"
    mistake ":2" "a turn is" "hosts 2" "cpu all 20 h1"
    mistake ":2" "cpu takes" "hosts 2" "cpu all 20 10 h1"
    mistake ":2" "a speed is" "hosts 2" "rate all fast"
    mistake ":2" "no host 'h0'" "hosts 2" "at 1 cut h0"
    mistake ":2" "number of seconds, not 'soon'" "hosts 2" "at soon cut h1"
    mistake ":2" "an event is" "hosts 2" "at 1"
    mistake ":2" "architecture is s390x, not 'x'" "hosts 2" "arch h1 x"
    mistake ":2" "arch is not for later" "hosts 2" "at 1 arch h1 s390x"
    mistake ":2" "no verb 'on'" "hosts 2" "at 1 on h1 true"
    mistake ":2" "run takes a host and a command" "hosts 2" "run h1"
    mistake ":2" "no host 'all'" "hosts 2" "run all true"
    mistake ":3" "a run line already" "hosts 2" "run h1 true" "run h2 true"
    "$lab" run "$dir/nowhere.lab" >"$dir/line" 2>&1
    [ $? -eq 2 ] && grep -q 'nowhere.lab cannot be read: No such file' "$dir/line" || fail "a file that is not there: $(cat "$dir/line")"

    say "an experiment"
    cat >"$dir/this.lab" <<'END'
# hosts 7
hosts 2

rate h2 100 # Mbit/s
at 0.2 rate h1 50
run h1 echo "on $(uname -n) # in $PWD"; ssh h2 tc qdisc show dev eth0 >&2; until tc qdisc show dev eth0 | grep 50Mbit; do sleep 0.1; done; exit 4
END
    "$lab" run "$dir/this.lab" >"$dir/out" 2>"$dir/err" </dev/null
    [ $? -eq 4 ] || fail "not the status of its command: $(cat "$dir/err")"
    grep -qx "on h1 # in $PWD" "$dir/out" || fail "the command does not run in the same directory of h1: $(cat "$dir/out")"
    grep -q 'tbf .*rate 50Mbit' "$dir/out" || fail "the event has not come: $(cat "$dir/out")"
    grep -q 'tbf .*rate 100Mbit' "$dir/err" || fail "the link of h2 is not limited: $(cat "$dir/err")"
    "$lab" run <(echo "hosts 1") "$BASH" -c 'cat; exit 5' <<<"what is read" >"$dir/out"
    [ $? -eq 5 ] && [ "$(<"$dir/out")" = "what is read" ] || fail "a command instead of the experiment's: $(cat "$dir/out")"

    say "the example"
    example=$DOME_SOURCE_DIR/examples/lab/slow_host.lab
    shares=yes
    "$lab" 1 dome-lab cpu h1 50 2>"$dir/why" || shares=
    if [ -z "$shares" ]; then
        say "no CPU shares: $(cat "$dir/why")"
        "$lab" run "$example" true 2>"$dir/line"
        [ $? -eq 77 ] && [ "$(grep -c '' "$dir/line")" -eq 1 ] || fail "no line, or not 77: $(cat "$dir/line")"
    else
        getent services exec/tcp >/dev/null || skip "PVM looks up the service exec to add hosts: netbase is not installed"
        command=$(sed -n 's/^run h1 .* --hosts $LAB.hostfile //p' "$example")
        [ -n "$command" ] || fail "no run line in the example"
        eval "$command --dome-transport self" >"$dir/alone" || fail "the program of the example: status $?"
        "$lab" run "$example" >"$dir/out" 2>"$dir/err" </dev/null || fail "the example: status $?, $(cat "$dir/err")"
        same "the example" "$dir/alone" "$dir/out"
        grep -v '^dome: running as root:' "$dir/err" && fail "unexpected words"
    fi
    "$lab" 3 "$BASH" "$0" "$shares" || fail "events"
    finish
fi

shares=$1
mkdir -p "$LAB/work"
cd "$LAB/work" || exit 1

# LINE PATTERN TEXT...
wrong() {
    local where=$1 pattern=$2 line got
    shift 2
    printf '%s\n' "$@" >wrong
    line=$(dome-lab play wrong 2>&1)
    got=$?
    [ $got -eq 2 ] || fail "'$*': status $got"
    [[ $line = "dome-lab: wrong:$where: "* ]] && [ "$(grep -c '' <<<"$line")" -eq 1 ] && grep -Eq "$pattern" <<<"$line" || fail "'$*': '$line'"
}
say "mistakes in events"
wrong 1 "an event is" "5"
wrong 1 "number of seconds, not '-1'" "-1 cut h2"
wrong 1 "number of seconds, not 'cut'" "cut h2"
wrong 3 "no host 'h4'" "0 cut h3" "# 3 cut h4" "2 cut h4"
wrong 2 "kill takes a host" "0 cut h3" "2 kill"
wrong 2 "no verb 'ps'" "0 cut h3" "2 ps h1"
wrong 2 "a share is" "0 cut h3" "2 cpu h1 0"
wrong 2 "a speed is" "0 cut h3" "2 rate h1 1e9"
on h3 true && ssh h3 true || fail "an event of a file with a mistake has come"
dome-lab play >line 2>&1
[ $? -eq 2 ] && grep -q 'play takes a file' line || fail "play without a file: $(cat line)"
dome-lab play nowhere >line 2>&1
[ $? -eq 2 ] && grep -q 'nowhere cannot be read: No such file' line || fail "play without a file: $(cat line)"

link() { # HOST
    ip -o link show "$1" | grep -q ' master hub ' && echo in || echo out
}

# The lines of a file are in any order; what is later wins.
say "the order of events"
printf '%s\n' "0.9 rate h3 40" "" "0.3 cut h1 # comment" "0.6 mend h1" "0.3 cut h2" "0.5 rate h3 30" "0.3 mend h2" "0 rate all 20" >events
before=$(now)
dome-lab play events || fail "play: status $?"
awk -v a="$before" -v b="$(now)" 'BEGIN { exit !(b - a >= 0.85) }' || fail "play was over too soon"
[ "$(link h1)" = in ] || fail "h1: cut at 0.3, mended at 0.6: out"
[ "$(link h2)" = in ] || fail "h2: cut and then mended at 0.3: out"
on h3 tc qdisc show dev eth0 | grep -q 'rate 40Mbit' || fail "rate at 0.9: $(on h3 tc qdisc show dev eth0)"
on h1 tc qdisc show dev eth0 | grep -q 'rate 20Mbit' || fail "rate of all: $(on h1 tc qdisc show dev eth0)"
: | dome-lab play /dev/stdin || fail "no events: status $?"

say "in the background, until it is ended"
printf '%s\n' "0 cut h2" "1000 mend h2" "0 kill h3" "0.1 sshd h3" >events
dome-lab play events &
player=$!
h2_out() { [ "$(link h2)" = out ]; }
until_true h2_out || fail "cut at 0 has not come"
until_true ssh h3 true 2>/dev/null || fail "sshd of h3 has not come"
kill $player
wait $player
status=$?
[ $status -eq 143 ] || fail "SIGTERM to play: status $status"
dome-lab mend h2
dome-lab ps >left
[ ! -s left ] || fail "left: $(cat left)"

if [ -n "$shares" ]; then
    say "many events"
    for ((i = 0; i < 600; i++)); do
        echo "$((i / 300)).$(printf %03d $((i % 300 * 3))) cpu h$((i % 3 + 1)) $((i % 40 + 2)).5"
    done >walk
    { TIMEFORMAT='%U %S'; time dome-lab play walk 2>play.err; } 2>used || fail "a walk"
    [ ! -s play.err ] || fail "a walk: $(cat play.err)"
    awk '{ printf "   600 events in 2 s: %d ms of CPU time\n", ($1 + $2) * 1000; exit $1 + $2 > 1.5 }' used || fail "too much work"
    cat "$LAB"/h[123]/cgroup/{cpu.max,cpu.cfs_quota_us} 2>/dev/null | tr -s ' \n' ' ' >quotas
    grep -Eq '^(3950|3950 10000) (4050|4050 10000) (4150|4150 10000) $' quotas || fail "the last shares: $(cat quotas)"
fi
finish
