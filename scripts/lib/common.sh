# Shared by the scripts of this folder; sourced, not run. Changes to the top of the source tree.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root" || exit 1
build=${DOME_BUILD_DIR:-$root/build}

say() {
    printf '\n== %s\n' "$*"
}

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

has() {
    command -v "$1" >/dev/null 2>&1
}

has_library() {
    has pkg-config && pkg-config --exists "$1"
}

has_header() {
    printf '#include <%s>\n' "$1" | cc -E - >/dev/null 2>&1
}

# What to do where a package is missing, collected by `need` and `want`: packages, and what each is for.
missing=()
purposes=()

# need PACKAGE PURPOSE TEST...: notes the package unless the command TEST succeeds.
need() {
    local package=$1 purpose=$2
    shift 2
    "$@" && return
    missing+=("$package")
    purposes+=("$package: $purpose")
}

need_build_tools() {
    need gcc "compiles the C sources" has cc
    need libc6-dev "headers of the C library" has_header stdio.h
    need cmake "configures the build" has cmake
    has ninja || need make "runs the build" has make
    need pkg-config "says where libraries are" has pkg-config
    need libglib2.0-dev "GLib: options, containers, tests" has_library glib-2.0
    need libtirpc-dev "XDR: descriptions in checkpoints" has_library libtirpc
    need libxxhash-dev "checksums of checkpoints" has_library libxxhash
    need pvm-dev "PVM3: headers and library" has_header pvm3.h
    need pvm "PVM3: the daemon that starts tasks" has_pvm
}

has_pvm() {
    [ -x "${PVM_ROOT:-/usr/lib/pvm3}/lib/pvmd" ] || has pvmd
}

# Installs what is missing with apt-get, and says so. With "optional": goes on without what cannot be had.
install_missing() {
    [ ${#missing[@]} -gt 0 ] || return 0
    local optional=${1:-} sudo=() reason
    say "Installing Debian packages that are missing here"
    printf '   %s\n' "${purposes[@]}"
    if ! has apt-get; then
        reason="this system has no apt-get: install what the list above stands for, then run this again"
    elif [ "$(id -u)" -ne 0 ] && ! has sudo; then
        reason="only root can do that, and there is no sudo. Run as root: apt-get install ${missing[*]}"
    else
        [ "$(id -u)" -eq 0 ] || sudo=(sudo)
        apt_install "${missing[@]}" || reason="apt-get could not install them; its words are above"
    fi
    if [ -n "${reason:-}" ]; then
        [ -n "$optional" ] || die "$reason"
        echo "   $reason"
        echo "   Going on without them: what needs them is skipped."
    fi
    missing=()
    purposes=()
}

# Lists of packages are brought up to date only if they do not do as they are.
apt_install() {
    local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends)
    if ! "${apt[@]}" -s install "$@" >/dev/null 2>&1 || ! "${apt[@]}" install "$@" </dev/null; then
        echo "   Bringing apt's lists of packages up to date (apt-get update)."
        "${sudo[@]}" apt-get -q update </dev/null && "${apt[@]}" install "$@" </dev/null
    fi
}

# configure [CMAKE ARGUMENTS...]
configure() {
    local generator=()
    if [ ! -f "$build/CMakeCache.txt" ] && has ninja; then
        generator=(-G Ninja)
    fi
    mkdir -p "$build"
    cmake -S "$root" -B "$build" "${generator[@]}" "$@" >"$build/configure.log" 2>&1 || {
        cat "$build/configure.log"
        die "the build cannot be configured; cmake's words are above"
    }
}

compile() {
    cmake --build "$build" --parallel "$(nproc)" "$@" >"$build/build.log" 2>&1 || {
        tail -60 "$build/build.log"
        die "the build failed; its last words are above, all of them in $build/build.log"
    }
}
