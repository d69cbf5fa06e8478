#!/bin/bash
# A program takes its state, and a program of dome-cc the names of the files that it writes, from a checkpoint. So it uses none of a
# directory where another user may have put it, and no file of another user, unless it is told to trust them. Tools read everything.
. "$(dirname "$0")/../support/programs.bash"
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || {
    echo "skipped: needs root and setpriv, to be two other users"
    exit 77
}
victim=61001 attacker=61002
trust=--dome-checkpoint-trust
chmod 755 "$work"
mkdir bin tmp home && chmod 1777 tmp && chown $victim home
cp "$DOME_BUILD_DIR/tests/checkpoint/state" bin/ # where other users may pass
cp -P "$DOME_BUILD_DIR"/libdome.so* bin/

as() { # USER COMMAND...: leaves $status, out and err
    setpriv --reuid="$1" --regid="$1" --clear-groups env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" PVM_TMP="$work/tmp" \
        LD_LIBRARY_PATH="$work/bin" "${@:2}" >out 2>err
    status=$?
}

# go_on DIRECTORY [OPTIONS...]: the victim's program
go_on() {
    as $victim "$work/bin/state" 8 --dome-transport self --dome-checkpoint-dir "$@" --dome-checkpoint-every 2
}

# trusted WHAT: it has gone on from checkpoint 4
trusted() {
    [ $status -eq 0 ] && grep -q "going on from checkpoint 4," err || fail "$1: status $status: $(cat err)"
}

# not_used WHAT TEXT: one line says why, and there is no output
not_used() {
    refused "$1" 1 "$2"
    grep -q -- "$trust" err || fail "$1: the line does not say what to do: $(cat err)"
    [ ! -s out ] || fail "$1: it has printed $(cat out)"
}

as $victim mkdir -m 700 "$work/home/saved"
go_on "$work/home/saved"
well "8 steps"
cp out expected
cp -a home/saved good
# fresh DIRECTORY: all is the victim's
fresh() {
    rm -rf "$1"
    mkdir -p "$(dirname "$1")"
    cp -a good "$1"
    rm -f "$1/lock"
}

# ---- the directory ----

fresh home/saved
go_on "$work/home/saved" --dome-restart
trusted "its own"
fresh dir && chown -R $attacker dir && chmod -R a+rwX dir
go_on "$work/dir" --dome-restart
not_used "of another user" "checkpoint directory '$work/dir' is not used, since another user may have put something there: $work/dir belongs to user $attacker;"
go_on "$work/dir" --dome-restart=auto
not_used "of another user, auto" "$work/dir belongs to user $attacker;"
go_on "$work/dir"
not_used "of another user, to write there" "$work/dir belongs to user $attacker;"
go_on "$work/dir" --dome-restart $trust
trusted "of another user, trusted"
[ "$(stat -c %a good)" = 700 ] || fail "mode $(stat -c %a good)"

