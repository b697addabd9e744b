# Installs the packages of the lists named as arguments that are missing; quick when
# there are none. Sourced by run.sh and test.sh, from the repository's root.

setup_packages() {
    local wanted missing='' package as_root=''
    wanted=$(cat "$@" | grep -v '^#')
    if ! command -v dpkg-query >/dev/null 2>&1; then
        echo "tokendrip: no dpkg here. Install by hand what these lists name: $*" >&2
        return 0
    fi
    # One call for all: names of those that are installed.
    local installed
    # shellcheck disable=SC2086
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
        sed -n 's/^installed //p' || true)
    for package in $wanted; do
        grep -qx "$package" <<<"$installed" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "tokendrip: packages are missing and there is no sudo. As root: apt-get install$missing" >&2
            return 1
        fi
        as_root=sudo
    fi
    echo "tokendrip: installing$missing" >&2
    export DEBIAN_FRONTEND=noninteractive
    local log
    log=$(mktemp)
    # shellcheck disable=SC2086
    if ! { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        echo "tokendrip: the packages could not be installed; the lines above say why" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}

# Configures a preset and builds it, or only the targets named; silent when there is
# nothing to do. SETUP_AGAIN=1 configures even when that was done before, since more
# packages may be there now.
setup_build() {
    local preset=$1 folder=$2 log
    shift 2
    log=$(mktemp)
    if [ ! -f "$folder/build.ninja" ] || [ -n "${SETUP_AGAIN:-}" ]; then
        if ! cmake --preset "$preset" >"$log" 2>&1; then
            cat "$log" >&2
            rm -f "$log"
            return 1
        fi
        grep -- '-- .*: o[nf]' "$log" | sed 's/^-- /tokendrip: /' >&2
    fi
    if ! cmake --build "$folder" ${1:+--target "$@"} >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        return 1
    fi
    rm -f "$log"
}
