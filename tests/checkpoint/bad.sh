#!/bin/bash
# What can be wrong, each with one clear line, and an older good checkpoint used where there is one.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
saving="--dome-checkpoint-dir dir --dome-checkpoint-every 2"
tasks=${counts#self }
tasks=${tasks%% *}
[ "$counts" = self ] || tasks=3
on="going on from checkpoint"

run self state 8 --dome-checkpoint-dir good --dome-checkpoint-every 2 --dome-checkpoint-keep 3
well "8 steps"
cp out expected
[ "$(ls good | tr '\n' ' ')" = "ckpt-00000001.dckpt ckpt-00000002.dckpt ckpt-00000003.dckpt ckpt-00000004.dckpt lock run " ] ||
    fail "kept: $(ls good)" # 1 holds blocks of the others

fresh() {
    rm -rf dir
    cp -r good dir
}

# goes_on WHAT NUMBER TEXT: from an older one, after a line with TEXT.
goes_on() {
    run "$tasks" state 8 $saving --dome-restart
    [ $status -eq 0 ] || fail "$1: status $status, $(cat err)"
    same "$1" expected out
    [ "$(wc -l <err)" -eq 2 ] || fail "$1: $(cat err)"
    head -n 1 err | grep -qF -- "$3" || fail "$1: '$3' is not in: $(cat err)"
    tail -n 1 err | grep -qF "$on $2" || fail "$1: $(cat err)"
}

flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "$(printf '\\%03o' $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

newest=dir/ckpt-00000004.dckpt
size=$(stat -c %s good/ckpt-00000004.dckpt)
for at in 0 9 20 40 63 700 $((size - 1)); do
    fresh
    flip $newest $at
    goes_on "byte $at flipped" 3 "ckpt-00000004.dckpt"
done
for length in 0 63 500 $((size - 1)); do
    fresh
    truncate -s $length $newest
    goes_on "$length bytes of it" 3 "ckpt-00000004.dckpt"
done
fresh
printf '\0\0\0\3' | dd of=$newest bs=1 seek=8 conv=notrunc status=none
goes_on "a newer version" 3 "ckpt-00000004.dckpt"
fresh
: >dir/ckpt-00000009.dckpt.part
run "$tasks" state 8 $saving --dome-restart
[ $status -eq 0 ] && same "half written" expected out || fail "half written: $(cat err)"
[ ! -e dir/ckpt-00000009.dckpt.part ] || fail "what was half written is still there"

# All of them.
fresh
for file in dir/ckpt-*; do
    truncate -s 10 "$file"
done
run "$tasks" state 8 $saving --dome-restart
[ $status -eq 1 ] || fail "all damaged: status $status"
tail -n 1 err | grep -qF "there is nothing to go on from" || fail "all damaged: $(cat err)"
run "$tasks" state 8 $saving --dome-restart=auto
[ $status -eq 0 ] && same "all damaged, auto" expected out || fail "all damaged, auto: status $status"

# None.
rm -rf dir
run "$tasks" state 8 $saving --dome-restart
refused "nothing there" 1 "there is nothing to go on from"
run "$tasks" state 8 $saving --dome-restart=7
refused "no such number" 1 "ckpt-00000007.dckpt"
run "$tasks" state 8 $saving --dome-restart=auto
well "nothing there, auto"
same "nothing there, auto" expected out
run "$tasks" state 8 --dome-restart
refused "no directory given" 2 "--dome-checkpoint-dir"
# A run that began anew has none of its own yet.
fresh
echo 5 >dir/run
run "$tasks" state 8 $saving --dome-restart=auto
[ $status -eq 0 ] && grep -qF "has checkpoints up to number 4 already" err && [ "$(wc -l <err)" -eq 1 ] ||
    fail "only an earlier run's: status $status, $(cat err)"
same "only an earlier run's" expected out
[ -e dir/ckpt-00000008.dckpt ] || fail "only an earlier run's: $(ls dir)"

# Failures are counted where nobody has ended the run, and the last word of a run that comes to its end is that.
rm -rf dir
run "$tasks" state 8 $saving
[ "$(sed "s, .* , ," dir/run | tr '\n' ' ')" = "1 0 ended " ] || fail "what is known of the run: $(cat dir/run)"
run "$tasks" state 8 $saving --dome-restart
[ "$(sed "s, .* , ," dir/run | tr '\n' ' ')" = "1 0 ended " ] || fail "what is known of the run: $(cat dir/run)"
printf '1\n2 100.5 running\n' >dir/run
run "$tasks" state 10 $saving --dome-restart
[ "$(sed "s, .* , ," dir/run | tr '\n' ' ')" = "1 3 ended " ] || fail "what is known of the run: $(cat dir/run)"
[ "$(sed -n '2s/[^ ]* \([0-9]*\).*/\1/p' dir/run)" -ge 100 ] || fail "what is known of the run: $(cat dir/run)"

# Another program's.
fresh
cp "$examples/state" "$work/other"
"$RUN_MULTI" "$tasks" "$work/other" 8 $saving --dome-restart >out 2>err
status=$?
sed -i '/^dome: running as root: /d' err
[ $status -eq 1 ] && grep -qF "is of program 'state', not of 'other'" err || fail "another program: status $status, $(cat err)"

# Objects that do not fit.
mismatch() {
    fresh
    run "$tasks" state 8 "$1" $saving --dome-restart
    [ $status -eq "$2" ] || fail "$1: status $status, $(cat err)"
    grep -v "^dome: $on" err >lines # it may end before rank 0 has come to say so
    grep -qF -- "$3" lines || fail "$1: '$3' is not in: $(cat err)"
    [ "$(wc -l <lines)" -eq 1 ] || fail "$1: $(cat err)"
}
mismatch type 2 "'x' has type f64 there, but f32 in the program"
mismatch length 2 "'x' has 5000 elements there, but 5001 in the program"
mismatch width 2 "'m' has width 3 there, but 2 in the program"
mismatch distribution 2 "'m' is DOME_BLOCK there, but DOME_DYNAMIC in the program"
mismatch block 2 "'c' has blocks of 16 elements there, but of 8 in the program"
mismatch field 2 "'grains' has type grain there, but grain in the program with other fields"
mismatch kind 2 "'step' is a dscalar there, but a dvec in the program"
mismatch more 2 "has no 'more', so there are no values for it. An object that is new in the program is made after"
fresh
run "$tasks" state 10 unused $saving --dome-restart
[ $status -eq 0 ] && grep -qF "checkpoint 4 has 'still', which the program has not made again" err ||
    fail "unused: status $status, $(cat err)"

# The directory.
: >file
run "$tasks" state 8 --dome-checkpoint-dir file
refused "a file" 1 "checkpoint directory '$work/file'"
run "$tasks" state 8 --dome-checkpoint-dir /proc/nothing
refused "cannot be made" 1 "checkpoint directory '/proc/nothing'"
if [ "$(id -u)" -ne 0 ]; then
    mkdir -p closed && chmod 500 closed
    run "$tasks" state 8 --dome-checkpoint-dir closed
    refused "not writable" 1 "checkpoint directory '$work/closed' cannot be written to"
fi

# Two programs at a time.
rm -rf dir
mkdir dir
(
    flock 9
    echo "somebody, process 1 on this host" >&9
    run "$tasks" state 8 $saving
    refused "in use" 1 "checkpoint directory '$work/dir' is in use by 'somebody, process 1 on this host'"
    exit $failures
) 9>dir/lock || failures=$((failures + 1))

# Files that may not grow (ulimit -f): what cannot be written is said, and the checkpoint before stays.
for many in self "$tasks"; do
    fresh
    (
        ulimit -f 20
        run "$many" state 12 $saving --dome-restart
        [ $status -eq 0 ] || fail "ulimit -f, $many: status $status, $(cat err)"
        grep -q "^dome: checkpoint 5 was not written: .*File too large (ulimit -f.*, and the checkpoint before stays" err ||
            fail "ulimit -f, $many: $(cat err)"
        exit $failures
    ) || failures=$((failures + 1))
    "$DOME_BUILD_DIR/tools/dome" ckpt verify -q dir || fail "ulimit -f, $many: the checkpoint before"
done

# A disk that gets full, or memory, in a namespace of its own: with one task and with several.
cat >full.sh <<'END'
place=$1
shift
mount -t tmpfs -o size=600k,mode=755 none "$place" && "$@" && ls "$place"
END
mkdir -p small

# full WHAT PLACE COMMAND...
full() {
    local what=$1 place=$2
    shift 2
    env -u PVM_VMID TMPDIR="$work" unshare -rm sh full.sh "$place" "$@" --dome-checkpoint-every 1 --dome-checkpoint-keep 9 >out 2>err
    status=$?
    [ $status -eq 0 ] || fail "$what: status $status, $(cat err)"
    [ "$(head -n 1 out)" = "$(cat expected)" ] || fail "$what: $(cat out)"
    ! grep -q part out || fail "$what: $(cat out)"
    [ "$(grep -c 'was not written' err)" -eq 2 ] || fail "$what: $(cat err)"
    grep -q "^dome: checkpoint [0-9]* was not written: .*No space left on device; the program goes on, and the checkpoint before stays" \
        err || fail "$what: $(cat err)"
}

dome=$DOME_BUILD_DIR/tools/dome
if unshare -rm true 2>/dev/null && unshare -rm mount -t tmpfs none small 2>/dev/null; then
    full "full disk" small "$examples/state" 8 --dome-transport self --dome-checkpoint-dir small
    grep -qx ckpt-00000001.dckpt out || fail "full disk: $(cat out)"
    if [ "$counts" != self ]; then
        full "full disk of several tasks" small "$dome" run -n "$tasks" "$examples/state" 8 --dome-checkpoint-dir small
        grep -qx ckpt-00000001.dckpt out || fail "full disk of several tasks: $(cat out)"
        full "full memory" /dev/shm "$dome" run --restarts 1 -n "$tasks" "$examples/state" 8 --dome-checkpoint-dir memory:
        [ "$(wc -l <out)" -eq 1 ] || fail "full memory: left: $(cat out)"
    fi
else
    echo "not tried: a full disk (no namespaces)"
fi
finish
