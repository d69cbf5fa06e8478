#!/bin/bash
# Generated code on disk: kept, used again, made again when it is damaged, made by one of those that want it; what has not been used for
# longest goes; folders that cannot be used are named once, and code is made without. The compiler is not the program's child.
set -u
program=$DOME_BUILD_DIR/tests/multi/deferred
dir=$(mktemp -d "${TMPDIR:-/tmp}/dome-test.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
parent=$(dirname "$dir")
export DOME_CACHE_DIR=$dir/cache
failed=0

complain() {
    echo "generated_code: $*" >&2
    failed=1
}

run() { # what
    "$RUN_MULTI" self "$program" 5 2 --dome-evaluator compiled >"$dir/out" 2>"$dir/err" || complain "$1: fails: $(cat "$dir/err")"
    grep -q '^ok' "$dir/out" || complain "$1: says '$(cat "$dir/out")'"
}

quiet() { # what
    [ ! -s "$dir/err" ] || complain "$1: says $(cat "$dir/err")"
}

said_once() { # what pattern [line]
    [ "$(grep -c "${3:-generated code is not kept}" "$dir/err")" = 1 ] && grep -q "$2" "$dir/err" || complain "$1: says '$(cat "$dir/err")'"
}

# How many runs of chains were by generated code; errors go to $dir/err.
generated() { # program arguments...
    "$DOME_BUILD_DIR/tests/programs/$1" "${@:2}" --dome-transport self --dome-evaluator compiled --dome-profile >"$dir/out" 2>"$dir/err"
    sed -n 's/^chain of .* runs, \([0-9]*\) of generated code.*/\1/p' "$dir/err" | awk '{ sum += $1 } END { print sum + 0 }'
    grep '^dome:' "$dir/err" | grep -v 'seconds per task' >"$dir/lines"
    mv "$dir/lines" "$dir/err"
}

uses_code() { # what program arguments...
    local runs
    runs=$(generated "${@:2}")
    [ "$runs" -gt 0 ] || complain "$1: no generated code is used: $(cat "$dir/out" "$dir/err")"
}

listing() {
    (cd "$DOME_CACHE_DIR" && find . -type f -printf '%f %s %T@ %m\n' | sort)
}

command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || {
    echo "skipped: there is no C compiler"
    exit 77
}

run "a fresh folder"
quiet "a fresh folder"
[ "$(listing | wc -l)" -ge 3 ] || complain "no code is kept: $(ls -la "$DOME_CACHE_DIR")"
listing | grep -v '\.so ' && complain "something else is kept"
listing | grep -v ' 600$' && complain "others could change it"
[ -z "$(find "$DOME_CACHE_DIR" -mindepth 1 -type d)" ] || complain "work is left behind"

listing >"$dir/before"
run "a second time"
quiet "a second time"
listing | cmp -s - "$dir/before" || complain "code is made again that is there"

# one file cut, one changed in the middle, one a link to something else, one empty
mapfile -t files < <(cd "$DOME_CACHE_DIR" && ls)
truncate -s 5000 "$DOME_CACHE_DIR/${files[0]}"
printf 'x' | dd of="$DOME_CACHE_DIR/${files[1]}" bs=1 seek=4500 conv=notrunc 2>/dev/null
cp "$DOME_CACHE_DIR/${files[2]}" "$dir/elsewhere.so"
ln -sf "$dir/elsewhere.so" "$DOME_CACHE_DIR/${files[2]}"
run "damaged files"
quiet "damaged files"
cut -d' ' -f1,2,4 "$dir/before" >"$dir/sizes"
listing | cut -d' ' -f1,2,4 | cmp -s - "$dir/sizes" || complain "damaged files are not made again"

# More files than are kept, none used for long: those that are used now stay. What is not the library's is left alone.
fill() { # number bytes
    local k
    for ((k = 0; k < $1; k++)); do
        printf '%s/%040x.so\n' "$DOME_CACHE_DIR" "$k"
    done | xargs sh -c "truncate -s $2 \"\$@\" && touch -d '10 days ago' \"\$@\"" sh
}
names() {
    listing | cut -d' ' -f1
}
used() {
    (cd "$DOME_CACHE_DIR" && find . -name '*.so' ! -name '0000*' ! -name "${files[0]}" ! -name mine.so -printf '%f %i\n' | sort)
}
used >"$dir/used"
touch -d '5 days ago' "$DOME_CACHE_DIR"/*.so
fill 1200 100
touch -d '20 days ago' "$DOME_CACHE_DIR/notes" "$DOME_CACHE_DIR/mine.so"
rm -f "$DOME_CACHE_DIR/${files[0]}"
run "too many files"
quiet "too many files"
[ "$(listing | wc -l)" -le 1000 ] || complain "too many files: $(listing | wc -l) are kept"
[ "$(listing | wc -l)" -ge 500 ] || complain "too many files: no more than $(listing | wc -l) are left"
used | cmp -s - "$dir/used" || complain "too many files: those that are used have gone"
[ -e "$DOME_CACHE_DIR/notes" ] && [ -e "$DOME_CACHE_DIR/mine.so" ] || complain "too many files: what is not the library's has gone"
rm -f "$DOME_CACHE_DIR"/{notes,mine.so}
[ -z "$(find "$DOME_CACHE_DIR" -name "${files[1]}" -mtime +1)" ] || complain "that a file is used is not noted"

# Few files, but large ones.
rm -f "$DOME_CACHE_DIR"/0000*.so
fill 3 40M
run "large files"
quiet "large files"
[ "$(names | grep -c ^0000)" -le 1 ] || complain "large files are kept: $(ls -la "$DOME_CACHE_DIR")"
used | cmp -s - "$dir/used" || complain "large files: those that are used have gone"
rm -f "$DOME_CACHE_DIR"/0000*.so

# Two programs that want the same: each chain is compiled by one of them.
mkdir "$dir/slow"
compiler=$(command -v cc || command -v gcc || command -v clang)
printf '#!/bin/sh\necho >>"%s/compiled"\nsleep 0.2\nexec "%s" "$@"\n' "$dir" "$compiler" >"$dir/slow/cc"
chmod +x "$dir/slow/cc"
together() {
    PATH=$dir/slow:$PATH DOME_CACHE_DIR=$dir/together "$program" 5 2 --dome-transport self --dome-evaluator compiled >"$dir/out$1" 2>&1 ||
        complain "two programs: $(cat "$dir/out$1")"
}
together 1 &
together 2
wait $! || failed=1
made=$(find "$dir/together" -name '*.so' | wc -l)
[ "$(wc -l <"$dir/compiled")" -eq "$made" ] || complain "two programs: $made files were compiled $(wc -l <"$dir/compiled") times"
[ -z "$(find "$dir/together" -mindepth 1 ! -name '*.so')" ] || complain "two programs: left behind: $(ls "$dir/together")"

# Nobody waits for long for one that has stopped.
mkfifo "$dir/held"
held=$DOME_CACHE_DIR/${files[0]}.lock
rm -f "$DOME_CACHE_DIR/${files[0]}"
(
    exec 9>"$held"
    flock 9
    echo >"$dir/held"
    exec sleep 600
) &
holder=$!
read -r _ <"$dir/held"
run "a lock that is held"
quiet "a lock that is held"
kill -0 $holder || complain "a lock that is held: it was waited for"
[ -e "$DOME_CACHE_DIR/${files[0]}" ] || complain "a lock that is held: the code is not made"
kill $holder
wait $holder 2>/dev/null
rm -f "$held"

chmod g+w "$DOME_CACHE_DIR"
run "a folder that others may write to"
said_once "a folder that others may write to" "others may write there"
chmod g-w "$DOME_CACHE_DIR"

for kernels in baseline auto; do
    DOME_CACHE_DIR=$dir/rounding.$kernels uses_code "rounding, kernels $kernels" chains 5 rounding --dome-kernels $kernels
    quiet "rounding, kernels $kernels"
done

export TMPDIR=$dir/tmp
mkdir "$TMPDIR"
DOME_CACHE_DIR=/dev/null/cache uses_code "a folder that cannot be made" chains 5
said_once "a folder that cannot be made" "/dev/null: "
rmdir "$TMPDIR" || complain "a folder that cannot be made: left behind: $(find "$TMPDIR")"
DOME_CACHE_DIR=/dev/null/cache generated chains 5 >/dev/null
said_once "no folder to work in" "/tmp: No such file or directory" "run without generated code"
export TMPDIR=$parent

mkdir "$dir/strict"
printf '#!/bin/sh\n[ -e "%s/allowed" ] && exec "%s" "$@"\necho "no disk is large enough" >&2\nexit 1\n' "$dir" "$compiler" >"$dir/strict/cc"
chmod +x "$dir/strict/cc"
PATH=$dir/strict:$PATH DOME_CACHE_DIR=$dir/failing generated reaper wait >/dev/null
said_once "a compiler that fails" "strict/cc fails: no disk is large enough" "run without generated code"

# The program waits for its own children, and for no others.
for how in ignore wait; do
    DOME_CACHE_DIR=$dir/reaper.$how uses_code "children: $how" reaper $how
    quiet "children: $how"
    grep -q '^reaped 0,' "$dir/out" || complain "children: $how: the program was given a child that is not its own: $(cat "$dir/out")"
done

# Where files cannot be executed code is kept and used all the same; where there is no room, the reason is said.
mounted() { # options command...
    unshare -m bash -c 'mount -t tmpfs -o "$0" none "$1" && shift && exec "$@"' "$@"
}
export -f generated
export dir
mkdir "$dir/mount"
if mounted size=1m "$dir/mount" true 2>/dev/null; then
    export DOME_CACHE_DIR=$dir/mount/cache
    touch "$dir/allowed"
    runs=$(PATH=$dir/strict:$PATH mounted noexec "$dir/mount" bash -c "generated chains 5 >/dev/null; rm '$dir/allowed'; generated chains 5")
    [ "$runs" -gt 0 ] || complain "a folder without execution: no generated code is used the second time: $(cat "$dir/out" "$dir/err")"
    quiet "a folder without execution"
    mounted size=16k "$dir/mount" bash -c "generated chains 5 >/dev/null"
    said_once "a full folder" "No space left on device" "dome: "
fi

mkdir "$dir/bin"
ln -s "$(command -v bash)" "$(command -v env)" "$dir/bin/"
DOME_CACHE_DIR=$dir/none "$program" 5 2 --dome-transport self --dome-evaluator compiled >/dev/null 2>"$dir/err" || complain "with a compiler fails"
PATH=$dir/bin DOME_CACHE_DIR=$dir/none2 "$program" 5 2 --dome-transport self --dome-evaluator compiled >"$dir/out" 2>"$dir/err" ||
    complain "without a compiler: fails: $(cat "$dir/err")"
quiet "without a compiler"
[ ! -e "$dir/none2" ] || complain "without a compiler a folder is made"
exit $failed
