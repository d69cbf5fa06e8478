# What the tests of --dome-checkpoint-protocol log in a lab have in common. They set `steps` and `payload`, the words of a message.
logged=$DOME_BUILD_DIR/tests/programs/logged
marks=$work/marks

begin() {
    rm -rf "$marks"
    mkdir -p "$marks"
}

# NAME TASKS OPTION...: on all hosts
command() {
    run "$1" on h1 "$dome" run --restarts 9 --hosts "$work/hosts" -n "$2" "$logged" "$marks" "$steps" 1000000 $payload \
        --dome-checkpoint-protocol log --dome-timeout 4 "${@:3}"
}

# RANK STEP: there that task waits to be killed
hold() {
    echo "$2" >"$marks/hold.$1"
}

# NAME RANK: until it waits
held() {
    until_true [ -s "$marks/held.$2" ] || fail "$1: task $2 does not come so far: $(errors "$1")"
    rm "$marks/held.$2"
}

# NAME RANK: it has computed all steps in one process
stayed() {
    grep -q "computed $2 $steps\$" "$work/$1.err" || fail "$1: task $2 has begun anew: $(grep computed "$work/$1.err" | tr '\n' ' ')"
}

as_undisturbed() {
    [ "$status" -eq 0 ] || fail "$1: status $status: $(errors "$1")"
    cmp -s "$work/calm-$payload.out" "$work/$1.out" || fail "$1: other output: $(cat "$work/$1.out"); $(errors "$1")"
}

undisturbed() {
    say "undisturbed, $payload words"
    begin
    command calm-$payload 3 --dome-checkpoint-dir none:
    [ "$status" -eq 0 ] || fail "calm-$payload: status $status: $(errors calm-$payload)"
    grep -q 'one order' "$work/calm-$payload.out" || fail "calm-$payload: $(cat "$work/calm-$payload.out")"
    clean calm-$payload
}
