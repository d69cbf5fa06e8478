#!/bin/bash
# tools/dome-lab: shares and speeds hold, several labs side by side, and nothing of it left however it ends.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lab.bash"
unset LAB LAB_HOSTS
need_lab

marked() {
    grep -lsz "^DOME_TEST_LAB=$1\$" /proc/[0-9]*/environ | tr -dc '0-9\n'
}

# PID...: cgroups of labs that were started as these processes.
cgroups() {
    local process
    for process; do
        find /sys/fs/cgroup -type d -path "*/dome-lab.$process.*" 2>/dev/null
    done
}

gone() {
    [ -z "$(marked "$1")" ]
}

no_cgroups() {
    [ -z "$(cgroups "$@")" ]
}

# A process that ends has no environment any more some time before it leaves its cgroup.
empty_cgroups() {
    local directory
    for directory in $(cgroups "$@"); do
        [ -z "$(cat "$directory/cgroup.procs" 2>/dev/null)" ] || return
    done
}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
networks() {
    ip -o link show type bridge
    ip -o link show type veth
    ip netns list
}
networks >"$dir/before"

# STATUS PATTERN COMMAND...: it fails so, with one line
refused() {
    local want=$1 pattern=$2 line got
    shift 2
    line=$("$@" 2>&1 </dev/null)
    got=$?
    [ $got -eq "$want" ] || fail "$*: status $got, not $want"
    [ "$(grep -c '' <<<"$line")" -eq 1 ] && grep -Eq "^dome-lab: .*$pattern" <<<"$line" || fail "$*: no '$pattern' in '$line'"
}

say "mistakes in the arguments"
refused 2 "see dome-lab --help" "$lab"
refused 2 "no verb 'nonsense'" "$lab" nonsense
refused 2 "1 to 250 hosts, not 0" "$lab" 0 true
refused 2 "1 to 250 hosts, not 251" "$lab" 251 true
refused 2 "1 to 250 hosts, not 3x" "$lab" 3x true
refused 2 "no command" "$lab" 3
for verb in on kill stop go cut mend sshd cpu rate switch cable arch ps; do
    refused 2 "'$verb' works inside a lab" "$lab" $verb h1 20
done
"$lab" --help | grep -q '^  dome-lab N COMMAND' || fail "no help"
mistakes() {
    for verb in kill stop go cut mend sshd; do
        refused 2 "$verb takes a host" dome-lab $verb
        refused 2 "$verb takes a host" dome-lab $verb h1 h2
    done
    for verb in "on h3 true" "kill h3" "stop h0" "go h01" "cut h" "mend 1" "sshd hub" "cpu h3 20" "rate h3 10" "switch h3 2" "cable h3 10" "arch h3 s390x" "ps h3" "cpu ../h1 3"; do
        # shellcheck disable=SC2086
        refused 2 "there is no host '" dome-lab $verb
    done
    refused 2 "on takes a host and a command" dome-lab on h1
    refused 2 "cpu takes a host and its share" dome-lab cpu h1
    for share in "" -5 0 0.05 20% many 1e3 "1 2"; do
        refused 2 "a share is max or a number of percent from 0.1, not '$share'" dome-lab cpu h1 "$share"
    done
    for turn in "" 0 0.5 1001 long; do
        refused 2 "a turn is a number of milliseconds from 1 to 1000, not '$turn'" dome-lab cpu h1 20 "$turn"
    done
    refused 2 "rate takes a host and a speed" dome-lab rate h1
    for rate in "" -5 0.001 100001 1G; do
        refused 2 "a speed is 0 or a number of Mbit/s from 0.01 to 100000, not '$rate'" dome-lab rate h1 "$rate"
    done
    refused 2 "switch takes a host, a number" dome-lab switch h1
    refused 2 "a switch is a number from 1 to 9, not 'x'" dome-lab switch h1 x
    refused 2 "switch 1 has no link of its own" dome-lab switch h1 1 20
    refused 2 "a speed is 0 or a number of Mbit/s from 0.01 to 100000, not 'fast'" dome-lab switch h1 2 fast
    refused 2 "cable takes a host and the speed" dome-lab cable h1
    refused 2 "a speed is 0 or a number of Mbit/s from 0.01 to 100000, not 'fast'" dome-lab cable h1 fast
    refused 2 "arch takes a host and an architecture" dome-lab arch h1
    refused 2 "the only architecture is s390x, not 'vax'" dome-lab arch h1 vax
    DOME_LAB_S390X=/nowhere refused 77 "no machine in /nowhere" dome-lab arch h1 s390x
    refused 2 "works inside a lab, and not on its hosts" dome-lab on h1 dome-lab kill h2
    finish
}

