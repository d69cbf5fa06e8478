#!/bin/bash
# Dome programs are translated with --polls=operations, whatever they pass to operations: of structs whose size is passed, too,
# dome-cc looks at what the called function does with them, and an operation has no text.
set -u
cc=$DOME_BUILD_DIR/tools/dome-cc here=$DOME_SOURCE_DIR/tests/dome-cc/parallel failures=0
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
for source in "$here"/*.c; do
    name=$(basename "$source")
    "$cc" --polls=operations --emit-source -o "$work/out.c" "$source" 2>"$work/said"
    status=$?
    [ $status = 0 ] && grep -q 'dome__cc_operation()' "$work/out.c" || {
        echo "FAILED: $name: status $status: $(head -3 "$work/said")"
        failures=$((failures + 1))
    }
    rm -f "$work/out.c"
done
[ $failures = 0 ] && echo "each program polls behind its operations"
exit $((failures > 0))
