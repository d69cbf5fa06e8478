#!/bin/bash
# --dome-restart-load lazy: a region gets its values from a checkpoint while the program goes on. All values are right, on other
# numbers of tasks, from deltas, with each tracker, and between members; files may be removed meanwhile; a task may be killed;
# damage ends the program, and the next restart takes an older checkpoint.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
saving="--dome-checkpoint-dir dir --dome-checkpoint-every 1"
lazily="--dome-restart --dome-restart-load lazy"
most=3
[ "$counts" != self ] || most=self

# The last run has gone on from a checkpoint and ended well: its one line says so.
went_on() { # WHAT
    [ $status -eq 0 ] || fail "$1: status $status: $(cat err)"
    grep -v "going on from checkpoint" err >others && fail "$1: on standard error: $(cat err)"
    grep -qx "all of 3000000 are right" out || fail "$1: $(cat out)"
}

# flip FILE OFFSET: changes a byte.
flip() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    printf "$(printf '\\%03o' $((byte ^ 1)))" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

afresh() {
    rm -rf dir
    cp -r first dir
}

run 2 loading 3 $saving
[ "$counts" != self ] || run self loading 3 $saving
well "without a restart"
mv dir first

# The next checkpoint follows at once, and is the same as from a program that has read everything before.
afresh
run "$most" loading 5 $saving --dome-restart
went_on whole
mv dir whole
for how in self 1 2 "$most" "2 --dome-road pvm" "3 --dome-road pvm" "3 --dome-balance random"; do
    [ "$counts" != self ] || [ "$how" = self ] || continue
    afresh
    run ${how%% *} loading 5 $saving $lazily ${how#"${how%% *}"}
    went_on "$how"
    "$DOME_BUILD_DIR/tools/dome" ckpt diff dir/ckpt-00000005.dckpt whole/ckpt-00000005.dckpt >shown 2>&1 || fail "$how: $(cat shown)"
done

# It has read little by the time it goes on: what it does then does not depend on files.
for variant in removed read freed; do
    for tasks in self "$most"; do
        afresh
        run "$tasks" loading 3 $variant $saving $lazily
        went_on "$variant, $tasks"
    done
    [ "$counts" = self ] || {
        afresh
        run 3 loading 3 $variant $saving $lazily --dome-road pvm
        went_on "$variant, members"
    }
done

# Without a way to keep pages from being read, everything is read before.
for tracker in fault protect compare; do
    afresh
    DOME_TRACKER=$tracker run "$most" loading 4 $saving $lazily
    went_on "$tracker"
done

# Damage in the newest one, in a value that is read at once and in the region: the program has gone on, and ends with a line; the
# next start takes the one before. With restarts left it goes back by itself.
rm -rf dir
run self loading 3 $saving --dome-checkpoint-deltas off
well "whole blocks"
mv dir blocks
newest=dir/ckpt-00000003.dckpt
for back in 1 100; do
    for how in self "$most" "3 --dome-road pvm" "2 --dome-restarts 2" "2 --dome-restarts 2 --dome-on-loss restart"; do
        [ "$counts" != self ] || [ "$how" = self ] || continue
        what="damage $back from the end, $how"
        rm -rf dir
        cp -r blocks dir
        flip $newest $(($(stat -c %s $newest) - back))
        run ${how%% *} loading 5 $saving --dome-restart=auto --dome-restart-load lazy ${how#"${how%% *}"}
        grep -q "$newest.*$([ $back = 1 ] && echo done || echo image).*damaged" err || fail "$what: $(cat err)"
        if [[ $how != *restarts* ]]; then
            [ $status -ne 0 ] || fail "$what: it ends well"
            [ -e dir/doubted ] || fail "$what: nothing is doubted"
            run ${how%% *} loading 5 $saving $lazily ${how#"${how%% *}"}
            grep -q "going on from checkpoint 2" err || fail "after $what: $(cat err)"
        fi
        [ $status -eq 0 ] || fail "after $what: status $status: $(cat err)"
        [[ $how != *"on-loss restart"* ]] ||
            grep -q "; started again from the newest checkpoint that is not damaged, restart 1 of 2$" err || fail "$what: $(cat err)"
        grep -qx "all of 3000000 are right" out || fail "after $what: $(cat out)"
        grep -q "$newest.*damaged.*it is not used" err || fail "after $what: $(cat err)"
        [ ! -e dir/doubted ] || fail "after $what: a new checkpoint does not end the doubt"
    done
done

# A task is killed while values are read; the program is started again, or heals.
if [ "$counts" != self ]; then
    for road in best pvm; do
        afresh
        run 3 loading 5 killed $saving --dome-restart=auto --dome-restart-load lazy --dome-restarts 2 --dome-road $road
        [ $status -eq 0 ] || fail "killed, $road: status $status: $(cat err)"
        grep -qx "all of 3000000 are right" out || fail "killed, $road: $(cat out)"
    done
fi

# A restart before the program has written a checkpoint of its own begins as its options say. Each start is killed at one place.
if [ "$counts" != self ]; then
    for from in 2 3; do
        afresh
        [ $from = 2 ] && options="--dome-restart=2" || options=$lazily
        run 3 loading 5 killed $saving $options --dome-restarts 9 --dome-on-loss restart
        [ $status -eq 1 ] || fail "killed, from $from: status $status: $(cat err)"
        [ "$(grep -c "going on from checkpoint $from, " err)" -eq 3 ] || fail "killed, from $from: $(cat err)"
        [ "$(grep -c "; started again from checkpoint $from (loop boundary $from), restart . of 9$" err)" -eq 2 ] ||
            fail "killed, from $from: $(cat err)"
    done
fi

# Checkpoints of deltas.
rm -rf dir
run self deltas 12 $saving --dome-checkpoint-keep 100
well deltas
mv dir chains
run self deltas 20
cp out expected
for tasks in self "$most"; do
    for from in 3 7 12; do
        rm -rf dir
        cp -r chains dir
        run "$tasks" deltas 20 $saving --dome-restart=$from --dome-restart-load lazy
        [ $status -eq 0 ] || fail "deltas from $from, $tasks: status $status, $(cat err)"
        same "deltas from $from, $tasks" expected out
    done
done
finish
