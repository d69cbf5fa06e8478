#!/bin/bash
# Translations are as they were when somebody read them: golden/NAME.c gives golden/NAME.out. After a change that is meant,
# golden.sh --update writes them; read what git diff shows.
set -u
cc=$DOME_BUILD_DIR/tools/dome-cc here=$DOME_SOURCE_DIR/tests/dome-cc/golden failures=0
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$here" || exit 1
for source in *.c; do
    name=${source%.c}
    # from the user's first line to the descriptions
    "$cc" --emit-source -o - "$source" | sed -n '/^# 2 "'"$source"'"\|^extern void \*malloc/,$p' >"$work/$name.out"
    [ "${1:-}" = --update ] && cp "$work/$name.out" "$name.out"
    diff "$name.out" "$work/$name.out" || failures=$((failures + 1))
    [ -s "$name.out" ] || failures=$((failures + 1))
done
[ $failures = 0 ] && echo "translations are as they were"
exit $((failures > 0))
