#!/usr/bin/env bash
# Sets up, builds and tests everything: the style check, all tests of the release
# build, those of parsers and scenes under address and undefined behaviour
# sanitizers, those with threads under the thread sanitizer.
#   ./test.sh           all of it
#   ./test.sh REGEX     only the release build's tests whose names match
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=.ci/setup.sh
. .ci/setup.sh
setup_packages .ci/packages-run.txt .ci/packages-test.txt
SETUP_AGAIN=1

say() { printf '\n== %s\n' "$*"; }
jobs=$(nproc)

if [ $# -gt 0 ]; then
    setup_build release build
    exec ctest --test-dir build --output-on-failure -j "$jobs" -R "$1"
fi

say "style: clang-format"
git ls-files -z -- '*.c' '*.h' '*.cu' '*.cuh' '*.cpp' | xargs -0 clang-format --dry-run --Werror
echo "clean"

say "release build"
setup_build release build
say "address and undefined behaviour sanitizers: build"
setup_build asan build-asan
say "thread sanitizer: build"
setup_build tsan build-tsan

say "fuzz targets: build, and five seconds each"
setup_build fuzz build-fuzz
for target in build-fuzz/fuzz/fuzz_*; do
    log=$(mktemp)
    if ! "$target" -max_total_time=5 -rss_limit_mb=2048 >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "FAILED: $target"
        exit 1
    fi
    echo "$(basename "$target"): $(grep -o 'stat::number_of_executed_units: *[0-9]*\|Done [0-9]* runs' "$log" | tail -n 1)"
    rm -f "$log"
done

failed=0
say "tests under address and undefined behaviour sanitizers"
ctest --test-dir build-asan --output-on-failure -j "$jobs" -L unit || failed=1
say "tests under the thread sanitizer"
ctest --test-dir build-tsan --output-on-failure -j "$jobs" -L threads || failed=1
say "all tests, release build"
# Windows mostly wait: two more at a time than there are processors.
ctest --test-dir build --output-on-failure -j "$((jobs + 2))" || failed=1
exit "$failed"
