#!/bin/bash
# What a restart compares: the source files, types, functions and globals, not the name of the program's file. Functions and constants
# that are others than they were are named; the program goes on, unless one of them is active and has other statements. The commands of
# docs/dome-cc.md for other machines, with their names of files.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

cat >own.h <<'END'
#define STEPS (2 + MORE)
#define MORE 3
static inline int in_header(int n) { return n + 1; }
END
cat >prog.c <<'END'
#include "own.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
static const int table[] = {1, 2, 3};
static int other(int n) { return n * 2; }
static int work(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) /* a loop */
        s += table[i % 3] + 'a';
    return s;
}
int main(void)
{
    uint64_t most = UINT64_MAX;
    for (int i = 0; i < STEPS; i++)
        printf("%d %d %" PRIu64 "\n", work(i), other(i) + in_header(i), most);
    return 0;
}
END
"$cc" --polls=every -O2 prog.c -o prog || exit 1
./prog --dome-checkpoint-dir ck --dome-checkpoint-every 1 --dome-checkpoint-keep 100 >whole || fail "prog"

# NAME PROGRAM [SAID]: from a checkpoint in the middle, it ends as the whole run did, if the output is to be the same; standard error
# has the line, and else only where it goes on
continues() {
    rm -rf copy && cp -r ck copy
    "./$2" --dome-checkpoint-dir copy --dome-restart=6 --dome-checkpoint-every 1000000 >out 2>err || fail "$1: status $?: $(cat err)"
    sed -i '/^dome: going on from checkpoint 6/d' err
    [ "$(cat err)" = "${3:-}" ] || fail "$1: says $(cat err)"
    [ -n "${3:-}" ] || tail -c "$(stat -c %s out)" whole | cmp -s - out || fail "$1: other output: $(cat out)"
}

continues "the same" prog
ln -s prog "a link with another name"
continues "a link" "a link with another name"
mkdir elsewhere && cp prog elsewhere/prog.copy
continues "a copy" elsewhere/prog.copy
"$cc" --polls=every -c prog.c -o prog.o && "$cc" --polls=every prog.o -o by-object || fail "by an object"
continues "by an object" by-object

# EDIT FILE NAMES: of another text, which is named
changed() {
    mkdir -p other && cp prog.c own.h other/
    sed -i "$1" "other/$2"
    cmp -s "$2" "other/$2" && fail "$1: changes nothing"
    (cd other && "$cc" --polls=every -O1 prog.c -o ../changed) || fail "$1: dome-cc"
    continues "$1" changed "${3:+dome: since the checkpoint, the text has changed of $3; the program goes on with what it has now}"
}
changed 's/MORE 3/MORE 3 \/\/ more/' own.h
changed 's/MORE 3/MORE 4/' own.h main
changed 's/{1, 2, 3}/{1, 2, 4}/' prog.c prog.c:table
changed 's/n \* 2/n * 3/' prog.c prog.c:other
changed "s/'a'/'b'/" prog.c prog.c:work
changed 's/n + 1/n - 1/' own.h prog.c:in_header
changed 's/a loop/another comment/; s/    int s = 0;/int  s=0 ;/' prog.c
changed 's/static int other/int unused(void) { return 1; }\nstatic int other/' prog.c

# Statements of a function that is active, and what it has
mkdir -p other && cp own.h other/
inside=7
until [ $inside = 21 ] || "$DOME_BUILD_DIR/tools/dome" ckpt show ck:$inside | grep -q '^ *#1 prog.c:work'; do
    inside=$((inside + 1))
done
for edit in 's/s += table/s += s + table/' 's/int s = 0;/int s = 0, more = n;/; s/return s;/return s + more;/'; do
    sed "$edit" prog.c >other/prog.c
    (cd other && "$cc" --polls=every prog.c -o ../changed) || fail "$edit: dome-cc"
    rm -rf copy && cp -r ck copy
    ./changed --dome-checkpoint-dir copy --dome-restart=$inside >out 2>err && fail "$edit: goes on"
    grep -q "function 'prog.c:work' is not the one in the image: its source has changed\|function 'prog.c:work' has other variables" err || fail "$edit: $(cat err)"
done

# Another program in the same directory has its own checkpoints.
sed 's/STEPS/2/' prog.c >another.c
"$cc" --polls=every another.c -o prog || fail "another program"
./prog --dome-checkpoint-dir ck --dome-restart >out 2>err && fail "another program: goes on"
grep -q "is of program 'prog.c', not of 'another.c'" err || fail "another program: $(cat err)"

# Other machines
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x
if [ -e "$DOME_LAB_S390X/dome.pc" ] && command -v qemu-s390x-static >/dev/null; then
    "$cc" -O2 --polls=every --cc=s390x-linux-gnu-gcc --dome="$DOME_LAB_S390X/dome.pc" prog.c -o prog.s390x || fail "s390x"
    printf '#!/bin/sh\nexec qemu-s390x-static -L "%s/root" ./prog.s390x "$@"\n' "$DOME_LAB_S390X" >there && chmod +x there
    continues "on s390x" there
fi
[ $failures = 0 ] && echo "what a restart compares"
exit $((failures > 0))