fresh dir && chmod 777 dir
go_on "$work/dir" --dome-restart
not_used "open to all" "$work/dir, of user $victim: others may write there (mode 0777);"
chmod 1777 dir
go_on "$work/dir" --dome-restart
not_used "open to all, sticky" "others may write there (mode 1777);"
fresh dir && chown root dir && chmod 755 dir && chmod 644 dir/*
go_on "$work/dir" --dome-restart=4
grep -q "belongs to\|may write" err && fail "root's: $(cat err)" # where it could not write

# Each user has a group of his own, and a umask of 002; others are in nogroup.
fresh dir && chmod 775 dir && chmod 664 dir/*
go_on "$work/dir" --dome-restart
trusted "a group of its own"
fresh dir && chgrp 65534 dir && chmod 775 dir
go_on "$work/dir" --dome-restart
if getent passwd nobody | cut -d: -f4 | grep -qx 65534; then
    not_used "a group with others" "others may write there (mode 0775);"
fi
if command -v setfacl >/dev/null && fresh dir && setfacl -m "u:$attacker:rwx" dir 2>/dev/null; then
    go_on "$work/dir" --dome-restart
    not_used "a list of users" "others may write there"
fi

# ---- on the way there ----

fresh tmp/dir
go_on "$work/tmp/dir" --dome-restart
trusted "below a sticky directory"
fresh open/dir && chmod 777 open
go_on "$work/open/dir" --dome-restart
not_used "below one that others may write to" "$work/open, of user root (0): others may write there (mode 0777);"
fresh theirs/dir && chown $attacker theirs && chmod 755 theirs
go_on "$work/theirs/dir" --dome-restart
not_used "below another user's" "$work/theirs belongs to user $attacker;"
go_on "$work/theirs/new/deeper"
not_used "made below another user's" "$work/theirs belongs to user $attacker;"
[ ! -e theirs/new ] || fail "it has made a directory there"
fresh dir && chown -R $attacker dir && chmod -R a+rwX dir
ln -sfn "$work/dir" link
go_on "$work/link" --dome-restart
not_used "a link to another user's" "$work/dir belongs to user $attacker;"
fresh dir
go_on "$work/link" --dome-restart
trusted "a link to its own"
chown -h $attacker link
go_on "$work/link" --dome-restart
not_used "another user's link" "$work/link belongs to user $attacker;"

# ---- files ----

theirs="checkpoint '$work/dir/ckpt-00000004.dckpt' is not read: it belongs to user $attacker; $trust would read it"
fresh dir && chown $attacker dir/ckpt-00000004.dckpt && chmod 644 dir/ckpt-00000004.dckpt
go_on "$work/dir" --dome-restart
[ $status -eq 0 ] && same "a file of another user" expected out && grep -q "going on from checkpoint 3," err &&
    grep -qF "$theirs: it is not used" err || fail "a file of another user: status $status: $(cat err)"
fresh dir && chown $attacker dir/ckpt-00000004.dckpt && chmod 644 dir/ckpt-00000004.dckpt
go_on "$work/dir" --dome-restart=4
not_used "a file of another user, by its number" "$theirs"
go_on "$work/dir" --dome-restart=4 $trust
trusted "a file of another user, trusted"
fresh dir && chmod 666 dir/*.dckpt
go_on "$work/dir" --dome-restart
[ $status -eq 1 ] && [ ! -s out ] || fail "files that others may write to: status $status"
grep -qF "ckpt-00000004.dckpt' is not read: others may write to it (mode 0666)" err || fail "files that others may write to: $(cat err)"

# ---- tools read all ----

fresh dir && chown -R $attacker dir && chmod -R a+rX dir
for command in "ls dir" "verify dir" "show dir:4"; do
    # shellcheck disable=SC2086 # words
    as $victim "$DOME_BUILD_DIR/tools/dome" ckpt $command
    [ $status -eq 0 ] || [ $status -eq 126 ] || fail "dome ckpt $command: status $status: $(cat err)"
    "$DOME_BUILD_DIR/tools/dome" ckpt $command >out 2>err || fail "dome ckpt $command, as root: $(cat err)"
done

# ---- each task looks for itself ----

if [ "$counts" != self ]; then
    fresh dir && chown -R $attacker dir && chmod -R a+rwX dir
    "$RUN_MULTI" 3 bin/state 8 --dome-checkpoint-dir dir --dome-restart >out 2>err
    status=$?
    sed -i '/^dome: running as root: /d' err
    not_used "of three tasks of root" "$work/dir belongs to user $attacker;"
fi

# ---- an image names files, which are made and written over as the user who goes on from it ----

cc=$DOME_BUILD_DIR/tools/dome-cc
if [ -x "$cc" ]; then
    cat >writer.c <<'EOF'
#include <stdio.h>
int main(int argc, char **argv)
{
    FILE *out = fopen(argv[argc - 1], "w");
    for (int line = 0; line < 100000; line++)
        fprintf(out, "line %d\n", line);
    return fclose(out);
}
EOF
    "$cc" -O2 writer.c -o bin/writer 2>said || fail "writer: $(cat said)"
    rm -rf dir
    as $victim "$work/bin/writer" "$work/home/precious" --dome-checkpoint-dir "$work/home/dir" --dome-checkpoint-every 1000
    ls home/dir/*.dckpt >/dev/null || fail "writer: no checkpoint: $(cat err)"
    mv home/dir dir && rm -f dir/lock && chown -R $attacker dir && chmod -R a+rwX dir
    as $victim sh -c "seq 300000 >$work/home/precious"
    as $victim "$work/bin/writer" "$work/home/results" --dome-checkpoint-dir "$work/dir" --dome-restart
    not_used "an image of another user" "$work/dir belongs to user $attacker;"
    seq 300000 | cmp -s - home/precious || fail "an image of another user: it has written into a file that the image names"
fi
finish
