#!/bin/bash
# What dome-cc cannot do right it refuses, with the file, the line, and what it is about. The first line of a file may have options.
set -u
cc=$DOME_BUILD_DIR/tools/dome-cc here=$DOME_SOURCE_DIR/tests/dome-cc/refused failures=0
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -r "$work"' EXIT

for source in "$here"/*.c; do
    name=$(basename "$source")
    read -ra options < <(sed -n '1s|^// OPTIONS: ||p' "$source")
    (cd "$here" && "$cc" --emit-source "${options[@]}" -o "$work/out.c" "$name") 2>"$work/said" && { echo "FAILED: $name is not refused"; failures=$((failures + 1)); }
    [ -e "$work/out.c" ] && { echo "FAILED: $name is translated all the same"; failures=$((failures + 1)); rm "$work/out.c"; }
    while IFS=: read -r line text; do
        what=${text#*// REFUSED: }
        grep -E "^$name:$line:([0-9]+:)? error: dome-cc: " "$work/said" | grep -qF -- "$what" || {
            echo "FAILED: $name:$line: no line says \"$what\""
            failures=$((failures + 1))
        }
    done < <(grep -n '// REFUSED: ' "$source")
    # nothing else is
    while IFS=: read -r file line rest; do
        [ "$file" = "$name" ] && sed -n "${line}p" "$source" | grep -q REFUSED || {
            echo "FAILED: $file:$line:$rest"
            failures=$((failures + 1))
        }
    done < <(grep 'error: dome-cc' "$work/said")
done
[ $failures = 0 ] && echo "all that is refused is refused where it stands"
exit $((failures > 0))
