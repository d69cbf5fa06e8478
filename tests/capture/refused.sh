#!/bin/bash
# What no checkpoint can hold is named, and the program goes on; what does not fit at a restart is named, and the program ends.
. "$(dirname "$0")/../support/captures.bash"
writer=$programs/writer

prepare() {
    rm -rf files dir
    mkdir files
    printf 'an older line\n' >files/append
    seq 1 100 >files/source
}

# start WHAT: a run with something foreign.
start() {
    prepare
    run "$writer" files 30 "$1" --dome-checkpoint-dir dir --dome-checkpoint-every 10
    [ $status -eq 0 ] || fail "$1: status $status: $(cat err)"
}

for what in thread:"has thread " socket:"(socket:[" pipe:"(pipe:[" descriptor:"(/etc/passwd)" refused:"dome_capture_on) refused it" \
    dangling:"global 'writer.c:nowhere'"; do
    start "${what%%:*}"
    refused "$what" 0 "${what#*:}"
    grep -q '^dome: no checkpoint was written: .*; the program goes on$' err || fail "$what: $(cat err)"
    ! ls dir/ckpt-* >/dev/null 2>&1 || fail "$what: there is a checkpoint"
done

# A child that calls exit ends, and ends nothing else.
prepare
run timeout 60 "$writer" files 30 child --dome-checkpoint-dir dir --dome-checkpoint-every 10
well "a child"
[ "$(numbers dir | tail -n 1)" = 3 ] || fail "a child: $(ls dir)"

# Files that have changed.
prepare
run "$writer" files 30 --dome-checkpoint-dir dir --dome-checkpoint-every 10
well "without anything foreign"
again() {
    rm -rf dir2 && cp -r dir dir2
    run "$writer" files 30 --dome-checkpoint-dir dir2 --dome-restart=2
    sed -i '/^dome: going on from checkpoint 2/d' err
}
cp files/log log
rm files/log
again
well "a missing file of few bytes"
same "a missing file of few bytes" log files/log
cp files/source source
truncate -s 3 files/source
again
refused "a shorter file that is read" 1 "'files/source' has 3 bytes"
cp source files/source
again
well "all files are there"
same "all files are there" log files/log

# A file of more bytes than a checkpoint has copies of.
prepare
head -c 100000 /dev/zero >files/append
run "$writer" files 30 --dome-checkpoint-dir dir --dome-checkpoint-every 10
well "a large file"
cp files/append append
truncate -s 3 files/append
again
refused "a shorter file" 1 "file 'files/append' has 3 bytes, and had 100017 at the checkpoint"
rm files/append
again
refused "a missing file" 1 "file 'files/append'"
cp append files/append
again
well "a large file that is there"
same "a large file that is there" append files/append

# Damage, at any place of the file: it is named, and nothing of the program's files is changed.
before=$(cat files/log files/append | cksum)
size=$(stat -c %s dir/ckpt-00000002.dckpt)
for k in 1 2 3 4 5 6 7 8 9 10; do
    rm -rf dir2 && cp -r dir dir2
    at=$((size * k / 11))
    byte=$(od -An -tu1 -j $at -N 1 dir2/ckpt-00000002.dckpt)
    printf "\\$(printf %03o $((byte ^ 16)))" | dd of=dir2/ckpt-00000002.dckpt bs=1 seek=$at conv=notrunc 2>/dev/null
    run "$writer" files 30 --dome-checkpoint-dir dir2 --dome-restart=2
    refused "damage at byte $at" 1 "dir2/ckpt-00000002.dckpt"
    grep -q "object 'image', block [0-9]*: is damaged\|is damaged in its header" err || fail "damage at byte $at: $(cat err)"
    [ "$(cat files/log files/append | cksum)" = "$before" ] || fail "damage at byte $at: files were changed"
done

# Another program of the same name.
mkdir other
cp "$programs/deep" other/writer
rm -rf dir2 && cp -r dir dir2
run other/writer 5 --dome-checkpoint-dir dir2 --dome-restart=2
sed -i '/^dome: going on from checkpoint 2/d' err
refused "another program" 1 "is of program 'writer.c', not of 'deep.c'"

# More tasks than one: the line is about the option that was given.
for option in "--dome-tasks 4" --dome-tasks=4 "--dome-transport pvm"; do
    read -ra words <<<"$option"
    run "$writer" files 30 "${words[@]}"
    refused "$option" 1 "is one task: leave out ${words[0]%=*}"
done
finish
