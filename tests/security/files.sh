#!/bin/bash
# Directories of checkpoints that somebody else has prepared, looks into, or has left something odd in.
. "$(dirname "$0")/../support/programs.bash"
examples=$DOME_BUILD_DIR/tests/checkpoint
dome=$DOME_BUILD_DIR/tools/dome
saving="--dome-checkpoint-dir dir --dome-checkpoint-every 2"
more=$([ "$counts" = self ] && echo self || echo 3)
chmod 755 "$work"

run self state 8 $saving
well "8 steps"
cp out expected
mv dir good
fresh() {
    rm -rf dir
    cp -r good dir
}

# ---- what is no file: one line, and nothing waits ----

# odd FILE KIND
odd() {
    fresh
    rm -f "dir/$1"
    case $2 in
    FIFO) mkfifo "dir/$1" ;;
    directory) mkdir "dir/$1" ;;
    device) ln -s /dev/zero "dir/$1" ;;
    link) ln -s "$work/precious" "dir/$1" ;;
    esac
}

for tasks in self $([ "$more" = self ] || echo "$more"); do
    for kind in FIFO directory device link; do
        echo precious >precious
        for file in run lock; do
            odd $file $kind
            run "$tasks" state 8 $saving --dome-restart=auto
            refused "$tasks: $file is a $kind" 1 "its file '$file'"
        done
        [ "$(cat precious)" = precious ] || fail "$tasks: a file that a link leads to: $(cat precious)"
    done
done
echo precious >precious
for kind in FIFO directory device; do
    odd ckpt-00000004.dckpt $kind
    run self state 8 $saving --dome-restart
    [ $status -eq 0 ] && same "a checkpoint that is a $kind" expected out && grep -q "going on from checkpoint 3" err ||
        fail "a checkpoint that is a $kind: status $status, $(cat err)"
    odd ckpt-00000004.dckpt $kind
    "$dome" ckpt verify dir >out 2>err && fail "dome ckpt verify: a $kind is good"
    "$dome" ckpt ls dir >out 2>err && fail "dome ckpt ls: a $kind is good"
done
if [ "$more" != self ]; then
    odd run FIFO
    timeout 60 "$RUN_MULTI" - "$dome" run --restarts 1 -n "$more" "$examples/state" 8 --dome-checkpoint-dir dir >out 2>err
    status=$?
    sed -i '/^dome: running as root: /d' err
    refused "run is a FIFO, with restarts" 1 "its file 'run'"
fi
mkfifo trace
"$dome" view trace -o page.html 2>err && fail "a trace that is a FIFO"
[ "$(wc -l <err)" -eq 1 ] || fail "a trace that is a FIFO: $(cat err)"

# ---- links where files are going to be: what they lead to stays as it is ----

for name in run.part ckpt-00000001.dckpt.part probe-x collected; do
    rm -rf dir elsewhere
    mkdir dir elsewhere
    echo precious >precious
    echo precious >elsewhere/precious
    [ "$name" = collected ] && ln -s ../elsewhere dir/collected || ln -s ../precious "dir/$name"
    run "$more" state 8 $saving
    well "$name is a link"
    [ "$(cat precious elsewhere/precious | tr '\n' ' ')" = "precious precious " ] || fail "$name is a link: $(cat precious elsewhere/*)"
done
ln -sf "$work/precious" page.html.link
"$examples/state" 2 --dome-transport self --dome-trace t.tr >out 2>err || fail "a trace: $(cat err)"
"$dome" view t.tr -o /dev/null || fail "a page into /dev/null"
[ -c /dev/null ] || fail "/dev/null is a file now"

# ---- what others can read, and hold ----

# Programs may have children that outlive them.
umask 022
run "$more" state 8 $saving
[ "$(stat -c %a dir/lock)" = 600 ] || fail "the lock has mode $(stat -c %a dir/lock)"
rm -rf dir && mkdir -m 700 dir
run "$more" state 8 $saving
[ "$(stat -c %a dir/ckpt-00000004.dckpt)" = 600 ] || fail "mode $(stat -c %a dir/ckpt-00000004.dckpt) in a closed directory"
rm -rf dir && mkdir -m 755 dir
run "$more" state 8 $saving
[ "$(stat -c %a dir/ckpt-00000004.dckpt)" = 644 ] || fail "mode $(stat -c %a dir/ckpt-00000004.dckpt) in an open directory"

if [ "$more" != self ]; then
    # In memory: looked at while the program runs.
    env -u PVM_VMID TMPDIR="$work" PVM_TMP="$work" "$dome" run --restarts 1 -n "$more" "$examples/state" 100000000 none 1 \
        --dome-checkpoint-dir memory: --dome-checkpoint-every 0.2s >out 2>err &
    pid=$!
    trap 'kill -TERM $pid 2>/dev/null; wait; rm -rf "$work"' EXIT
    parent() {
        awk '$1 == "PPid:" { print $2 }' "/proc/$1/status" 2>/dev/null
    }
    mine() { # the directory of the program whose hub is a child of $pid
        local holder
        for memory in /dev/shm/dome-"$(id -u)"-*; do
            holder=$(sed -n 's/.*process \([0-9]*\) .*/\1/p' "$memory/lock" 2>/dev/null)
            ls "$memory" 2>/dev/null | grep -q "^ckpt-.*dckpt$" && [ "$(parent "$(parent "${holder:-0}")")" = $pid ] && return
        done
        return 1
    }
    found=no
    for _ in $(seq 600); do
        mine && found=yes && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    if [ $found = yes ]; then # its files come and go
        modes=$(stat -c '%a' "$memory" "$memory"/* 2>/dev/null | sort -u | tr '\n' ' ')
        [ "$modes" = "600 700 " ] || fail "checkpoints in memory have modes $modes"
        if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
            setpriv --reuid=65534 --regid=65534 --clear-groups cat "$memory"/ckpt* >/dev/null 2>&1 && fail "others read them"
            setpriv --reuid=65534 --regid=65534 --clear-groups ls "$memory" >/dev/null 2>&1 && fail "others list them"
        fi
    else
        fail "no checkpoints in memory: $(cat err)"
    fi
    kill -TERM $pid
    wait $pid
    trap 'rm -rf "$work"' EXIT
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && command -v flock >/dev/null; then
    setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$work/good/run" || fail "not tried: others cannot reach $work"
    setpriv --reuid=65534 --regid=65534 --clear-groups flock -n good/lock true 2>/dev/null && fail "others can hold the lock"
    setpriv --reuid=65534 --regid=65534 --clear-groups flock -sn good/lock true 2>/dev/null && fail "others can share the lock"
else
    echo "not tried: another user (needs root, setpriv and flock)"
fi
finish
