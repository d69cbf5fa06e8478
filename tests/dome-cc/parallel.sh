#!/bin/bash
# parallel.sh [PART...]: Dome programs by dome-cc. They print what they print by cc; they go on from each checkpoint, with
# this and other numbers of tasks; values that differ between tasks are named, and then the number stays; and parallel.py changes
# the number of tasks while they run, and kills some.
. "$(dirname "$0")/../support/programs.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc tool=$DOME_BUILD_DIR/tools/dome sources=$DOME_SOURCE_DIR/tests/dome-cc/parallel
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
[ "$counts" != self ] || { echo "skipped: there is no PVM"; exit 77; }
wanted=("$@")

# start TASKS PROGRAM ARGUMENTS...: as run, of a program by its path.
start() {
    local tasks=$1 program=$2
    shift 2
    "$RUN_MULTI" "$tasks" "$program" "$@" >out 2>err
    status=$?
    sed -i '/^dome: running as root: /d' err
}

# Whether this part is wanted: it is named, or none is.
part() {
    local name
    for name in "${wanted[@]-$1}"; do
        [ "$name" != "$1" ] || return 0
    done
    return 1
}

build() { # NAME
    cp "$sources/$1.c" . # by a name without folders, as images have it
    "$cc" -O2 -Wall -Wextra "$1.c" -o "$1" 2>said || fail "$1: $(head -3 said)"
    [ ! -s said ] || fail "$1: $(cat said)"
}

# goes_on NAME EVERY TASKS EXPECTED PROGRAM ARGUMENTS...: saved at every EVERY-th call of dome_checkpoint, and gone on from each, by 1 to
# 5 tasks in turns.
goes_on() {
    local name=$1 every=$2 tasks=$3 expected=$4 program=$5 turn=$RANDOM k all
    rm -rf "$name.saved"
    start "$tasks" "$program" "${@:6}" --dome-checkpoint-dir "$name.saved" --dome-checkpoint-every "$every" --dome-checkpoint-keep 1000000
    well "$name"
    same "$name" "$expected" out
    all=$(cd "$name.saved" && ls ckpt-*.dckpt | sed 's/^ckpt-0*//; s/\.dckpt$//')
    [ "$(wc -w <<<"$all")" -ge 4 ] || fail "$name: only these checkpoints: $all"
    for k in $all; do
        local now=$((turn++ % 5 + 1))
        start "$now" "$program" --dome-checkpoint-dir "$name.saved" --dome-restart="$k" --dome-checkpoint-every 1000000 # none by the clock
        [ $status -eq 0 ] || fail "$name: checkpoint $k by $now tasks: status $status: $(cat err)"
        grep -qv "^dome: going on from checkpoint $k, after" err && fail "$name: checkpoint $k by $now tasks: $(cat err)"
        [ -s out ] && tail -c "$(stat -c %s out)" "$expected" | cmp -s - out || fail "$name: checkpoint $k by $now tasks: other output: $(tail -2 out)"
    done
    echo "$name: $(wc -w <<<"$all") checkpoints"
}

if part nested; then
    build nested
    gcc -w -I"$DOME_SOURCE_DIR/include" "$sources/nested.c" -o nested.plain -L"$DOME_BUILD_DIR" -ldome -Wl,-rpath,"$DOME_BUILD_DIR" || fail "nested by gcc"
    start self ./nested.plain 8
    well "nested by gcc"
    mv out nested.expected
    for tasks in 1 3; do
        start $tasks ./nested 8
        well "nested"
        same "nested, $tasks tasks" nested.expected out
    done
    goes_on nested 1 3 nested.expected ./nested 8
    "$tool" ckpt show --all nested.saved:5 >shown || fail "dome ckpt show: $?"
    for text in 'dsparse dsparse #' 'dscalar dscalar #' 'dvec x' 'env = the environment' 'type f64' 'object of dvec'; do
        grep -qF -- "$text" shown || fail "show: no '$text': $(head -40 shown)"
    done
    grep -q 'differ' shown && fail "nested: $(grep differ shown)"
fi

if part own; then
    build own
    gcc -w -I"$DOME_SOURCE_DIR/include" "$sources/own.c" -o own.plain -L"$DOME_BUILD_DIR" -ldome -Wl,-rpath,"$DOME_BUILD_DIR" || fail "own by gcc"
    start self ./own.plain 10
    well "own by gcc"
    mv out own.expected
    start 3 ./own 10 --dome-balance random
    well "own"
    same "own" own.expected out
    goes_on own 1 3 own.expected ./own 10
    "$tool" ckpt show own.saved:5 >shown || fail "dome ckpt show: $?"
    grep -q ' other = cells cells #' shown && grep -q 'struct particle: 1 blocks' shown && grep -q ' same = layout of 300 elements over 5 tasks' shown || fail "show: $(head -40 shown)"
    grep -q 'differ' shown && fail "own: $(grep differ shown)"
    "$cc" -O2 --polls=operations own.c -o own.often 2>said || fail "own, --polls=operations: $(cat said)"
    goes_on own.often 2 3 own.expected ./own.often 10
