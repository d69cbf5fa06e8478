# For tests with several hosts: sourced first, `in_lab N "$@"` second. What follows in_lab runs inside a lab of N hosts; the user sits at h1.
support=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$support/checks.bash"
unset DOME_OPTIONS
here=$(dirname "$(readlink -f "$0")")
export DOME_SOURCE_DIR=${DOME_SOURCE_DIR:-$(dirname "$(dirname "$support")")}
export DOME_BUILD_DIR=${DOME_BUILD_DIR:-$DOME_SOURCE_DIR/build}
lab=$DOME_SOURCE_DIR/tools/dome-lab
dome=$DOME_BUILD_DIR/tools/dome

say() {
    echo "-- $*"
}

need_lab() {
    local why
    why=$("$lab" 1 true 2>&1)
    case $? in
    0) ;;
    77) skip "${why#dome-lab: }" ;;
    *) fail "no lab: $why" && finish ;;
    esac
}

in_lab() {
    local n=$1
    shift
    if [ -z "${LAB:-}" ]; then
        [ -x /usr/lib/pvm3/lib/pvmd ] || command -v pvmd >/dev/null || skip "PVM is not installed"
        getent services exec/tcp >/dev/null || skip "PVM looks up the service exec to add hosts: netbase is not installed"
        need_lab
        exec "$lab" "$n" "$BASH" "$0" "$@"
    fi
    export DOME_RSH="ssh -F $LAB/ssh_config"
    work=$LAB/work
    mkdir -p "$work"
    cd "$work" || exit 1
    local i
    hosts=()
    for ((i = 1; i <= n; i++)); do
        hosts+=("h$i")
    done
    printf '%s\n' "${hosts[@]:1}" >"$work/hosts"
}

on() {
    "$lab" on "$@"
}

# NAME COMMAND...: runs COMMAND; its output is in NAME.out and NAME.err, its status in $status.
run() {
    local name=$1
    shift
    "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null
    status=$?
    return $status
}

# The lines that a program of NAME may have on standard error, without the word to root.
errors() {
    grep -v '^dome: running as root:' "$work/$1.err"
}

ended_well() {
    [ "$status" -eq 0 ] || fail "$1: status $status; $(errors "$1")"
    [ -z "$(errors "$1")" ] || fail "$1: unexpected words: $(errors "$1")"
}

# NAME PATTERN...: it failed, with one line that has them all.
failed_with() {
    local name=$1 lines pattern
    shift
    lines=$(errors "$name")
    [ "$status" -ne 0 ] || fail "$name: status 0"
    [ "$(grep -c '' <<<"$lines")" -eq 1 ] && [ -n "$lines" ] || fail "$name: not exactly one line: '$lines'"
    for pattern; do
        grep -Eq "$pattern" <<<"$lines" || fail "$name: no '$pattern' in '$lines'"
    done
    echo "   $lines"
}

# Files in /tmp and in the home directory of the hosts, found without a process there.
files_left() {
    local host pid places=() names=()
    for host; do
        read -r pid <"$LAB/$host/pid"
        places+=("/proc/$pid/root/tmp" "/proc/$pid/root$HOME") names+=(-e "s,^/proc/$pid/root,$host ,")
    done
    find "${places[@]}" -xdev -mindepth 1 -type f,s,p | sed "${names[@]}"
}

# Whether processes or files are left on these hosts: sets $rest. Files are looked for when there are no processes.
is_left() {
    rest=$("$lab" ps "$@")
    [ -n "$rest" ] || rest=$(files_left "$@")
    [ -n "$rest" ]
}

