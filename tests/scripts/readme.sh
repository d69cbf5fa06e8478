#!/bin/bash
# What README and the other documents say about the tree is so: the table of lengths, CMake's options, options of programs, names of
# files, functions and tests.
. "$(dirname "$0")/../support/checks.bash"
cd "${DOME_SOURCE_DIR:?}" || exit 1
diff <(scripts/count-lines) <(sed -n '/^<!-- from scripts.count-lines -->$/,/^<!-- end of/p' docs/examples.md | sed '1d;$d') ||
    fail "the table of lengths is old: put the output of scripts/count-lines into docs/examples.md"

for option in $(sed -n 's/^\(option\|set\)(\(DOME_[A-Z_]*\|BUILD_SHARED_LIBS\) .*/\2/p' CMakeLists.txt); do
    grep -q "^| \`$option\`" docs/installing.md || fail "docs/installing.md does not list the CMake option $option"
done
for option in $(sed -n 's/^| `\([A-Z_]*\)` |.*/\1/p' docs/installing.md); do
    grep -Eq "^(option|set)\($option " CMakeLists.txt || fail "CMake has no option $option"
done

for page in *.md docs/*.md bench/*.md bench/results/*.md src/*/README.md tools/*/README.md; do
    for link in $(sed '/^```[a-z]/,/^```$/d' "$page" | grep -oE '\]\([^)#]+' | sed 's/^](//' | grep -v '^https*:'); do
        [ -e "$(dirname "$page")/$link" ] || fail "$page points to $link, which is not there"
    done
done

[ "$(grep -c '' README.md)" -le 90 ] || fail "README.md has more than 90 lines: the rest belongs into docs"

# Prose is wrapped at 100 columns. Rows of tables, code, and lines without a space to break at may be longer.
for page in README.md CONTRIBUTING.md docs/*.md bench/*.md bench/results/*.md src/*/README.md tools/*/README.md; do
    long=$(LC_ALL=C.UTF-8 awk '/^```/ {code = !code} !code && length > 100 && !/^(\||    )/ && /[^ ].* / {print FNR}' "$page")
    [ -z "$long" ] || fail "$page has lines of more than 100 columns:" $long
done

# Links within and between pages point to headings that exist.
anchors() { # anchors PAGE: those of its headings
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}
for page in README.md CONTRIBUTING.md docs/*.md bench/*.md bench/results/*.md src/*/README.md tools/*/README.md; do
    for link in $(grep -oE '\]\([^):]*#[^)]+' "$page" | sed 's/^](//'); do
        target=${link%%#*}
        if [ -n "$target" ]; then target=$(dirname "$page")/$target; else target=$page; fi
        anchors "$target" | grep -qx -e "${link#*#}" || fail "$page points to $link, a heading that does not exist"
    done
done

pages=$(ls *.md docs/*.md docs/man/*.1 bench/*.md bench/results/*.md src/*/README.md tools/*/README.md | grep -v CHANGELOG)
named() { # named PATTERN: what stands so in backquotes, once each
    grep -hoE "\`$1\`" $pages | tr -d '\`' | sort -u
}
for path in $(named '(src|tests|tools|bench|examples|include|scripts|docs|cmake)/[A-Za-z0-9_./-]+'); do
    [ -e "$path" ] || [ -e "$path.c" ] || fail "documents name $path, which is not there"
done
for function in $(named '(dome|dvec|dscalar|dsparse)_[a-z0-9_]+' | grep -v '_x$'); do
    grep -qrw "$function" include src || fail "documents name $function, which is not there"
done
for test in $(named '(unit|multi|start|fault|security|cluster|balance|checkpoint|trace|scripts)\.[a-z0-9_]+' | grep -v '\.[ch]$'); do
    [ -n "$(find "tests/${test%%.*}" -name "${test#*.}.*" -print -quit)" ] || grep -qE "_test\((${test%%.*}[. ])${test#*.} " tests/CMakeLists.txt ||
        fail "documents name the test $test, which is not there"
done
# docs/compared.md has every function that a program calls in its table, in backquotes. What a program asks types and layouts, and
# what structures of one's own call, is not in it.
calls=$(sed -n 's/^|//p' docs/compared.md)
for function in $(python3 tests/scripts/declared.py include/dome/{env,dvec,dscalar,sparse,arrays,comm,map,loop}.h); do
    grep -qF "\`$function\`" <<<"$calls" || fail "the table of docs/compared.md lacks $function"
done

dome=$DOME_BUILD_DIR/tools/dome
if [ -x "$dome" ]; then
    options=$("$dome" run --dome-help | grep -oE '^ +--dome-[a-z-]+' | tr -d ' ')
    for option in $(sed 's/\\//g; s/]([^)]*)/]/g' $pages | grep -oE -e '--dome-[a-z]+(-[a-z]+)*' | sort -u); do
        grep -qx -e "$option" <<<"$options" || fail "documents name $option, which programs do not take"
    done
fi

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