fi

if part lists; then # an example with a structure of its own, in two files
    sources_of_lists=("$DOME_SOURCE_DIR"/examples/{lists.c,structure_lists.c})
    "$cc" -O2 -Wall -Wextra -I"$DOME_SOURCE_DIR/examples" "${sources_of_lists[@]}" -o lists 2>said || fail "lists: $(head -3 said)"
    run self lists --rounds 400
    well "lists"
    mv out lists.expected
    goes_on lists 30 3 lists.expected ./lists --rounds 400
    grep -q 'differ' err && fail "lists: $(cat err)"
fi

if part types; then
    build types
    start 1 ./types 6
    well "types"
    mv out types.expected
    goes_on types 1 3 types.expected ./types 6
    "$cc" -O2 --polls=operations types.c -o types.often 2>said || fail "types, --polls=operations: $(cat said)"
    goes_on types.often 7 3 types.expected ./types.often 6
    "$tool" ckpt show --all types.saved:3 >shown || fail "dome ckpt show: $?"
    grep -q 'types.c:both = type a type of both' shown && grep -q 'pair = type pair' shown || fail "show: $(head -40 shown)"
fi

if part twins; then
    for name in "13 cg $matrix" "2 md --cells 4 --steps 120 --thermo 30"; do
        read -ra words <<<"$name"
        twin=${words[1]}
        [ -x "$examples/nested/$twin" ] || { fail "there is no $examples/nested/$twin"; continue; }
        run self "$twin" "${words[@]:2}"
        well "$twin"
        mv out "$twin.expected"
        goes_on "$twin" "${words[0]}" 3 "$twin.expected" "$examples/nested/$twin" "${words[@]:2}"
    done
fi

if part between; then
    build between
    gcc -w -I"$DOME_SOURCE_DIR/include" "$sources/between.c" -o between.plain -L"$DOME_BUILD_DIR" -ldome -Wl,-rpath,"$DOME_BUILD_DIR" || fail "between by gcc"
    start self ./between.plain 8
    well "between by gcc"
    mv out between.expected
    for tasks in self 1 3; do
        start $tasks ./between 8
        well "between"
        same "between, $tasks tasks" between.expected out
    done
    goes_on between 4 3 between.expected ./between 8
    "$tool" ckpt show between.saved:9 >shown || fail "dome ckpt show: $?"
    grep -q 'between.c:' shown || fail "show: $(head -20 shown)"
    # none of its operations, only by --polls=none
    "$cc" -O2 --polls=none between.c -o between.none 2>said || fail "between: $(cat said)"
    start 2 ./between.none 8 --dome-checkpoint-dir none --dome-checkpoint-every 1
    same "between, --polls=none" between.expected out
    ls none | grep -q ckpt && fail "between, --polls=none: $(ls none)"
    # a program that calls dome_checkpoint polls behind its operations, too, if that is asked for
    cp "$sources/nested.c" .
    "$cc" -O2 --polls=operations nested.c -o often 2>said || fail "nested, --polls=operations: $(cat said)"
    start self ./often 8
    well "nested, --polls=operations"
    mv out often.expected
    goes_on often 17 3 often.expected ./often 8
    "$cc" --polls=operations -x c - -o no <<<'int main(void) { return 0; }' 2>said && fail "--polls=operations: no Dome program"
fi

if part late; then
    build late
    start 2 ./late resize 40
    [ $status -eq 0 ] && grep -q "rank is 0 on task 0 and 1 on task 1" err || fail "late: status $status: $(cat err)"
    printf '%s\n' begins "1: from 2 to 3 tasks, 2040000" | cmp -s - out || fail "late: $(cat out)"
    # the newest checkpoint before the change needs the number before
    start 2 ./late loss 40 --dome-checkpoint-dir memory: --dome-checkpoint-every 1000s --dome-restarts 1
    [ $status -eq 0 ] && grep -q "is lost: .*; healed from checkpoint 2 " err || fail "late loss: status $status: $(cat err)"
    grep -qx "1: from 2 to 3 tasks, 2040000" out || fail "late loss: $(cat out)"
    # the newest checkpoint needs another number than the first
    for restarts in "" "-n 2 --restarts 1 --on-loss restart"; do
        rm -rf lost stays
        if [ -n "$restarts" ]; then
            # shellcheck disable=SC2086 # words
            start - "$tool" run $restarts ./late stays 40 --dome-checkpoint-dir stays --dome-checkpoint-every 5
        else
            start 2 ./late stays 40 --dome-checkpoint-dir stays --dome-checkpoint-every 5 --dome-restarts 1 --dome-on-loss restart
        fi
        [ $status -eq 0 ] && grep -q "; started again with 3 tasks from checkpoint [5-8] " err || fail "late stays: status $status: $(cat err)"
        grep -qx "1: from 2 to 3 tasks, 2080000" out || fail "late stays: $(cat out)"
    done
