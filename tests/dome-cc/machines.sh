#!/bin/bash
# machines.sh [all]: programs by dome-cc for x86-64, s390x (big-endian, under qemu) and i386 (32 bits), at -O0, -O2 and -O3: captured at
# every poll they write the same images, byte for byte, and so as many; and each goes on from what another one has written, from one to
# the next.
TMPDIR=$([ -w /dev/shm ] && [ -z "${TMPDIR:-}" ] && echo /dev/shm || echo "${TMPDIR:-/tmp}") # thousands of files
export TMPDIR
. "$(dirname "$0")/../capture/common"
export DOME_LAB_S390X=$DOME_BUILD_DIR/tests/s390x DOME_LAB_I386=$DOME_BUILD_DIR/tests/i386
cc=$DOME_BUILD_DIR/tools/dome-cc sources=$DOME_SOURCE_DIR/tests/dome-cc/supported
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }

programs="structs" optimizations="here-O0 s390x-O2 i386-O3 here-O3" most=6
if [ "${1:-}" = all ]; then
    programs=$(cd "$sources" && ls ./*.c | sed 's|^\./||; s/\.c$//; /^files$/d')
    optimizations="here-O0 s390x-O2 i386-O0 here-O2 s390x-O3 i386-O2 here-O3 s390x-O0 i386-O3" most=100
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

build() { # BUILD NAME: BUILD/NAME
    local optimization=-${1#*-} polls=every
    [[ $2 = strips* ]] && polls=auto
    mkdir -p "$1"
    case $1 in
    here-*) set -- "$1" "$2" ;;
    s390x-*) set -- "$1" "$2" --cc=s390x-linux-gnu-gcc --dome="$DOME_LAB_S390X/dome.pc" ;;
    i386-*) set -- "$1" "$2" --cc="i686-linux-gnu-gcc -msse2 -mfpmath=sse" --dome="$DOME_LAB_I386/dome.pc" ;;
    esac
    "$cc" "${@:3}" --polls=$polls "$optimization" "$sources/$2.c" -o "$1/$2" -lm 2>said || fail "$2 for $1: $(head -3 said)"
}

# A program of a build, with arguments; leaves out, err and status.
start() { # BUILD NAME ARGUMENT...
    local program=$PWD/$1/$2
    [[ $1 = s390x-* ]] && set -- "$1" "$2" "${@:3}" && run timeout 300 qemu-s390x-static -L "$DOME_LAB_S390X/root" "$program" "${@:3}" && return
    run timeout 300 "$program" "${@:3}"
}

same_images() { # WHAT DIRECTORY DIRECTORY
    local k name
    [ "$(numbers "$2" | wc -l)" -eq "$(numbers "$3" | wc -l)" ] || fail "$1: $(numbers "$3" | wc -l) polls, not $(numbers "$2" | wc -l)"
    for k in $(numbers "$3"); do
        name=$(printf 'ckpt-%08d.dckpt' "$k")
        cmp -s "$2/$name" "$3/$name" || { fail "$1: the images of poll $k differ"; return; }
    done
}

stops=0
for name in $programs; do
    every=1
    [[ $name = strips* ]] && every=50
    cc -w -O1 "$sources/$name.c" -o plain -lm && run ./plain && mv out plain.out
    expected=$status
    for b in "${builds[@]}"; do
        build "$b" "$name"
        start "$b" "$name" --dome-checkpoint-dir "$b/$name.saved" --dome-checkpoint-every $every --dome-checkpoint-keep 1000000
        [ "$status" = "$expected" ] || fail "$name, $b: status $status, not $expected: $(head -3 err)"
        same "$name, $b: output" plain.out out
        [ "$b" = "${builds[0]}" ] || same_images "$name, $b" "${builds[0]}/$name.saved" "$b/$name.saved"
        [ "$b" = "${builds[0]}" ] || rm -rf "$b/$name.saved"
    done
    [ $failures -eq 0 ] || finish

    # from one to the next
    first=${builds[0]}/$name.saved
    read -ra all < <(numbers "$first" | tr '\n' ' ')
    turn=0 step=$((${#all[@]} / most + 1))
    mkdir wander
    cp "$first/$(printf 'ckpt-%08d.dckpt' "${all[0]}")" wander
    for ((i = 0; i < ${#all[@]}; i += step)); do
        b=${builds[$((turn++ % ${#builds[@]}))]} k=${all[$i]}
        for later in "${all[@]:$((i + 1))}"; do
            rm -f "wander/$(printf 'ckpt-%08d.dckpt' "$later")"
        done
        start "$b" "$name" --dome-checkpoint-dir wander --dome-restart="$k" --dome-checkpoint-every $every --dome-checkpoint-keep 1000000
        [ "$status" = "$expected" ] || fail "$name, $b from poll $k: status $status, not $expected: $(head -3 err)"
        tail -c "$(stat -c %s out)" plain.out | cmp -s - out || fail "$name, $b from poll $k: other output: $(tail -2 out)"
        for later in "${all[@]:$((i + 1)):$step}"; do
            file=$(printf 'ckpt-%08d.dckpt' "$later")
            same "$name, $b from poll $k" "$first/$file" "wander/$file"
        done
        [ $failures -eq 0 ] || finish
    done
    stops=$((stops + turn))
    rm -rf wander "$first"
done
echo "$(wc -w <<<"$programs") programs, ${#builds[@]} builds, $stops times from one to the next"
finish
