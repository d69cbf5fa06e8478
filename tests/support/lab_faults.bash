# For tests of faults in a lab: sourced after in_lab.
phase=$DOME_BUILD_DIR/tests/cluster/phase
timeout=4

start() { # NAME PLACE
    : >"$work/$1.out" # `until_true` looks at it
    # Who started this test in the background may have had it ignore SIGINT, and a shell cannot undo that.
    run "$1" on h1 env --default-signal=INT,QUIT "$dome" run --hosts "$work/hosts" -n 6 "$phase" "$2" --dome-timeout $timeout &
    program=$!
    until_true grep -q there "$work/$1.out" || fail "$1: it does not start: $(errors "$1")"
}

all_there() { # NAME PLACE...
    local name=$1 place
    for place in "${@:2}"; do
        until_true grep -q there "$work/$name.$place.out" || fail "$name.$place: it does not start: $(errors "$name.$place")"
    done
}

# NAME PLACE...: a program for each place, called NAME.PLACE, which run at the same time: $programs. Those that keep the processors
# busy (sum, exchange) come last.
start_each() {
    local name=$1 place there=()
    shift
    programs=()
    for place; do
        case $place in sum | exchange) all_there "$name" "${there[@]}" ;; esac
        there+=("$place")
        : >"$work/$name.$place.out"
        run "$name.$place" on h1 "$dome" run --hosts "$work/hosts" -n 6 "$phase" "$place" --dome-timeout $timeout &
        programs+=($!)
    done
    all_there "$name" "$@"
}

# The tasks of all programs on these hosts.
tasks() {
    "$lab" ps "$@" | grep -F "$phase"
}

no_tasks() {
    [ -z "$(tasks "$@")" ]
}

# NAME: since $since, when the fault was there, no longer than the timeout and what a busy machine may add.
in_time() {
    local took
    took=$(awk -v a="$since" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')
    echo "   $1: $took s"
    # Far more: on a machine with other things to do, ending all processes on all hosts takes long. Without the watch it would be minutes.
    awk -v t="$took" -v most="$((8 * timeout))" 'BEGIN { exit !(t <= most) }' || fail "$1: over only after $took s"
}

operation_of() {
    case $1 in
    own) echo "was in the program's own code" ;;
    map) echo "was in dvec_(map|sum) of 'x'" ;;
    sum | wait) echo "was in dvec_sum of 'x'" ;;
    exchange) echo "was in dvec_roll of 'y'" ;;
    esac
}
