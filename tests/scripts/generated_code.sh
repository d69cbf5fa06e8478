#!/bin/bash
# Generated code on disk: kept, used again, made again when it is damaged; folders that cannot be used are named once.
set -u
program=$DOME_BUILD_DIR/tests/multi/deferred
dir=$(mktemp -d "${TMPDIR:-/tmp}/dome-test.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
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

said_once() { # what pattern
    [ "$(grep -c "without generated code" "$dir/err")" = 1 ] && grep -q "$2" "$dir/err" || complain "$1: says '$(cat "$dir/err")'"
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

chmod g+w "$DOME_CACHE_DIR"
run "a folder that others may write to"
said_once "a folder that others may write to" "others may write there"
chmod g-w "$DOME_CACHE_DIR"

DOME_CACHE_DIR=/dev/null/cache run "a folder that cannot be made"
said_once "a folder that cannot be made" "/dev/null/cache"

mkdir "$dir/bin"
ln -s "$(command -v bash)" "$(command -v env)" "$dir/bin/"
DOME_CACHE_DIR=$dir/none "$program" 5 2 --dome-transport self --dome-evaluator compiled >/dev/null 2>"$dir/err" || complain "with a compiler fails"
PATH=$dir/bin DOME_CACHE_DIR=$dir/none2 "$program" 5 2 --dome-transport self --dome-evaluator compiled >"$dir/out" 2>"$dir/err" ||
    complain "without a compiler: fails: $(cat "$dir/err")"
quiet "without a compiler"
[ ! -e "$dir/none2" ] || complain "without a compiler a folder is made"
exit $failed
