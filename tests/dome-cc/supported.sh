#!/bin/bash
# Each construct: the translated program prints what the plain one does, also when it is captured at every poll and goes on, and
# when it is restarted from some of those checkpoints, by a program of another optimization.
# Arguments: names of programs, which are then captured without optimization, too; none: some of them, with -O2; "all": all, with both.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc here=$DOME_SOURCE_DIR/tests/dome-cc/supported
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d) || exit 1 # thousands of checkpoints: in memory
trap 'rm -rf "$work"' EXIT
cd "$work" && mkdir at-O0 at-O2 || exit 1

# NAME WHAT COMMAND...: prints what the plain program prints
same() {
    local name=$1 what=$2
    shift 2
    timeout 300 "$@" >out 2>err
    local status=$?
    [ "$(cat status.$name)" = $status ] || fail "$name, $what: status $status: $(head -3 err)"
    cmp -s out plain.$name || fail "$name, $what: other output: $(diff plain.$name out | head -4)"
}

names=$* both=$#
[ "$names" = all ] && names=''
[ $both -gt 0 ] || names="allocators calls conditions containers declarations expressions files flexible gotos layouts library live pointers scopes setjmp
    signal_actions strips strips_bounds structs unions"
[ -n "$names" ] || names=$(cd "$here" && ls *.c | sed 's/\.c$//')
for name in $names; do
    cc -w -O1 "$here/$name.c" -o plain -lm || { fail "$name: cc"; continue; }
    ./plain >plain.$name
    echo $? >status.$name
    [ "$(cat status.$name)" -lt 128 ] || { fail "$name: the compiler's program dies with status $(cat status.$name)"; continue; }
    polls=every # all loops, so that there are many places; but this one is about loops that poll now and then
    every=1
    [[ $name = strips* ]] && polls=auto every=50
    [ $name = strips_bounds ] && every=1
    for optimization in -O0 -O2; do
        translated=at$optimization/translated
        "$cc" --polls=$polls $optimization "$here/$name.c" -o $translated -lm 2>said || { fail "$name $optimization: $(head -3 said)"; continue 2; }
        same $name "$optimization undisturbed" ./$translated
        [ $optimization = -O2 ] || [ $both -gt 0 ] || continue
        rm -rf saved
        same $name "$optimization captured at polls" ./$translated --dome-checkpoint-dir saved --dome-checkpoint-every $every \
            --dome-checkpoint-keep 1000000
    done
    # The last one was the program of -O2; that of -O0 restarts from its checkpoints, some of them.
    # Other places of polls are another program.
    if [ $polls = every ] && [ $name = calls ]; then
        "$cc" --polls=none "$here/$name.c" -o other -lm
        ./other --dome-checkpoint-dir saved --dome-restart >out 2>err && fail "$name: an image with other polls is taken"
    fi
    count=$(ls saved | grep -c '^ckpt-.*\.dckpt$')
    [ $count -gt 1 ] || fail "$name: no checkpoints"
    [ $name = files ] && continue # its file is no more
    for k in $(seq 1 $((count / 5 + 1)) $count); do
        timeout 300 ./at-O0/translated --dome-checkpoint-dir saved --dome-restart=$k --dome-checkpoint-every 1000000000 >out 2>err
        status=$?
        [ "$(cat status.$name)" = $status ] || fail "$name, restarted from checkpoint $k of $count: status $status: $(head -3 err)"
        # What was printed after the checkpoint is printed again.
        tail -c $(stat -c %s out) plain.$name | cmp -s - out || fail "$name, restarted from $k of $count: $(tail -3 out)"
    done
done
[ $failures = 0 ] && echo "all constructs are captured at every poll, and go on"
exit $((failures > 0))
