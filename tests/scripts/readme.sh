#!/bin/bash
# What README says about the tree is so: the table of lengths, CMake's options, files it points to.
set -u
cd "${DOME_SOURCE_DIR:?}" || exit 1
failures=0
fail() {
    echo "failed: $*"
    failures=$((failures + 1))
}

diff <(scripts/count-lines) <(sed -n '/^<!-- from scripts.count-lines -->$/,/^<!-- end of/p' README.md | sed '1d;$d') ||
    fail "the table of lengths is old: put the output of scripts/count-lines into README.md"

for option in $(sed -n 's/^\(option\|set\)(\(DOME_[A-Z_]*\|BUILD_SHARED_LIBS\) .*/\2/p' CMakeLists.txt); do
    grep -q "^| \`$option\`" README.md || fail "README does not list the CMake option $option"
done
for option in $(sed -n 's/^| `\([A-Z_]*\)` |.*/\1/p' README.md); do
    grep -Eq "^(option|set)\($option " CMakeLists.txt || fail "CMake has no option $option"
done

for page in *.md docs/*.md; do
    for link in $(grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v '^https*:'); do
        [ -e "$(dirname "$page")/$link" ] || fail "$page points to $link, which is not there"
    done
done

for script in scripts/* tools/dome-lab* .ci/run; do
    [ -d "$script" ] && continue
    [ -x "$script" ] || fail "$script is not executable"
    case $(head -1 "$script") in
    '#!/bin/bash') bash -n "$script" || fail "$script has an error" ;;
    '#!/bin/sh') sh -n "$script" || fail "$script has an error" ;;
    esac
done

[ $failures -eq 0 ] && echo ok
exit $((failures > 0))
