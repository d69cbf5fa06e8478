#!/bin/bash
# kills.sh [KILLS [SEED]]: kill -9 at random moments, so many times, of programs that write files, one written by hand and one by dome-cc,
# and restarts; six times in a run. Their files are those of a run that was not killed, byte for byte.
. "$(dirname "$0")/../support/captures.bash"
most=${1:-24}
RANDOM=${2:-1}
steps=6000

prepare() {
    mkdir -p "$1"
    printf 'an older line\n' >"$1/append"
    seq 1 2000 >"$1/source"
}

# A run with its restarts; adds to $killed.
run_killed() { # WRITER
    local kills=0 status file
    rm -rf files dir
    prepare files
    while :; do
        # Without a checkpoint the program begins again, and finds what it has appended.
        ls dir/ckpt-*.dckpt >ls 2>&1 || { rm -rf files && prepare files; }
        "$1" files $steps --dome-checkpoint-dir dir --dome-checkpoint-every 0.03s --dome-restart=auto >out 2>err </dev/null &
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
    killed=$((killed + kills))
    [ $status -eq 0 ] || fail "$1, after $kills kills: status $status: $(cat err)"
    for file in plain/*; do
        same "$1, after $kills kills" "$file" "files/${file#*/}"
    done
}

writers=$programs/writer
if [ -x "$DOME_BUILD_DIR/tools/dome-cc" ]; then
    mkdir translated
    "$DOME_BUILD_DIR/tools/dome-cc" -O2 "$DOME_SOURCE_DIR/tests/dome-cc/programs/writer.c" -o translated/writer || fail "dome-cc"
    writers="$writers $work/translated/writer"
fi
for writer in $writers; do
    rm -rf plain
    prepare plain
    run "$writer" plain $steps
    well "undisturbed"
    killed=0
    while [ $killed -lt "$most" ] && [ $failures -eq 0 ]; do
        run_killed "$writer"
    done
    echo "$(basename "$(dirname "$writer")")/writer: $killed times killed"
done
finish
