#!/bin/bash
# Addresses that are not seen to be pointers (in numbers, in bytes, in blocks of another type), and pointers to what no checkpoint
# has: the variable is named, no checkpoint is written, and the program goes on. A pragma settles it. What can no longer be used is no
# reason. The compiler warns where addresses become numbers that are kept.
. "$(dirname "$0")/../support/checks.bash"
cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# NAME: makes the program, whose text is standard input, behind what all of them begin with, and runs it with a checkpoint at each poll;
# says is what the compiler says.
program() {
    {
        cat <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static int work(int n) { int s = 0; for (int i = 0; i < n; i++) s = s * 31 + i; return s & 15; }
struct node { struct node *next; int v; };
END
        cat
    } >"$1.c"
    rm -rf saved
    "$cc" --polls=every "$1.c" -o "$1" 2>says || fail "$1: $(head -2 says)"
    ./"$1" --dome-checkpoint-dir saved --dome-checkpoint-every 1 --dome-checkpoint-keep 1000 >out 2>err || fail "$1: status $?: $(cat err)"
}

# NAME TEXT [WARNING]: there is a poll at which there can be no checkpoint, for a reason with the text; the compiler warns of a line, or
# says nothing
refuses() {
    program "$1"
    grep -qF "no checkpoint was written: $2" err || fail "$1: no line says \"$2\": $(cut -c1-300 err)"
    if [ -n "${3:-}" ]; then
        [ "$(grep -c 'warning: dome-cc' says)" = 1 ] && grep -qF -- "$1.c:$3" says || fail "$1: the compiler does not warn of $3: $(cat says)"
    else
        [ ! -s says ] || fail "$1: the compiler says $(cat says)"
    fi
}

# NAME: there are checkpoints at all polls, without a word, and the program goes on from some of them
goes() {
    program "$1"
    local count
    count=$(ls saved | grep -c '^ckpt')
    [ ! -s err ] && [ "$count" -gt 3 ] || fail "$1: $count checkpoints: $(cut -c1-300 err)"
    [ ! -s says ] || fail "$1: the compiler says $(cat says)"
    cp out whole
    for k in $(seq 1 $((count / 4 + 1)) "$count"); do
        ./"$1" --dome-checkpoint-dir saved --dome-restart="$k" --dome-checkpoint-every 1000000 >out 2>err || fail "$1: from $k: $(cat err)"
        tail -c "$(stat -c %s out)" whole | cmp -s - out || fail "$1: from $k: $(tail -2 out)"
    done
}

# ---- addresses in numbers and bytes ----

refuses variable "function 'main' at variable.c:14: number is a number that holds an address (of block 3 of the heap, of type 'struct node'" \
    '12: warning: dome-cc: an address becomes a number in a variable that is saved' <<'END'
int main(void)
{
    struct node *n = calloc(1, sizeof *n);
    uintptr_t number = (uintptr_t)n;
    n = NULL;
    for (int i = 0; i < 4; i++) printf("%d\n", work(i) + ((struct node *)number)->v);
    return 0;
}
END
refuses boxed "block 3 of the heap, of type 'struct value': element 0, bits is a number that holds an address" \
    '13: warning: dome-cc: an address becomes a number that is kept' <<'END'
struct value { int kind; uint64_t bits; };
int main(void)
{
    struct value *v = malloc(sizeof *v); struct node *n = calloc(1, sizeof *n);
    v->bits = (uint64_t)(uintptr_t)n | 0xfffc000000000000u;
    for (int i = 0; i < 4; i++) printf("%d\n", work(i) + ((struct node *)(uintptr_t)(v->bits & 0xffffffffffffu))->v);
    return 0;
}
END
refuses tagged "global 'tagged.c:tagged': element 0 is a number that holds an address" \
    '13: warning: dome-cc: an address becomes a number that is kept' <<'END'
