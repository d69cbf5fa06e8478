#!/bin/bash
# Another user exchanges the folder of generated code for one of its own while programs load from it, in a folder that both may write
# to, and in its own home directory that root has in HOME. Its code never runs, and the program says why it keeps none.
set -u
[ "$(id -u)" = 0 ] || {
    echo "skipped: needs root, to be two other users"
    exit 77
}
compiler=$(command -v cc || command -v gcc || command -v clang) || {
    echo "skipped: there is no C compiler"
    exit 77
}
dir=$(mktemp -d /tmp/dome-test.XXXXXX) || exit 1 # where other users may pass
exchanger=""
trap '[ -z "$exchanger" ] || kill "$exchanger" 2>/dev/null; wait; rm -rf "$dir"' EXIT
program="$dir/bin/chains 3 --dome-transport self --dome-evaluator compiled"
rounds=5 victim=61001 attacker=61002
failed=0

complain() {
    echo "code_cache: $*" >&2
    failed=1
}

as() { # user command...
    setpriv --reuid="$1" --regid="$1" --clear-groups env -i PATH="$PATH" HOME="$dir/home.$1" TMPDIR="$dir/tmp" LD_LIBRARY_PATH="$dir/bin" "${@:2}"
}

# What the attacker offers beside the folder: a library under every name that the victim would look for, whole as far as it can see.
prepare() {
    local file
    as $attacker mkdir -m 755 "${folder%/*}/offer"
    for file in "$own"/*.so; do
        as $attacker "$dir/bin/code_cache" seal "$dir/bin/evil.so" "${folder%/*}/offer/${file##*/}"
    done
}

attack() { # what victim's-command...
    prepare
    setpriv --reuid=$attacker --regid=$attacker --clear-groups env LD_LIBRARY_PATH="$dir/bin" \
        "$dir/bin/code_cache" exchange "$folder" "${folder%/*}/offer" &
    exchanger=$!
    local k
    for ((k = 0; k < rounds; k++)); do
        "${@:2}" >/dev/null 2>"$dir/err"
        grep -q 'generated code is not kept' "$dir/err" || complain "$1: does not say that the folder is not used: $(cat "$dir/err")"
        [ ! -s "$dir/taken" ] || break
    done
    [ ! -s "$dir/taken" ] || complain "$1: after $((k + 1)) runs: $(head -1 "$dir/taken")"
    kill $exchanger 2>/dev/null
    wait $exchanger 2>/dev/null
    exchanger=""
    : >"$dir/taken"
}

mkdir "$dir/bin" "$dir/home.$victim" "$dir/home.$attacker" "$dir/tmp" "$dir/shared"
chmod 755 "$dir" "$dir/bin"
chmod 1777 "$dir/tmp"
chmod 777 "$dir/shared" # a project's folder
chown $victim "$dir/home.$victim"
chown $attacker "$dir/home.$attacker"
: >"$dir/taken"
chmod 666 "$dir/taken"
cp "$DOME_BUILD_DIR/tests/programs/chains" "$DOME_BUILD_DIR/tests/security/code_cache" "$dir/bin/"
cp -L "$DOME_BUILD_DIR"/libdome.so.* "$dir/bin/" 2>/dev/null
printf '#include <stdio.h>\n#include <unistd.h>\n__attribute__((constructor)) static void in(void)\n{\n    FILE *f = fopen("%s/taken", "a");\n    fprintf(f, "code of another user runs as user %%d\\n", (int)geteuid());\n    fclose(f);\n}\nvoid dome_chain(void) {}\n' "$dir" >"$dir/evil.c"
"$compiler" -shared -fPIC -o "$dir/bin/evil.so" "$dir/evil.c" || exit 1
chmod 755 "$dir"/bin/*

# The names are the same for all users of a machine, so the attacker finds them out by a run of its own.
own=$dir/home.$attacker/own
# shellcheck disable=SC2086
as $attacker DOME_CACHE_DIR="$own" $program >/dev/null || complain "a run alone fails"
ls "$own"/*.so >/dev/null 2>&1 || complain "a folder below one of root's is not used"

folder=$dir/shared/code
as $victim mkdir "$folder"
# shellcheck disable=SC2086
as $victim DOME_CACHE_DIR="$folder" $program >/dev/null 2>&1
# shellcheck disable=SC2086
attack "a folder in one that others may write to" as $victim DOME_CACHE_DIR="$folder" $program

# What root's runs before have left in the other user's home: root's own folder, in one that the other user owns.
folder=$dir/home.$attacker/.cache/dome
as $attacker mkdir "${folder%/*}"
mkdir -m 700 "$folder"
for file in "$own"/*.so; do
    install -m 600 "$file" "$folder/"
done
# shellcheck disable=SC2086
attack "root with another user's HOME" env -i PATH="$PATH" HOME="$dir/home.$attacker" TMPDIR="$dir/tmp" LD_LIBRARY_PATH="$dir/bin" $program
[ -z "$(ls -A "$dir/tmp")" ] || complain "left behind: $(ls -A "$dir/tmp")"
exit $failed