# NAME [HOST...]: nothing is left on the hosts, now or in a moment.
clean() {
    local name=$1 rest=
    shift
    [ $# -gt 0 ] || set -- "${hosts[@]}"
    for _ in {1..300}; do
        is_left "$@" || return 0
        read -r -t 0.1 <>"$LAB/silence"
    done
    fail "$name: left behind:"
    { echo "$rest" && files_left "$@"; } | sort -u | sed 's/^/   /'
    # The next check starts from nothing.
    for host in "${hosts[@]}"; do
        "$lab" kill "$host"
        on "$host" find /tmp -xdev -mindepth 1 -type f,s,p -delete
        "$lab" sshd "$host"
    done
    return 1
}

# Seconds, with a fraction.
now() {
    local uptime rest
    read -r uptime rest </proc/uptime
    echo "$uptime"
}

# COMMAND...: waits until it succeeds; false if that does not come. In a lab without a process for each pause: nothing comes there.
until_true() {
    for _ in {1..1000}; do
        "$@" && return 0
        if [ -n "${LAB:-}" ]; then read -r -t 0.1 <>"$LAB/silence"; else sleep 0.1; fi
    done
    return 1
}

# ---- a virtual machine of the user's, with its console at the first host ----

vm_start() {
    local first=$1 host
    shift
    cat >"$work/rsh" <<END
#!/bin/sh
# What a login of the user's has in its environment.
host=\$1
shift
while [ \$# -gt 1 ]; do shift; done
exec ssh -F $LAB/ssh_config "\$host" "PVM_ROOT=${PVM_ROOT:-/usr/lib/pvm3} PVM_ALLOW_ROOT=1; export PVM_ROOT PVM_ALLOW_ROOT; \$1"
END
    chmod +x "$work/rsh"
    rm -f "$work/console.in"
    mkfifo "$work/console.in"
    on "$first" env PVM_ROOT="${PVM_ROOT:-/usr/lib/pvm3}" PVM_ALLOW_ROOT=1 PVM_RSH="$work/rsh" pvm "-n$first" \
        <"$work/console.in" >"$work/console.out" 2>&1 &
    vm_console=$!
    exec 4>"$work/console.in"
    for host; do
        vm_type "add $host"
        until_true vm_has "$host" || fail "the virtual machine has no $host: $(cat "$work/console.out")"
    done
}

vm_type() {
    echo "$*" >&4
}

# A console without a terminal shows what it has when it is told something.
vm_shows() {
    vm_type ""
    grep -q "$1" "$work/console.out"
}

vm_has() {
    grep -Eq "^ +$1 +[0-9a-f]+" "$work/console.out"
}

vm_daemons() {
    "$lab" ps | awk '$3 != "T" && $4 ~ /\/pvmd$/ { print $2 }'
}

vm_has_ended() {
    [ -z "$(vm_daemons)" ]
}

# A daemon of PVM's has been seen, once in a thousand times, that had removed its files and did not end.
vm_stop() {
    local pid host
    vm_type halt
    exec 4>&-
    for _ in {1..100}; do
        vm_has_ended && break
        read -r -t 0.1 <>"$LAB/silence"
    done
    for pid in $(vm_daemons); do
        echo "   PVM's daemon does not end: process $pid waits in $(cat /proc/"$pid"/wchan)"
        [ -n "$(find "/proc/$pid/root/tmp" -xdev -name 'pvmd.*')" ] || kill -KILL "$pid"
    done
    wait "$vm_console" # which waits for the daemon
    for host in "${hosts[@]}"; do
        on "$host" sh -c 'rm -f /tmp/pvml.* /tmp/pvmtmp*' # of PVM's own
    done
}

# ---- of tests/programs/elastic, by the names $elastic and $marks ----

# [STATES]: where its tasks are, but for stopped ones, or those in other states: "h1:2 h2:0 ...".
everywhere() {
    local host state program without=${1-T} processes
    local -A count
    processes=$("$lab" ps)
    while read -r host _ state program _; do
        [ "$program" != "$elastic" ] || [[ $without == *"$state"* ]] || count[$host]=$((${count[$host]:-0} + 1))
    done <<<"$processes"
    for host in "${hosts[@]}"; do
        printf '%s:%s ' "$host" "${count[$host]:-0}"
    done
}

are_at() {
    [ "$(everywhere)" = "$1 " ]
}

step() {
    cat "$marks/step.0" 2>/dev/null || echo 0
}

beyond() {
    local step=0
    [ ! -e "$marks/step.0" ] || read -r step <"$marks/step.0"
    [ "${step:-0}" -gt "$1" ]
}