static unsigned long tagged;
int main(void)
{
    int numbers[4] = {1, 2, 3};
    tagged = (unsigned long)(numbers + 1) | 1;
    for (int i = 0; i < 4; i++) printf("%d\n", work(i) + *(int *)(tagged & ~1ul) + numbers[i]);
    return 0;
}
END
refuses in_a_double "function 'main' at in_a_double.c:14: d is a number that holds an address" <<'END'
int main(void)
{
    struct node *n = calloc(1, sizeof *n); uint64_t bits = 0x7ffc000000000000u; double d;
    memcpy(&bits, &n, 6); memcpy(&d, &bits, 8);
    bits = 0;
    for (int i = 0; i < 4; i++) printf("%d\n", work(i) + (d == d) + n->v);
    return 0;
}
END
refuses of_a_function "function 'main' at of_a_function.c:12: number is a number that holds an address (of a function)" \
    '11: warning: dome-cc: an address becomes a number in a variable that is saved' <<'END'
int main(void)
{
    uintptr_t number = (uintptr_t)work;
    for (int i = 0; i < 4; i++) printf("%d\n", work(i) + ((int (*)(int))number)(2));
    return 0;
}
END
refuses in_bytes "function 'main' at in_bytes.c:13: bytes[0]: these bytes hold an address (of function 'main' at in_bytes.c:13: x[1])" <<'END'
int main(void)
{
    int x[3] = {1, 2, 3}, *p = x + 1; unsigned char bytes[sizeof p];
    memcpy(bytes, &p, sizeof p);
    for (int i = 0; i < 4; i++) { int *q; printf("%d\n", work(i)); memcpy(&q, bytes, sizeof q); printf("%d\n", *q); }
    return 0;
}
END
# objects that are cut from bytes of the heap, and from an array
refuses arena "function 'main' at arena.c:14: list points to what has pointers itself, but leads into block 3 of the heap, of type 'char'" <<'END'
static char *base; static size_t used;
static void *cut(size_t n) { void *p; if (!base) base = malloc(4096); p = base + used; used += (n + 15) / 16 * 16; return p; }
int main(void)
{
    struct node *list = NULL;
    for (int i = 0; i < 4; i++) { struct node *n = cut(sizeof *n); n->next = list; n->v = work(i); list = n; }
    for (; list; list = list->next) printf("%d\n", list->v);
    return 0;
}
END
refuses pool "global 'pool.c:pool': element 16: these bytes hold an address" <<'END'
static char pool[4096] __attribute__((aligned(16)));
static void *first;
int main(void)
{
    struct node *list = NULL;
    for (int i = 0; i < 4; i++) { struct node *n = (struct node *)(pool + 16 * i); n->next = list; n->v = i; list = n; }
    first = list, list = NULL;
    for (int i = 0; i < 4; i++) printf("%d\n", work(i) + ((struct node *)first)->v);
    return 0;
}
END
refuses large "block 4 of the heap, of type 'char': element 3000016: these bytes hold an address (of block 3 of the heap, of type 'struct node'" <<'END'
int main(void)
{
    struct node *n = calloc(1, sizeof *n); char *bytes = malloc(5000000);
#pragma dome nopoll
    for (int i = 0; i < 5000000; i++) bytes[i] = (char)(i * 7919 >> 3);
    memcpy(bytes + 3000016, &n, sizeof n);
    for (int i = 0; i < 2; i++) printf("%d\n", work(i) + n->v + bytes[i]);
    return 0;
}
END

# Two addresses in one pointer look like none: the compiler warns, also where they are read; a tag in a pointer is none of these.
cat >mixed.c <<'END'
#include <stdint.h>
struct node { struct node *both; int v; };
int sum(struct node *at)
{
    struct node *before = 0, *next; int s = 0;
    for (; at; before = at, at = next) {
        s += at->v;
        next = (struct node *)((uintptr_t)at->both ^ (uintptr_t)before);
    }
    return s;
}
struct node *tag(struct node *n) { return (struct node *)((uintptr_t)n ^ 1); }
int main(void)
{
    static struct node a = {0, 1}, b = {0, 2};
    a.both = &b;
    b.both = (struct node *)((uintptr_t)&a ^ (uintptr_t)a.both->both);
    return sum(&a) - 3 + (tag(tag(&b)) != &b);
}
END
"$cc" mixed.c -o mixed 2>says && ./mixed || fail "mixed: status $?: $(cat says)"
[ "$(sed -n 's/^mixed.c:\([0-9]*\): warning: dome-cc: an address becomes a number that is mixed with another one: .*/\1/p' says | tr '\n' ' ')" = "8 17 " ] &&
    [ "$(grep -c warning says)" = 2 ] || fail "mixed: the compiler says $(cat says)"

