#!/bin/bash
# kills.sh [TIMES]: kill -9 at random moments of a program that writes files, and restarts. Its files are those of a run that was not
# killed, byte for byte.
. "$(dirname "$0")/common"
times=${1:-12}
RANDOM=${2:-1}
steps=6000

prepare() {
    mkdir -p "$1"
    printf 'an older line\n' >"$1/append"
    seq 1 2000 >"$1/source"
}

prepare plain
run "$programs/writer" plain $steps
well "undisturbed"

for try in $(seq 1 "$times"); do
    rm -rf files dir
    prepare files
    kills=0
    while :; do
        # Without a checkpoint the program begins again, and finds what it has appended.
        ls dir/ckpt-*.dckpt >ls 2>&1 || { rm -rf files && prepare files; }
        "$programs/writer" files $steps --dome-checkpoint-dir dir --dome-checkpoint-every 0.03s --dome-restart=auto >out 2>err </dev/null &
        pid=$!
        sleep "0.$(printf %03d $((RANDOM % 500 + 20)))"
        if [ $kills -lt 6 ] && kill -KILL "$pid" 2>/dev/null; then
            wait "$pid" 2>/dev/null
            kills=$((kills + 1))
            continue
        fi
        wait "$pid"
        status=$?
        break
    done
    [ $status -eq 0 ] || fail "try $try, after $kills kills: status $status: $(cat err)"
    for file in log append short; do
        same "try $try, after $kills kills" "plain/$file" "files/$file"
    done
    [ $failures -eq 0 ] || break
done
finish