# Prints what of a processor it got: used CPU time in ms, time that passed, time in which the limit held it back.
spin() {
    local from=$EPOCHREALTIME held used
    held=$(held)
    while :; do
        for _ in {1..2000}; do :; done
        read -r -a used </proc/self/stat
        [ $(((used[13] + used[14]) * 10)) -lt $1 ] || break
    done
    echo $(((used[13] + used[14]) * 10)) $(((${EPOCHREALTIME/./} - ${from/./}) / 1000)) $(($(held) - held))
}

held() {
    awk '$1 == "throttled_time" { print int($2 / 1e6) } $1 == "throttled_usec" { print int($2 / 1e3) }' "$LAB/h1/cgroup/cpu.stat"
}

# NAME LEAST MOST: of the time that passed, in percent. A busy machine makes it less; what the limit took away does not change.
share_of() {
    local used passed held
    read -r used passed held <"$LAB/$1.out"
    echo "   $1: used $used ms, passed $passed ms, held back $held ms"
    [ $((used * 100)) -le $((passed * $3)) ] || fail "$1: more than $3 %"
    [ $((used * 100)) -ge $(((used + held) * $2)) ] || fail "$1: less than $2 %"
}

# HOST MICROSECONDS, where the kernel can
saves() {
    local file
    for file in "$LAB/$1"/cgroup/cpu.{cfs_burst_us,max.burst}; do
        [ ! -e "$file" ] || [ "$(<"$file")" = "$2" ] || fail "$1 may save $(<"$file") us, not $2"
    done
}

spinning() {
    dome-lab ps h1 | grep -q spin
}

shares() {
    export -f spin held
    dome-lab cpu h1 20
    dome-lab on h1 "$BASH" -c 'spin 300' >"$LAB/on.out"
    share_of on 15 30
    ssh -F "$LAB/ssh_config" h1 "export LAB=$LAB; $(declare -f spin held); spin 300" >"$LAB/ssh.out"
    share_of ssh 15 30
    dome-lab cpu h1 5
    dome-lab on h1 "$BASH" -c 'spin 100' >"$LAB/small.out"
    share_of small 3 8
    # What it may save is one turn's time, and follows the share up and down.
    saves h1 1000
    dome-lab cpu h1 50
    saves h1 5000
    dome-lab cpu h1 20 40
    saves h1 8000
    dome-lab on h1 "$BASH" -c 'spin 300' >"$LAB/long.out"
    share_of long 15 30
    dome-lab cpu all max
    dome-lab on h1 "$BASH" -c 'spin 300' >"$LAB/max.out"
    [ "$(cut -d' ' -f3 "$LAB/max.out")" -eq 0 ] || fail "max: held back: $(<"$LAB/max.out")"
    # While a program runs: it would take 20 s.
    dome-lab cpu h1 1
    dome-lab on h1 "$BASH" -c 'spin 200' >"$LAB/changed.out" &
    until_true spinning
    dome-lab cpu h1 50
    wait $!
    share_of changed 20 55
    echo "   h2 was held back $(awk '$1 ~ "nr_throttled" { print $2 }' "$LAB/h2/cgroup/cpu.stat") times"
    grep -qx 'nr_throttled 0' "$LAB/h2/cgroup/cpu.stat" || fail "h2 was held back"
    [ "$(wc -l <"$LAB/h1/cgroup/cgroup.procs")" -gt 1 ] || fail "the host is not in its cgroup"
    finish
}

