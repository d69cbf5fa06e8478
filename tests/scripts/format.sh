#!/bin/bash
# Every source and header of the tree is formatted as .clang-format says.
set -u
cd "${DOME_SOURCE_DIR:?}" || exit 1
wanted=14 # other major versions break lines in other places
skip() {
    echo "skipped: $*"
    exit 77
}

formatter=clang-format-$wanted
command -v "$formatter" >/dev/null || formatter=clang-format
version=$("$formatter" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
[ -n "$version" ] || skip "clang-format is not installed"
[ "$version" = $wanted ] || skip "clang-format is of version $version, not $wanted"

lines=$(find bench examples include src tests tools \( -name '*.[ch]' -o -name '*.[ch]pp' \) -print0 | xargs -0 -n 16 -P 2 "$formatter" --dry-run -Werror 2>&1)
if [ $? -ne 0 ]; then
    echo "failed: to format a file: clang-format -i FILE. Lines that are not formatted, by file:"
    sed -n 's/:[0-9]*:[0-9]*: error: code should be.*//p' <<<"$lines" | sort | uniq -c
    grep -E '(error|warning): ' <<<"$lines" | grep -v 'code should be'
    exit 1
fi
echo ok