# Of such lists the save refuses those of numbers, by their ends, and those of pointers that lead nowhere. A ring of numbers it cannot
# tell, as docs/dome-cc.md says: there the warning is all.
lists() { # TYPE ENDS: a list of 3000 nodes, in which numbers of the type are mixed; ENDS 0: a ring
    cat <<END
struct both { $1 both; int v; };
int main(void)
{
    enum { COUNT = 3000 };
    struct both *first = calloc(1, sizeof *first), *at = first, *before = 0, *next, *second = 0;
#pragma dome nopoll
    for (int i = 1; i < COUNT; i++) {
        next = calloc(1, sizeof *next);
        next->v = i;
        at->both = ($1)((uintptr_t)before ^ (uintptr_t)next);
        second = second ? second : next;
        before = at;
        at = next;
    }
    at->both = ($1)((uintptr_t)before ^ (uintptr_t)($2 ? 0 : first));
    if (!$2)
        first->both = ($1)((uintptr_t)at ^ (uintptr_t)second);
    next = second = before = 0;
    if ($2)
        at = 0;
    for (int i = 0; i < 3; i++) printf("%d %d\n", work(i), first->v + (at ? at->v : 0));
    return 0;
}
END
}
program numbers_mixed < <(lists uintptr_t 1)
grep -q "no checkpoint was written: block [0-9]* of the heap, of type 'struct both': element 0, both is a number that holds an address" err ||
    fail "numbers_mixed: $(cut -c1-300 err)"
program pointers_mixed < <(lists "struct both *" 1)
grep -q "no checkpoint was written: block [0-9]* of the heap, of type 'struct both': element 0, both points to memory that a checkpoint does not have" err ||
    fail "pointers_mixed: $(cut -c1-300 err)"
program ring_mixed < <(lists uintptr_t 0)
grep -q "warning: dome-cc: an address becomes a number" says && [ ! -s err ] || fail "ring_mixed: $(cat says err)"

# Two reasons that take turns are told once each.
refuses turns "function 'main' at turns.c:12: first is a number that holds an address" \
    '11: warning: dome-cc: an address becomes a number in a variable that is saved' <<'END'
int main(void)
{
    struct node *n = calloc(1, sizeof *n); uintptr_t first = (uintptr_t)n; static uintptr_t second;
    for (int i = 0; i < 6; i++) {
        second = 0; work(i); printf("%d\n", ((struct node *)first)->v);
        memcpy(&second, &n, sizeof n); first = 0; work(i); first = second;
    }
    return 0;
}
END
[ "$(grep -c 'no checkpoint was written' err)" = 2 ] || fail "turns: not two lines: $(cut -c1-200 err)"

# ---- pointers to what no checkpoint has ----

refuses mapped "function 'main' at mapped.c:12: p points to memory that a checkpoint does not have" <<'END'
int main(void)
{
    int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 4; i++) printf("%d\n", p[i] = work(i));
    return 0;
}
END
refuses of_a_library "block 3 of the heap, of type 'struct keeper': element 0, stream points to memory that a checkpoint does not have" <<'END'
struct keeper { FILE *stream; char *text; size_t size; };
int main(void)
{
    struct keeper *k = calloc(1, sizeof *k);
    k->stream = open_memstream(&k->text, &k->size);
    for (int i = 0; i < 4; i++) fprintf(k->stream, "%d\n", work(i));
    fclose(k->stream); puts(k->text);
    return 0;
}
END

# ---- what does no harm ----