# Megabytes between hosts and the speed that the kernel has been told.
speeds() {
    local ms size=2000000
    for host in h1 h2; do
        dome-lab rate $host 20
        for from in h1 h2; do
            to=h$((3 - ${from#h}))
            ms=${EPOCHREALTIME/./}
            dome-lab on $from sh -c "head -c $size /dev/zero | ssh -F $LAB/ssh_config $to 'cat >/dev/null'"
            ms=$(((${EPOCHREALTIME/./} - ms) / 1000))
            echo "   rate $host 20, $from to $to: $size bytes in $ms ms"
            [ $ms -ge $((size * 8 * 8 / 10 / 20000)) ] || fail "faster than 20 Mbit/s"
        done
        dome-lab on $host tc qdisc show dev eth0 | grep -q 'tbf .*rate 20Mbit' || fail "no limit on the way out of $host"
        dome-lab rate $host 0
        dome-lab rate $host 0 || fail "a limit that is not there cannot be lifted"
        dome-lab on $host tc qdisc show dev eth0 | grep -q tbf && fail "the limit of $host is still there"
    done
    finish
}

# Whether h2 can still be reached, whatever switch it is plugged into.
switches() {
    dome-lab switch h2 2 20
    ssh -F "$LAB/ssh_config" h2 true || fail "h2 at switch 2 cannot be reached"
    tc qdisc show dev up2 | grep -q 'tbf .*rate 20Mbit' || fail "no limit on the link between the switches"
    dome-lab cut h2
    dome-lab mend h2
    ip link show h2 | grep -q 'master hub2' || fail "h2 is not plugged into switch 2 again"
    dome-lab switch h2 2 0
    tc qdisc show dev up2 | grep -q tbf && fail "the limit between the switches is still there"
    dome-lab switch h2 1
    ip link show h2 | grep -q 'master hub ' || fail "h2 is not back at switch 1"
    ssh -F "$LAB/ssh_config" h2 true || fail "h2 at switch 1 cannot be reached"
    finish
}

# All that hosts on the cable send passes it, whoever sends.
cables() {
    local before after
    dome-lab cable all 50 2>why || { echo "   no cable: $(cat why)" && finish; }
    sent() { tc -s qdisc show dev cable | sed -n 's/^ Sent \([0-9]*\) .*/\1/p'; }
    tc qdisc show dev cable | grep -q 'tbf .*rate 50Mbit' || fail "no limit on the cable"
    before=$(sent)
    for pair in "h1 h2" "h2 h1"; do
        read -r from to <<<"$pair"
        dome-lab on $from ssh $to true || fail "$to cannot be reached from $from"
    done
    after=$(sent)
    [ $((after - before)) -gt 5000 ] || fail "$((after - before)) bytes passed the cable"
    dome-lab cable h1 20
    tc qdisc show dev cable | grep -q 'tbf .*rate 20Mbit' || fail "the cable is not as fast as was said last"
    dome-lab cable all 0
    dome-lab cable h1 0 || fail "a host that is not on the cable cannot be taken out"
    before=$(sent)
    dome-lab on h1 ssh h2 true || fail "h2 cannot be reached without the cable"
    [ "$(sent)" = "$before" ] || fail "the hosts are still on the cable"
    finish
}

export -f refused say fail finish until_true mistakes shares share_of saves spin spinning held speeds switches cables
failures=0 "$lab" 2 "$BASH" -c mistakes || fail "mistakes in a lab"
why=$("$lab" 1 dome-lab cpu h1 50 2>&1)
status=$?
if [ $status -eq 0 ]; then
    say "CPU shares"
    failures=0 "$lab" 2 "$BASH" -c shares || fail "CPU shares"
else
    say "no CPU shares: $why"
    [ $status -eq 77 ] || fail "shares cannot be set, and the status is not 77"
fi
say "speeds of links"
failures=0 "$lab" 2 "$BASH" -c speeds || fail "speeds of links"
failures=0 "$lab" 2 "$BASH" -c switches || fail "switches"
(cd "$dir" && failures=0 "$lab" 2 "$BASH" -c cables) || fail "a cable"

say "no cgroups that can be written"
hide="mount -t tmpfs tmpfs /sys/fs/cgroup"
if [ "$(id -u)" -eq 0 ]; then
    unshare --mount bash -c "$hide"' && exec "$0" 1 bash -c "dome-lab on h1 true && dome-lab cpu h1 20"' "$lab" >"$dir/none" 2>&1
    [ $? -eq 77 ] || fail "without cgroups: another status than 77"
    grep -q '^dome-lab: CPU shares cannot be set here: ' "$dir/none" || fail "without cgroups: $(cat "$dir/none")"
fi

# A user who is not there otherwise, with a range of ids.
as_user() {
    unshare --mount "$BASH" -ec '
        cd "$1"
        for file in passwd group subuid subgid; do mount --bind $file /etc/$file; done
        cd "$2"
        exec setpriv --reuid 54321 --regid 54321 --clear-groups env HOME=/nowhere "${@:3}"' as_user "$dir/etc" "$(dirname "$lab")" "$@"
}

if [ "$(id -u)" -eq 0 ] && command -v newuidmap >/dev/null; then
    say "without root"
    chmod 755 "$dir"
    mkdir "$dir/etc"
    cp /etc/passwd /etc/group "$dir/etc"
    echo "labuser:x:54321:54321::/nowhere:/bin/bash" >>"$dir/etc/passwd"
    echo "labuser:x:54321:" >>"$dir/etc/group"
    echo "labuser:1000000:65536" | tee "$dir/etc/subuid" >"$dir/etc/subgid"
    if why=$(as_user unshare --user --map-root-user --map-auto true 2>&1); then
        as_user "$lab" 2 "$BASH" -c 'ssh h2 uname -n; dome-lab cut h2; dome-lab mend h2; dome-lab rate h1 10
            dome-lab on h1 tc qdisc show dev eth0; dome-lab kill h2; dome-lab sshd h2; ssh h2 id -u; dome-lab ps' >"$dir/user" 2>&1 </dev/null
        [ $? -eq 0 ] && grep -q 'rate 10Mbit' "$dir/user" && [ "$(grep -v qdisc "$dir/user" | tr '\n' ' ')" = "h2 0 " ] ||
            fail "without root: $(cat "$dir/user")"
    else
        say "not here: $why"
    fi
fi

say "three at a time"
for i in 1 2 3; do
    DOME_TEST_LAB=$$.side.$i "$lab" 2 "$BASH" -c 'dome-lab cpu h1 10; ssh -F $LAB/ssh_config h2 "hostname; touch /tmp/only-here"
        dome-lab on h1 ls /tmp' >"$dir/side.$i" 2>&1 &
    labs[i]=$!
done
wait
for i in 1 2 3; do
    grep -qx h2 "$dir/side.$i" && ! grep -q only-here "$dir/side.$i" || fail "lab $i of three: $(cat "$dir/side.$i")"
    gone $$.side.$i || fail "lab $i of three has left $(marked $$.side.$i)"
done
no_cgroups "${labs[@]}" || fail "cgroups are left: $(cgroups "${labs[@]}")"

start_lab() { # MARK
    : >"$dir/$1"
    set -m # else the signal would be ignored in it
    DOME_TEST_LAB=$1 "$lab" 2 "$BASH" -c 'echo up; exec sleep 1000' >"$dir/$1" &
    job=$!
    set +m
    until_true grep -q up "$dir/$1" || fail "no lab"
    [ "$(marked "$1" | wc -l)" -gt 5 ] || fail "$1: no processes"
}

for signal in TERM INT HUP KILL; do
    say "ended by SIG$signal"
    mark=$$.$signal
    start_lab $mark
    kill -$signal $job
    wait $job 2>/dev/null && fail "$signal: status 0"
    until_true gone $mark || fail "$signal: left: $(marked $mark)"
    until_true no_cgroups "$job" || fail "$signal: cgroups are left: $(cgroups "$job")"
done

say "all its processes killed at once, beside a lab that goes on"
start_lab $$.other
other=$job
start_lab $$.all
mapfile -t all < <(marked $$.all)
kill -KILL "${all[@]}" 2>/dev/null
wait $job 2>/dev/null
until_true gone $$.all || fail "left: $(marked $$.all)"
no_cgroups "$job" || echo "   its cgroups are left, for the next lab to remove: what watches over them was killed too"
until_true empty_cgroups "$job" || fail "processes are left in cgroups: $(cgroups "$job")"
"$lab" 1 true || fail "the next lab: status $?"
no_cgroups "$job" || fail "cgroups are left that the next lab should have removed: $(cgroups "$job")"
[ -n "$why" ] || cgroups "$other" | grep -q '/h2$' || fail "the other lab has lost its cgroups"
kill $other
wait $other
no_cgroups "$other" || fail "cgroups are left: $(cgroups "$other")"

say "the status is the command's"
"$lab" 1 "$BASH" -c 'exit 3'
[ $? -eq 3 ] || fail "not the command's status"

networks >"$dir/after"
same "what the network of this machine has" "$dir/before" "$dir/after"
[ ! -e /run/lab ] || fail "/run/lab is there"
finish
