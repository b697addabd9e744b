#!/usr/bin/env bash
# Sets up, builds and runs tokendrip with the arguments given. Without arguments and
# without a display it records tokendrip.mp4 instead of opening a window.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
(
    cd "$root"
    # shellcheck source=.ci/setup.sh
    . .ci/setup.sh
    setup_packages .ci/packages-run.txt
    setup_build release build tokendrip
)
if [ $# -eq 0 ] && [ -z "${DISPLAY:-}" ] && [ -z "${WAYLAND_DISPLAY:-}" ]; then
    echo "tokendrip: no display here, so recording tokendrip.mp4 instead of opening a window" >&2
    exec "$root/build/tokendrip" record --overwrite tokendrip.mp4
fi
exec "$root/build/tokendrip" "$@"