# freed, closed, left, not read any more: in variables, in the heap, in globals
goes gone <<'END'
struct keeper { FILE *log; char *text, *large; int *local; } *keeper;
static char *last;
static int *leave(void) { int here[3] = {1, 2, 3}, *p = here; return work(p[1]) ? p : NULL; }
static int sum(struct node *n) { int s = 0; while (n) { s += n->v; n = n->next; } return s; }
int main(void)
{
    FILE *log = fopen("log", "w"), *memory; char *text = malloc(20), *written = NULL; size_t size = 0;
    struct node *n = malloc(sizeof *n);
    *n = (struct node){NULL, 4};
    keeper = malloc(sizeof *keeper);
    *keeper = (struct keeper){log, text, malloc(100000), NULL};
    last = malloc(700);
    memory = open_memstream(&written, &size); fputs("memory", memory); fclose(memory);
    printf("%s\n", written); free(written);
    free(last); free(keeper->large); free(text); fclose(log); keeper->local = leave();
    for (int i = 0; i < 4; i++) printf("%d %d\n", work(i), sum(n));
    free(n);
    for (int i = 0; i < 4; i++) printf("%d\n", work(i));
    return 0;
}
END
# a tag in a pointer, a struct of numbers in bytes, numbers that look like nothing
goes harmless <<'END'
struct numbers { short kind; int n; double x; };
struct packet { char head[3]; unsigned char body[40]; };
int main(void)
{
    struct node *n = calloc(2, sizeof *n), *tag = (struct node *)((char *)n + 1), *second = (struct node *)((char *)&n[1] + 3);
    struct packet p = {"ab", {1, 2, 3}};
    char *buffer = malloc(64);
    struct numbers *in = (struct numbers *)buffer;
    *in = (struct numbers){1, 2, 0.5};
    uint64_t hash = 0x9e3779b97f4a7c15u, time = 1700000000000000000u, low = 4210752, *table = malloc(50000 * sizeof *table);
#pragma dome nopoll
    for (int i = 0; i < 50000; i++) table[i] = hash * (unsigned)i >> 7;
    for (int i = 0; i < 3; i++)
        printf("%d %g %d %d %d %d\n", work(i), in->x, ((struct node *)((char *)tag - 1))->v, ((struct node *)((char *)second - 3))->v,
               p.body[i], (int)((table[i + 7] + time + low) & 255));
    return 0;
}
END
# what the program says of its variables, members and blocks; addresses that are compared, printed or subtracted
goes settled <<'END'
struct entry {
#pragma dome numbers
    uint64_t hash;
    int v;
#pragma dome dangling
    char *once;
};
#pragma dome numbers
static uintptr_t seed;
static unsigned slot(const void *p)
{
#pragma dome numbers
    return (unsigned)((uintptr_t)p >> 4) % 64;
}
int main(void)
{
    struct entry *e = calloc(1, sizeof *e);
    int used = 0;
    e->hash = (uint64_t)e; seed = (uintptr_t)e;
    e->once = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#pragma dome numbers
    uint64_t *numbers = malloc(10 * sizeof *numbers);
#pragma dome numbers
    numbers[2] = (uint64_t)numbers;
    _Pragma("dome numbers")
    uintptr_t own = (uintptr_t)numbers;
    used += slot(e) < 64;
    for (int i = 0; i < 3; i++)
        printf("%d %d %d\n", work(i) + used, (uintptr_t)e % 16 == 0 && (uintptr_t)e < UINTPTR_MAX, (int)((uintptr_t)&e->v - (uintptr_t)e));
    printf("%d\n", own != 0 && seed != 1 && numbers[2] != 1);
    return 0;
}
END

# ---- pragmas that are about nothing ----

printf '#pragma dome numbers\nint f(void);\n#pragma dome dangling\ntypedef int t;\nint main(void) { return 0; }\n' >nothing.c
"$cc" nothing.c -o nothing 2>said && fail "pragmas about nothing are taken"
for text in 'nothing.c:1: error: dome-cc: #pragma dome numbers: no variable or member follows' \
    'nothing.c:3: error: dome-cc: #pragma dome dangling: no variable or member follows'; do
    grep -qF "$text" said || fail "no line says \"$text\": $(cat said)"
done
[ $failures = 0 ] && echo "what a checkpoint cannot hold is named"
exit $((failures > 0))
