#!/bin/bash
# Every example prints the same bytes and writes the same files whatever moves its data, with any number of tasks;
# data goes where it may. Arguments: the numbers of tasks.
. "$(dirname "$0")/../support/programs.bash"
export OPENBLAS_NUM_THREADS=1
cp "$matrix" lund_a.mtx
numbers=${*:-3}
[ "$counts" != self ] || numbers=self

# program, arguments, files it writes
examples_run="inner_product::
matmul:--generate 300 A.npy B.npy:A.npy B.npy
matmul:A.npy B.npy C.npy:C.npy
cg:lund_a.mtx:
laplace:20 30:
heat:--rows 70 --columns 40 --steps 40:heat.npy heat.pgm
lists::
particles:--particles 600 --steps 30:
md:--cells 3 --steps 15 --thermo 5:"

# take_profile: what --dome-profile has printed goes from err to profile.
take_profile() {
    sed -n '/^dome: [0-9]* tasks\{0,1\}; seconds per task/,$p' err >profile
    sed -i '/^dome: [0-9]* tasks\{0,1\}; seconds per task/,$d' err
}

# flow WHAT TASKS OPTIONS: data has moved; under the policy ring, only between those tasks between which it may.
flow() {
    local what=$1 tasks=$2 options=$3
    grep -q '^balance: ' profile || fail "$what: no profile"
    if [[ $tasks != [1s]* && $options == *"balance random"* ]]; then
        grep -q '^balance: random, .* data moved in [1-9]' profile || fail "$what: nothing moved: $(grep '^balance' profile)"
    fi
    [[ $options == *"balance ring"* && $options != *group* ]] || return
    ! grep -q '^blocks moved: .* further [1-9]' profile || fail "$what: $(grep '^blocks' profile)"
    [[ $options != *linear* ]] || ! grep -q '^blocks moved: .* around the ends [1-9]' profile || fail "$what: $(grep '^blocks' profile)"
}

# all TASKS OPTIONS...: runs every example. The first time makes what the others are compared with.
mkdir expected
all() {
    local tasks=$1 program arguments files file what expected
    shift
    while IFS=: read -r program arguments files; do
        what="$program $arguments, $tasks tasks, $*"
        rm -f $files
        run "$tasks" "$program" $arguments "$@" --dome-profile
        take_profile
        well "$what"
        for file in out $files; do
            expected=expected/$program.${arguments%% *}.$file
            [ -f "$expected" ] || cp "$file" "$expected"
            same "$what" "$expected" "$file"
        done
        # lists moves data by itself, and matrices are made without a call in which data may move.
        case "$program $arguments" in
        lists* | *--generate*) ;;
        *) flow "$what" "$tasks" "$*" ;;
        esac
    done <<<"$examples_run"
}

all self --dome-balance none
for tasks in $numbers; do
    all "$tasks" --dome-balance none
    for topology in ring linear; do
        all "$tasks" --dome-balance global --dome-balance-every 3 --dome-topology $topology
        all "$tasks" --dome-balance ring --dome-balance-every 2 --dome-topology $topology
        all "$tasks" --dome-balance random --dome-check-pointers --dome-topology $topology
    done
done
all "$most" --dome-balance ring --dome-balance-group 3 --dome-balance-every 1
all "$most"
finish
