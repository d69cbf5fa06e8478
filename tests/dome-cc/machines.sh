#!/bin/bash
# machines.sh [all | NAME...]: programs by dome-cc for x86-64, s390x (big-endian, under qemu) and i386 (32 bits), at -O0, -O2 and -O3:
# captured at every poll (of many polls at 100 of them) they poll as often and write the same images, byte for byte; and from each of
# these, or 40 of them, the next one goes on: to the next image, which is the same again, and to the end. Programs are those of supported/
# and, with little to do and 20 images, those of bench/introspection. A table has what was seen of each program.
# The plain program is that of this machine: cc for x86-64 and i386 takes arguments from right to left, and so does dome-cc everywhere,
# but cc for s390x from left to right, as clang does. Eleven programs show that: there, cc's own print something else.
TMPDIR=$([ -w /dev/shm ] && [ -z "${TMPDIR:-}" ] && echo /dev/shm || echo "${TMPDIR:-/tmp}") # thousands of files
export TMPDIR
. "$(dirname "$0")/../support/captures.bash"
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x DOME_LAB_I386=$DOME_BUILD_DIR/tests/i386
cc=$DOME_BUILD_DIR/tools/dome-cc sources=$DOME_SOURCE_DIR/tests/dome-cc/supported measured=$DOME_SOURCE_DIR/bench/introspection/programs
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }

programs="structs results" optimizations="here-O0 s390x-O2 i386-O3 here-O3" most=6 most_images=100
if [ $# -gt 0 ]; then
    programs=$*
    [ "$1" != all ] || programs=$({ cd "$sources" && ls -- *.c && cd "$measured" && ls; } | sed 's/\.c$//' | grep -vx system_structs)
    optimizations="here-O0 s390x-O2 i386-O0 here-O2 s390x-O3 i386-O2 here-O3 s390x-O0 i386-O3" most=40
fi

for machine in s390x i386; do
    why=$("$DOME_SOURCE_DIR/tools/dome-lab-$machine" 2>&1)
    case $? in
    0) ;;
    77) echo "without $machine: ${why#dome-lab-*: }" && optimizations=$(sed "s/$machine-O[0-9]//g" <<<"$optimizations") ;;
    *) fail "$why" && finish ;;
    esac
done
read -ra builds <<<"$optimizations"
case $optimizations in *s390x* | *i386*) ;; *) echo "skipped: no other machine" && exit 77 ;; esac

declare -A small=([conjugate_gradients]="12 8" [gauss_elimination]=14 [gauss_seidel]="10 4" [integer_sort]=1 [land_use]="2 8" [matrix_product]=12
    [multigrid]="8 1" [quicksort]=500 [random_pairs]=2000 [small_functions]=1 [smith_waterman]=2 [sparse_eigenvalue]="100 1" [tree]=60 [word_search]=3)

