# Every test by name. Labels: unit (also run under address and undefined behaviour
# sanitizers), threads (also under the thread sanitizer), golden, cli, window,
# fuzz-smoke. Skips are exit code 77.
set(TOKENDRIP_TEST_DEFINITIONS
    TOKENDRIP_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    TOKENDRIP_TESTDATA="${TOKENDRIP_TESTDATA}")

# tokendrip_program(NAME FOLDER LIBRARY extra sources...): tests/FOLDER/NAME.c
function(tokendrip_program name folder library)
    set(sources ${CMAKE_SOURCE_DIR}/tests/${folder}/${name}.c)
    foreach(extra IN LISTS ARGN)
        list(APPEND sources ${CMAKE_SOURCE_DIR}/tests/${extra})
    endforeach()
    add_executable(${name} ${sources})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_compile_definitions(${name} PRIVATE ${TOKENDRIP_TEST_DEFINITIONS})
    target_link_libraries(${name} PRIVATE tokendrip_flags ${library})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
endfunction()

# tokendrip_test(NAME FOLDER LIBRARY LABELS extra sources...)
function(tokendrip_test name folder library labels)
    tokendrip_program(${name} ${folder} ${library} ${ARGN})
    target_link_libraries(${name} PRIVATE PkgConfig::CMOCKA PkgConfig::JANSSON)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    add_test(NAME ${name} COMMAND ${name})
    string(REPLACE "," ";" labels "${labels}")
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 300
        ENVIRONMENT "TSAN_OPTIONS=halt_on_error=1;ASAN_OPTIONS=detect_leaks=1")
endfunction()

if(TOKENDRIP_TESTS)
    tokendrip_need(CMOCKA cmocka libcmocka-dev)
    set(random compute/random_run.c)
    tokendrip_test(test_run compute tokendrip_compute unit ${random})
    tokendrip_test(test_publish compute tokendrip_compute unit,threads ${random})
    tokendrip_test(test_runfile compute tokendrip_compute unit ${random})
    tokendrip_test(test_schedule compute tokendrip_compute unit)
    tokendrip_test(test_playhead app tokendrip_app unit)
    tokendrip_test(test_scene app tokendrip_app unit ${random})
    tokendrip_test(test_actions app tokendrip_app unit ${random})

    find_package(Python3 COMPONENTS Interpreter REQUIRED)
    add_test(NAME include_rule
        COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tests/cli/check_includes.py
                ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    set_tests_properties(include_rule PROPERTIES LABELS cli)
endif()
