#!/bin/bash
# Objects and programs of several files: which functions poll is found over all files; names of statics of different files do not
# meet; objects of other compilers are linked as they are; archives; messages are the compiler's.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

mkdir include
cat >include/parts.h <<'END'
typedef struct part { struct part *next; int size; long (*measure)(const struct part *); } part;
part *part_new(part *next, int size, int kind);
long part_total(const part *);
int plain(int);
extern int calls;
static inline int twice(int n) { int s = 0; while (n-- > 0) s += 2; return s; }
END
cat >parts.c <<'END'
#include "parts.h"
#include <stdlib.h>
int calls;
static long step = 1;
static long small(const part *p) { calls++; return p->size + step; }
static long large(const part *p) { long s = 0; for (int i = 0; i < p->size; i++) s += twice(i) + step; calls++; return s; }
part *part_new(part *next, int size, int kind)
{
    part *p = malloc(sizeof(part));
    *p = (part){next, size, kind ? large : small};
    return p;
}
long part_total(const part *p)
{
    long total = 0;
    for (; p; p = p->next)
        total += p->measure(p) * step++;
    return total;
}
END
cat >main.c <<'END'
#include "parts.h"
#include <stdio.h>
static const char *step = "step";
static int leaf(int n) { return n * LEAF; }
int main(void)
{
    part *list = 0;
    for (int i = 0; i < 9; i++)
        list = part_new(list, plain(i) + leaf(i), i % 2);
    printf("%ld %d %s %d\n", part_total(list), calls, step, twice(4));
    return 3;
}
END
echo 'int plain(int n) { int s = 1; while (n-- > 0) s += s % 5; return s; }' >plain.c
cc -w -Iinclude -DLEAF=2 main.c parts.c plain.c -o whole || exit 1
expected=$(./whole)
cc -c plain.c -o plain.o || exit 1

# in one step, and by objects in another folder, with the flags in both forms
"$cc" -O2 -Iinclude -D LEAF=2 main.c parts.c plain.o -o one || fail "one step"
mkdir objects
"$cc" -O2 -I include -DLEAF=2 -c main.c -o objects/main.o && "$cc" -O2 -Iinclude -c parts.c -o objects/parts.o || fail "objects"
"$cc" objects/main.o objects/parts.o plain.o -o two || fail "link"
for program in one two; do
    for arguments in "" "--dome-checkpoint-dir saved.$program --dome-checkpoint-every 1"; do
        output=$(./$program $arguments 2>err)
        status=$?
        [ $status = 3 ] && [ "$output" = "$expected" ] || fail "$program $arguments: $status: $output, not $expected: $(head -2 err)"
    done
    [ "$(ls saved.$program | grep -c ckpt-)" -ge 2 ] || fail "$program was not captured"
done

# What a checkpoint holds, by the names and lines of the source.
"$DOME_BUILD_DIR/tools/dome" ckpt show saved.one >shown || fail "dome ckpt show"
for text in '#0 main at main.c:10' '#1 part_total at parts.c:16' '    p = NULL' '    total = 6700' \
    'part: 9 blocks, 9 elements' 'main.c:step = global main.c:literal 1' 'parts.c:step = 10'; do
    grep -q -- "$text" shown || fail "show: no '$text': $(cat shown)"
done

# Through ar, another name, -l; the text of a member of an archive is translated too.
mkdir archive
ar rcs archive/libparts.a objects/parts.o
cp objects/main.o first.o
for words in archive/libparts.a "-Larchive -lparts" "-L archive -l parts" "-Larchive -l:libparts.a"; do
    "$cc" first.o $words plain.o -o archive/two 2>said || fail "archive: $words: $(cat said)"
    rm -rf saved
    output=$(./archive/two --dome-checkpoint-dir saved --dome-checkpoint-every 1)
    [ "$output" = "$expected" ] || fail "archive: $words: $output"
    cmp -s saved/ckpt-00000001.dckpt saved.two/ckpt-00000001.dckpt || fail "archive: $words: other images"
done
"$cc" first.o archive/libparts.a plain.o -o two.again && nm two.again | grep -q dome__fn_part_total || fail "a member of an archive is not translated"

# The text in the object is not in the program, and one of something else is refused.
readelf -S first.o | grep -q '\.dome ' && ! readelf -S archive/two | grep -q '\.dome ' || fail "the section .dome"
echo '__asm__(".pushsection .dome,\"e\"\n.ascii \"nothing\"\n.popsection");' >strange.c
cc -c strange.c -o strange.o
"$cc" first.o objects/parts.o plain.o strange.o -o none 2>said && fail "a strange object is taken"
grep -q 'strange.o is of another dome-cc: compile it again' said || fail "a strange object: $(cat said)"