files_of() { # NAME: its sources
    if [ -e "$sources/$1.c" ]; then
        files=("$sources/$1.c")
    elif [ -d "$measured/$1" ]; then
        files=("$measured/$1"/*.c)
    else
        files=("$measured/$1.c")
    fi
}

build() { # BUILD NAME: BUILD/NAME
    local machine=${1%-*} optimization=-${1#*-} polls=every compiler="cc" options=()
    [[ $2 = strips* ]] && polls=auto
    mkdir -p "$1"
    case $machine in
    s390x) compiler=s390x-linux-gnu-gcc options=(--cc="$compiler" --dome="$DOME_LAB_S390X/dome.pc") ;;
    i386) compiler="i686-linux-gnu-gcc -msse2 -mfpmath=sse" options=(--cc="$compiler" --dome="$DOME_LAB_I386/dome.pc") ;;
    esac
    [ -e "stops.$machine.o" ] ||
        $compiler -O1 -I"$DOME_SOURCE_DIR/include" -c "$DOME_SOURCE_DIR/tests/dome-cc/programs/stops.c" -o "stops.$machine.o" || fail "stops"
    "$cc" "${options[@]}" -w --polls=$polls "$optimization" "${files[@]}" "stops.$machine.o" -Wl,--wrap=dome_capture_main -o "$1/$2" \
        -lm 2>said || fail "$2 for $1: $(head -3 said)"
}

# A program of a build, with arguments; leaves out, err and status.
start() { # BUILD NAME ARGUMENT...
    local program=$PWD/$1/$2
    case $1 in
    s390x-*) run timeout 300 "$DOME_LAB_S390X/run" "$program" "${@:3}" ;;
    i386-*) run timeout 300 "$DOME_LAB_I386/run" "$program" "${@:3}" ;;
    *) run timeout 300 "$program" "${@:3}" ;;
    esac
}

same_images() { # WHAT DIRECTORY DIRECTORY
    local k name
    [ "$(numbers "$2" | wc -l)" -eq "$(numbers "$3" | wc -l)" ] || fail "$1: $(numbers "$3" | wc -l) polls, not $(numbers "$2" | wc -l)"
    for k in $(numbers "$3"); do
        printf -v name 'ckpt-%08d.dckpt' "$k"
        cmp -s "$2/$name" "$3/$name" || { fail "$1: the images of poll $k differ"; return; }
    done
}

polls_of() { # of the last run
    sed -n 's/^polls //p' err
}

# commas NUMBER: 1,234,567
commas() {
    sed -E ':more; s/^([0-9]+)([0-9]{3})/\1,\2/; t more' <<<"$1"
}

# row PROGRAM POLLS STOPS CONTINUED MACHINES BUILDS BYTES: a line of the table
row() {
    printf '%-20s %9s %6s %9s %8s %6s %15s\n' "$@"
}

# bytes FILE...: how many they have
bytes() {
    cat "$@" | wc -c
}

# file_of POLL: the file of `files`, which it has removed in the end, as it was at this poll.
file_of() {
    rm -rf unfinished
    STOPS_END=$1 start "${builds[0]}" files --dome-checkpoint-dir unfinished --dome-checkpoint-every "$1"
    [ -e files.tmp ] || [ "$(polls_of)" -eq "$total" ] || fail "files: it has no file at poll $1"
}

# one NAME: builds the program for all, and goes from one to the next; a line of the table. Returns at the first failure.
one() {
    local name=$1 arguments=() images=$most_images expected total='' every b first all turn=0 step i k next before file compared
    files_of "$name"
    [ -z "${small[$name]:-}" ] || { read -ra arguments <<<"${small[$name]}" && images=20; }
    cc -w -O1 -ffp-contract=off "${files[@]}" -o plain -lm && run ./plain "${arguments[@]}" && mv out plain.out
    expected=$status
    [ "$expected" -lt 128 ] || { fail "$name: the compiler's program dies with status $expected: $(head -3 err)" && return; }
    for b in "${builds[@]}"; do
        build "$b" "$name"
        if [ -z "$total" ]; then
            start "$b" "$name" "${arguments[@]}"
            total=$(polls_of)
            [ "${total:-0}" -gt 0 ] || { fail "$name, $b: it does not poll" && return; }
            every=$((total / images + 1))
        fi
        start "$b" "$name" "${arguments[@]}" --dome-checkpoint-dir "$b/$name.saved" --dome-checkpoint-every $every --dome-checkpoint-keep 1000000
        [ "$status" = "$expected" ] || fail "$name, $b: status $status, not $expected: $(head -3 err)"
        same "$name, $b: output" plain.out out
        [ "$(polls_of)" = "$total" ] || fail "$name, $b: $(polls_of) polls, not $total"
        [ "$b" = "${builds[0]}" ] || same_images "$name, $b" "${builds[0]}/$name.saved" "$b/$name.saved"
        [ "$b" = "${builds[0]}" ] || rm -rf "$b/$name.saved"
    done
    [ $failures -eq 0 ] || return

    # from one to the next
    first=${builds[0]}/$name.saved
    read -ra all < <(numbers "$first" | tr '\n' ' ')
    compared=$(($(bytes "$first"/ckpt-*) * (${#builds[@]} - 1)))
    step=$((${#all[@]} / most + 1))
    for ((i = 0; i < ${#all[@]}; i += step)); do
        b=${builds[$((turn++ % ${#builds[@]}))]} k=${all[$i]} next=${all[$((i + 1))]:-}
        rm -rf wander && mkdir wander
        for before in "${all[@]:0:$((i + 1))}"; do # a checkpoint may need earlier ones
            printf '%s/ckpt-%08d.dckpt\n' "$first" "$before"
        done | xargs ln -t wander
        [ "$name" != files ] || file_of $((k * every))
        # by default a slow machine saves now and then, under the names that the next run writes
        start "$b" "$name" --dome-checkpoint-dir wander --dome-restart="$k" --dome-checkpoint-every 1000000000
        [ "$status" = "$expected" ] || fail "$name, $b from poll $((k * every)): status $status, not $expected: $(head -3 err)"
        tail -c "$(stat -c %s out)" plain.out | cmp -s - out || fail "$name, $b from poll $((k * every)): other output: $(tail -2 out)"
        [ "$(polls_of)" = "$total" ] || fail "$name, $b from poll $((k * every)): $(polls_of) polls, not $total"
        if [ -n "$next" ]; then
            [ "$name" != files ] || file_of $((k * every))
            export STOPS_END=$((next * every))
            start "$b" "$name" --dome-checkpoint-dir wander --dome-restart="$k" --dome-checkpoint-every $every --dome-checkpoint-keep 1000000
            unset STOPS_END
            file=$(printf 'ckpt-%08d.dckpt' "$next")
            same "$name, $b from poll $((k * every)) to $((next * every))" "$first/$file" "wander/$file"
            compared=$((compared + $(bytes "$first/$file")))
        fi
        [ $failures -eq 0 ] || return
    done
    row "$name" "$(commas "$total")" ${#all[@]} $turn "${#machines[@]}" ${#builds[@]} "$(commas $compared)"
    passed=$((passed + 1)) stops=$((stops + ${#all[@]})) went=$((went + turn)) same_bytes=$((same_bytes + compared))
}

read -ra machines < <(printf '%s\n' "${builds[@]%-*}" | sort -u | tr '\n' ' ')
row program polls stops continued machines builds 'same bytes'
passed=0 stops=0 went=0 same_bytes=0 failed=0
for name in $programs; do
    failures=0
    one "$name"
    failed=$((failed + (failures > 0)))
    rm -rf wander ./*/"$name".saved
done
failures=$failed
echo "$passed of $(wc -w <<<"$programs") programs on ${machines[*]/here/$(uname -m)} (${builds[*]}): stopped $stops times in each build, went on $went" \
    "times on the next one; polls, output and $(commas $same_bytes) bytes of checkpoints the same"
finish
