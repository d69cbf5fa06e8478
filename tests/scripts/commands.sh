#!/bin/bash
# Each subcommand of dome, and each option its help lists, is in a man page and known to the shell's completion.
. "$(dirname "$0")/../support/checks.bash"
dome=$DOME_BUILD_DIR/tools/dome man=$DOME_SOURCE_DIR/docs/man
[ -x "$dome" ] || { echo "skipped: there is no dome"; exit 77; }

options() { # HELP-COMMAND...
    "$@" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z][a-z-]*' | grep -oE '\-\-[a-z-]+'
}

# WORD...: what the completion of the last word offers
completed() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dome; printf "%s\n" "${COMPREPLY[@]}"' \
        bash "$DOME_SOURCE_DIR/tools/completion/dome" "$dome" "$@"
}

commands=$("$dome" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
[ "$(grep -c '' <<<"$commands")" -ge 3 ] || fail "commands: $commands"
offered=$(completed '')
for command in $commands; do
    page=$man/dome-$command.1
    [ -f "$page" ] || { fail "there is no $page"; continue; }
    grep -q "^.BR dome.-$command (1)" "$man/dome.1" || fail "dome.1 does not name $command"
    grep -qx "$command" <<<"$offered" || fail "the completion does not know $command: $offered"
    for option in $(options "$dome" $command); do
        [ "$option" = --help ] && continue
        sed 's/\\//g' "$page" | grep -q -e "$option\b" || fail "dome-$command.1 does not name $option"
        [ "$command" = ckpt ] || completed "$command" "${option%?}" | grep -qx -e "$option" || fail "the completion of dome $command does not know $option"
    done
done
if grep -qx ckpt <<<"$commands"; then # with checkpoints
    grep -q -x verify <<<"$(completed ckpt '')" || fail "completion of dome ckpt"
    [ "$(completed ckpt ls --j)" = --json ] || fail "completion of dome ckpt ls: $(completed ckpt ls --j)"
fi
[ "$(completed hosts a)" = add ] || fail "completion of dome hosts: $(completed hosts a)"
[ "$(completed run --on-loss te)" = tell ] || fail "completion of the words of --on-loss: $(completed run --on-loss te)"
[ "$(completed run --on-loss = te)" = tell ] || fail "completion of --on-loss=: $(completed run --on-loss = te)"

# Behind the program's name: the options of every Dome program, and their words; else files.
[ "$(completed run ./prog --dome-tas)" = --dome-tasks ] || fail "completion behind a program: $(completed run ./prog --dome-tas)"
[ "$(completed run -n 4 ./prog x --dome-topology '' | xargs)" = "ring linear" ] || fail "completion of an option's words"
[ "$(completed run ./prog --dome-topology = l)" = linear ] || fail "completion of an option's word"
[ -z "$(completed run ./prog '')$(completed run ./prog --dome-trace '')" ] || fail "completion of the program's files"

# the compilers, where they are built
for compiler in dome-cc dome-omp; do
    cc=$DOME_BUILD_DIR/tools/$compiler
    for option in $([ -x "$cc" ] && options "$cc"); do
        [ "$option" = --help ] && continue
        sed 's/\\//g' "$man/$compiler.1" | grep -q -e "$option\b" || fail "$compiler.1 does not name $option"
        bash -c '. "$1"; COMP_WORDS=("$2" "$3"); COMP_CWORD=1; _${4/-/_}; printf "%s\n" "${COMPREPLY[@]}"' \
            bash "$DOME_SOURCE_DIR/tools/completion/$compiler" "$cc" "${option%?}" "$compiler" | grep -qx -e "$option" ||
            fail "the completion of $compiler does not know $option"
    done
done

version=$("$dome" --version)
for page in "$man"/*.[17]; do
    grep -q "\"Dome ${version#dome }\"" "$page" || fail "${page##*/} is of another version than $version"
    if command -v groff >/dev/null; then
        words=$(groff -ww -man -z "$page" 2>&1)
        [ -z "$words" ] || fail "${page##*/}: $words"
    fi
done
exit $((failures > 0))