# A header of the system that has variables is as a file of the program; another one stays as it is.
mkdir system
cat >system/counter.h <<'END'
static long counter = 5;
static inline long count(int n)
{
    static int calls;
    for (int i = 0; i < n; i++)
        counter += calls + i;
    return counter * 3 + ++calls;
}
END
echo 'static inline int once(int n) { int s = 0; while (n-- > 0) s += n; return s; }' >system/plain.h
cat >headers.c <<'END'
#include <counter.h>
#include <plain.h>
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 4; i++)
        printf("%ld %d\n", count(i), once(i));
    return 0;
}
END
cc -w -isystem system headers.c -o plain && ./plain >plain.out
"$cc" --polls=every -isystem system headers.c -o headers 2>said || fail "a header with variables: $(cat said)"
./headers --dome-checkpoint-dir headers.saved --dome-checkpoint-every 1 --dome-checkpoint-keep 100 >out 2>&1
cmp -s plain.out out || fail "a header with variables: $(cat out)"
polls=$(ls headers.saved | grep -c ckpt-)
[ "$polls" = 15 ] || fail "a header with variables: $polls polls" # 5 of main, 10 of count
for k in 3 8 12; do
    ./headers --dome-checkpoint-dir headers.saved --dome-restart=$k --dome-checkpoint-every 1000000 >out 2>said || fail "a header with variables: from $k: $(cat said)"
    tail -c "$(stat -c %s out)" plain.out | cmp -s - out || fail "a header with variables: from $k: $(cat out)"
done

# What calls nothing that polls stays as it is.
"$cc" --emit-source -Iinclude -DLEAF=2 -o out.c main.c
grep -q 'return n \* 2' out.c && ! grep -q 'dome__fn_leaf' out.c || fail "leaf was changed"

# The compiler's messages are about the user's text, as without dome-cc.
printf 'int main(void)\n{\n    int unused;\n    return x;\n}\n' >wrong.c
"$cc" -Wall -c wrong.c 2>said && fail "an error is taken"
cc -Wall -c wrong.c 2>plainly
cmp -s said plainly || fail "other messages: $(diff said plainly | head -3)"
printf 'int main(void)\n{\n    int unused;\n    return 0;\n}\n' >wrong.c
"$cc" -Wall wrong.c -o right 2>said || fail "a warning is fatal"
[ "$(grep -c 'wrong.c:3:9: warning: unused variable' said)" = 1 ] || fail "a warning: $(cat said)"

# No main, no input, two outputs.
"$cc" parts.c -Iinclude -o none 2>said && fail "no main"
grep -q 'none of the translated files has main' said || fail "no main: $(cat said)"
"$cc" 2>said
[ $? = 2 ] || fail "no input"
"$cc" -c -o x.o main.c parts.c 2>said
[ $? = 2 ] || fail "two outputs"

# When it is ended its temporary files go.
mkdir temporary
cat >waits.sh <<'END'
#!/bin/sh
echo $$ >waiting
exec sleep 600
END
chmod +x waits.sh
for signal in HUP TERM; do
    rm -f waiting
    # Under nohup SIGHUP is ignored.
    TMPDIR=$work/temporary setsid env --default-signal=$signal "$cc" --cc=./waits.sh -c plain.c -o plain.two &
    ended=$!
    for _ in {1..2400}; do
        [ ! -s waiting ] || break
        sleep 0.05
    done
    [ -n "$(ls temporary)" ] || fail "no temporary files: what is tested?"
    kill -$signal $ended
    wait $ended
    [ $? -gt 128 ] || fail "SIG$signal: another status"
    [ -z "$(ls temporary)" ] || fail "SIG$signal: $(ls temporary) is left"
    kill "$(cat waiting)"
done

# A debugger shows the user's lines.
if command -v gdb >/dev/null; then
    "$cc" -g -O0 -Iinclude -DLEAF=2 main.c parts.c plain.c -o traced
    gdb -batch -ex 'break parts.c:17' -ex run -ex 'frame' -ex 'print p->size' ./traced 2>&1 | grep -q 'parts.c:17' || fail "gdb does not know parts.c:17"
fi
# An inline function that is not static stands in both files, and either copy may be called; one of -fcommon's variables as well.
cat >both.h <<'END'
int rounds, sums[3];
inline int together(int n) { int s = 0; while (n-- > 0) s += n & 3; return s; }
int other(int n);
END
cat >both.c <<'END'
#include "both.h"
#include <stdio.h>
extern inline int together(int n);
int main(void)
{
    int (*called)(int) = together;
    for (int i = 0; i < 4; i++)
        printf("%d %d %d %d\n", together(i), called(i + 1), other(i), sums[i % 3] + rounds);
    return 0;
}
END
printf '#include "both.h"\nint other(int n) { rounds++; return sums[n %% 3] += together(n + 2); }\n' >other.c
cc -w -fcommon both.c other.c -o plain && ./plain >plain.out
for optimization in -O0 -O2; do
    mkdir -p "at$optimization"
    "$cc" "$optimization" -fcommon --polls=every both.c other.c -o "at$optimization/both" 2>said || fail "inline in two files: $(cat said)"
done
at-O2/both --dome-checkpoint-dir both.saved --dome-checkpoint-every 1 --dome-checkpoint-keep 100 >out 2>&1
cmp -s plain.out out || fail "inline in two files: $(cat out)"
polls=$(ls both.saved | grep -c ckpt-)
[ "$polls" -gt 30 ] || fail "inline in two files: $polls polls"
for ((k = 2; k <= polls; k += 3)); do
    at-O0/both --dome-checkpoint-dir both.saved --dome-restart=$k --dome-checkpoint-every 1000000 >out 2>said || fail "inline in two files: from $k: $(cat said)"
    tail -c "$(stat -c %s out)" plain.out | cmp -s - out || fail "inline in two files: from $k: $(cat out)"
done

[ $failures = 0 ] && echo "files and objects"
exit $((failures > 0))