fi

if part differ; then
    build differ
    start 1 ./differ 9 same
    well "differ, one task"
    # equal on all tasks
    start 3 ./differ 9 same --dome-checkpoint-dir same --dome-checkpoint-every 2 --dome-checkpoint-keep 100
    well "differ same"
    start 2 ./differ --dome-checkpoint-dir same --dome-restart=2
    [ $status -eq 0 ] || fail "differ same: by 2 tasks: $(cat err)"
    start 3 ./differ 9 errno --dome-checkpoint-dir errno --dome-checkpoint-every 2 --dome-checkpoint-keep 100
    well "differ errno"
    start 2 ./differ --dome-checkpoint-dir errno --dome-restart=2
    [ $status -eq 0 ] || fail "differ errno: by 2 tasks: $(cat err)"
    # in a variable, in the heap, in a global, in the number of blocks, in a file that is open
    while IFS=: read -r what where; do
        rm -rf "$what"
        start 3 ./differ 9 "$what" --dome-checkpoint-dir "$what" --dome-checkpoint-every 2 --dome-checkpoint-keep 100
        [ $status -eq 0 ] || fail "differ $what: status $status: $(cat err)"
        mv out expected
        grep -qF "dome: values differ between tasks ($where): with them the program goes on with 3 tasks only" err || fail "differ $what: $(cat err)"
        [ "$(wc -l <err)" -eq 1 ] || fail "differ $what: not one line: $(cat err)"
        for k in 1 4; do
            start 3 ./differ --dome-checkpoint-dir "$what" --dome-restart=$k --dome-checkpoint-every 1000
            [ $status -eq 0 ] || fail "differ $what: checkpoint $k: status $status: $(cat err)"
            same "differ $what: checkpoint $k" expected out
        done
        start 2 ./differ --dome-checkpoint-dir "$what" --dome-restart=2
        sed -i '/^dome: going on from checkpoint 2/d' err
        refused "differ $what: by 2 tasks" 1 "values differed between its 3 tasks ($where), so it needs 3 tasks, not 2"
        "$tool" ckpt show "$what:2" >shown || fail "dome ckpt show: $?"
        grep -qF "values differ between its 3 tasks ($where); those of task 0:" shown || fail "show: $(head -20 shown)"
        "$tool" ckpt verify "$what" >shown || fail "dome ckpt verify: $(cat shown)"
    done <<'END'
variable:function 'main': rank is 0 on task 0 and 1 on task 1
heap:block 5 of the heap, of type 'struct part': weight[1] is 0.5 on task 0 and 1.5 on task 1
global:global 'differ.c:table'[2] is 0 on task 0 and 7 on task 1
blocks:function 'main': more leads to different places on tasks 0 and 1
file:function 'main': log leads to different places on tasks 0 and 1
END
fi

if part refusals; then
    build refusals
    for what in "structure:'l' is a counts, a structure of the program's own whose operation table has no make: after a restart nobody could make it again" \
        "content:the content of 'l' is not a block of the heap of its own, but global 'refusals.c:env': element 0" \
        "inside:the content of 'l' is not a block of the heap of its own, but block 4 of the heap, of type 'struct counts': element 1, many" \
        "foreign:'l' is a dsparse, whose make is not a function of the program: compile it by dome-cc, too" \
        "type:type 'pair' has not all members of its struct as fields, in their order: after a restart nobody would know where they are"; do
        start 2 ./refusals "${what%%:*}" --dome-checkpoint-dir none --dome-checkpoint-every 1
        [ $status -eq 0 ] || fail "refusals ${what%%:*}: status $status"
        grep -qF "'image of the program' cannot be saved: ${what#*:}" err || fail "refusals ${what%%:*}: $(cat err)"
        grep -q . out || fail "refusals ${what%%:*}: printed nothing"
        rm -rf none
    done
    made="the program cannot go on from the checkpoint: 'l' is a dsparse, which the function 'refusals.c:make' makes:"
    for what in "nothing:$made it has made nothing" "more:$made it has made other objects, too" "name:dome_object_new: checkpoint"; do
        start 2 ./refusals "make-${what%%:*}" --dome-checkpoint-dir none --dome-checkpoint-every 1
        [ $status -eq 0 ] || fail "refusals make-${what%%:*}: status $status: $(cat err)"
        start 2 ./refusals --dome-checkpoint-dir none --dome-restart
        [ $status -ne 0 ] && grep -qF "${what#*:}" err || fail "refusals make-${what%%:*}: $status: $(cat err)"
        rm -rf none
    done
    # a pointer into content is gone with it: this one is never read again, so it counts for nothing
    start 2 ./refusals leads --dome-checkpoint-dir none --dome-checkpoint-every 1
    [ $status -eq 0 ] && [ ! -s err ] || fail "refusals leads: $status: $(cat err)"
    start 3 ./refusals --dome-checkpoint-dir none --dome-restart=1
    [ $status -eq 0 ] && [ "$(cat out)" = "leads: 0." ] || fail "refusals leads, again: $status: $(cat out err)"
    rm -rf none
    start 2 ./refusals dangling --dome-checkpoint-dir none --dome-checkpoint-every 1
    [ $status -eq 0 ] || fail "refusals dangling: status $status"
    grep -qF "global 'refusals.c:path': element 0 points to nothing that a checkpoint knows" err || fail "refusals dangling: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || fail "refusals dangling: not one line: $(cat err)"
    start 2 ./refusals held --dome-checkpoint-dir held --dome-checkpoint-every 1
    refused "refusals held" 0 "dome_checkpoint: nothing is saved here, and the number of tasks stays: 'held' is active, which cannot be saved"
    start 2 ./refusals name
    [ $status -eq 2 ] && grep -qF "'dvec #7' ends with \" #\" and a number" err || fail "refusals name: $status: $(cat err)"
    start 2 ./refusals kernel
    [ $status -ne 0 ] && grep -q "dome_checkpoint is called inside of its kernel" err || fail "refusals kernel: $status: $(cat err)"
    start 2 ./refusals plain --dome-on-loss tell
    [ $status -eq 1 ] && grep -qF -- "--dome-on-loss tell: this program goes on inside its calls" err || fail "refusals tell: $status: $(cat err)"
    # an image of a program that is not captured, and one of another source
    start 2 ./refusals plain --dome-checkpoint-dir plain --dome-checkpoint-every 1
    mkdir other
    sed 's/int depth = 3/int depth = 3 + (argc > 9)/' refusals.c >other/refusals.c
    (cd other && "$cc" -O2 refusals.c -o refusals 2>said) || fail "changed: $(cat other/said)"
    start 2 other/refusals plain --dome-checkpoint-dir plain --dome-restart
    [ $status -eq 1 ] && grep -q "function 'main' is not the one in the image: its source has changed" err || fail "changed: $status: $(cat err)"
fi

# Messages in transit: saved at the next boundary without them, or a line names the sender and the program goes on.
if part transit; then
    for way in "" --polls=operations; do
        # shellcheck disable=SC2086 # none or one word
        "$cc" $way -O2 "$DOME_SOURCE_DIR/tests/checkpoint/transit.c" -o transit 2>said || fail "transit: $(head -3 said)"
        start 3 ./transit 12 1 110 send 1 --dome-checkpoint-dir transit.saved --dome-checkpoint-every 5 --dome-checkpoint-keep 99
        [ $status -eq 0 ] && [ "$(cat out)" = 12000 ] || fail "transit $way: $status: $(cat out err)"
        ls transit.saved/ckpt-00000002.dckpt >/dev/null || fail "transit $way: $(cat err)"
        start 3 ./transit --dome-checkpoint-dir transit.saved --dome-restart
        [ $status -eq 0 ] && [ "$(cat out)" = 12000 ] || fail "transit $way, gone on: $status: $(cat out err)"
        rm -rf transit.saved
        [ -z "$way" ] || continue # between operations there are always polls without a message
        start 2 ./transit 12 1 1 isend 1 --dome-checkpoint-dir transit.saved --dome-checkpoint-every 1
        refused "transit, always" 0 "checkpoint 1 is left out: a message of task 0 to task 1 (tag 7, 1 element of f64) has not been received;"
        rm -rf transit.saved
    done
fi

# parallel.py PART: of programs that are built first.
changes() {
    local part=$1
    shift
    command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
    for name; do
        build "$name"
    done
    "$DOME_SOURCE_DIR/tests/support/run_python" "$DOME_SOURCE_DIR/tests/dome-cc/parallel.py" "$PWD" "$examples" "$part" || failures=$((failures + 1))
}

if part views; then
    changes views nested between own
fi

if part orders; then
    changes orders differ between late
fi
finish
