# A folder holds its code, its tests, its fuzzers and its benchmarks side by side, and the file's
# name says which it is:
#   x.h x.cc        the code, added to the library
#   x_test.cc       a unit test; x_slow_test.cc is left out of ./dev test --fast, and so are
#                   parameterised suites instantiated under a name that begins with Slow
#   x_fuzz.cc       one libFuzzer target, its seed corpus in x_fuzz_corpus/
#   x_testing.h     what the tests of several folders share; neither installed nor in the library
#   x_bench.cc      part of the benchmark program in bench/
#   x-inl.h         compiled once per SIMD target, inside another file; not installed either
# Presets compile several files of a program or library at once (a unity build, which takes half of
# the time and less), but for lint, which reads each alone. So no two of them give one name to
# different things, nor may one that Highway compiles once per target stand among others: their names
# say simd.
# CONFIGURE_DEPENDS makes the build notice a new file by itself. Every other header must compile
# alone: x.cc and x_test.cc include x.h first, and ./dev lint builds those without
# (all_verify_interface_header_sets).

include(TributaryTestCompiler)

set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

set(TRIBUTARY_BENCH_SOURCES "" CACHE INTERNAL "")

# What the sanitizers' presets and ./dev fuzz build: a whole build takes twice as long.
add_custom_target(test_programs)
add_custom_target(logic_tests)
add_custom_target(thread_tests)
add_custom_target(fuzzers)

# tributary_headers(LIBRARY headers...): what LIBRARY's users may include.
function(tributary_headers library)
  set(lone ${ARGN})
  list(FILTER lone INCLUDE REGEX "\\.h$")
  foreach(header ${lone})
    string(REGEX REPLACE "\\.h$" "" stem "${header}")
    if(EXISTS "${stem}.cc" OR EXISTS "${stem}_test.cc")
      list(REMOVE_ITEM lone "${header}")
    endif()
  endforeach()
  set(proven ${ARGN})
  if(lone)
    list(REMOVE_ITEM proven ${lone})
  endif()
  target_sources(${library} PUBLIC
    FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${proven}
    FILE_SET lone_headers TYPE HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${lone})
  set_target_properties(${library} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY lone_headers)
endfunction()

# tributary_named(RESULT ENDING sources...): those whose names end so.
function(tributary_named result ending)
  set(found ${ARGN})
  list(FILTER found INCLUDE REGEX "${ending}\\.cc$")
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# tributary_folder(LIBRARY [FOLDERS folders...] [LINK libs...] [LABELS labels...]
# [MARK label=regex...] [HOT] [LOGIC] [BESIDE sources...]): this folder and FOLDERS below it belong to LIBRARY,
# but for BESIDE, which another target of the folder has. All its tests are one program, named after
# this folder. LABELS are of all its tests, MARK of the cases whose PROGRAM.Suite.Case matches:
#   threads  what the thread sanitizer runs
#   replay   many seeds or sizes of what other cases run as well; not for a sanitizer
#   long     run with ./dev test --all only
# HOT tests compute more than their library does. LOGIC decides by numbers that other folders have read and
# checked, and owns no raw memory: a sanitizer's run leaves its tests out unless all are asked for.
function(tributary_folder library)
  cmake_parse_arguments(arg "HOT;LOGIC" "" "FOLDERS;LINK;LABELS;MARK;BESIDE" ${ARGN})
  list(TRANSFORM arg_FOLDERS APPEND "/*.cc" OUTPUT_VARIABLE sources_below)
  list(TRANSFORM arg_FOLDERS APPEND "/*.h" OUTPUT_VARIABLE headers_below)
  file(GLOB sources CONFIGURE_DEPENDS "*.cc" ${sources_below})
  file(GLOB headers CONFIGURE_DEPENDS "*.h" ${headers_below})
  tributary_named(slow_tests "_slow_test" ${sources})
  tributary_named(tests "_test" ${sources})
  tributary_named(fuzzers "_fuzz" ${sources})
  tributary_named(benches "_bench" ${sources})
  list(TRANSFORM arg_BESIDE PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/")
  list(REMOVE_ITEM sources ${tests} ${fuzzers} ${benches} ${arg_BESIDE})
  list(FILTER headers EXCLUDE REGEX "(_testing|-inl)\\.h$")
  if(slow_tests)
    list(REMOVE_ITEM tests ${slow_tests})
  endif()

  target_sources(${library} PRIVATE ${sources})
  set(simd_sources ${sources})
  list(FILTER simd_sources INCLUDE REGEX "simd[^/]*\\.cc$")
  set_source_files_properties(${simd_sources} TARGET_DIRECTORY ${library}
                              PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
                                         SKIP_PRECOMPILE_HEADERS ON
                                         COMPILE_OPTIONS "${TRIBUTARY_SIMD_OPTIONS}")
  tributary_headers(${library} ${headers})

  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" prefix "${folder}")
  if(arg_LOGIC)
    list(APPEND arg_LABELS logic)
  endif()
  if(BUILD_TESTING)
    tributary_test(${prefix}_test SOURCES ${tests} LINK ${library} ${arg_LINK}
                   LABELS ${arg_LABELS} MARK ${arg_MARK})
    tributary_test(${prefix}_slow_test SOURCES ${slow_tests} LINK ${library} ${arg_LINK}
                   LABELS slow ${arg_LABELS} MARK ${arg_MARK})
    foreach(tests ${prefix}_test ${prefix}_slow_test)
      if(arg_HOT AND TARGET ${tests} AND tests MATCHES "${TRIBUTARY_HOT_TARGETS}")
        target_compile_options(${tests} PRIVATE ${TRIBUTARY_HOT_OPTIONS})
        set_target_properties(${tests} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
      endif()
    endforeach()
  endif()
  if(TRIBUTARY_FUZZERS)
    foreach(fuzzer ${fuzzers})
      tributary_fuzzer(${prefix} "${fuzzer}" ${library} ${arg_LINK})
    endforeach()
  endif()
  set(TRIBUTARY_BENCH_SOURCES ${TRIBUTARY_BENCH_SOURCES} ${benches} CACHE INTERNAL "")
endfunction()

# tributary_with_threads(RESULT REGEX sources...): those with a test whose Suite.Case matches what is before
# the parameters in REGEX, and those without a test.
function(tributary_with_threads result regex)
  string(REGEX REPLACE "/([(][^)]*[)]|[^|()]*)" "" regex "${regex}")
  set(found "")
  foreach(source ${ARGN})
    file(READ "${source}" text)
    string(REGEX MATCHALL "TEST(_F|_P)?[(][A-Za-z0-9_]+,[ \n]*[A-Za-z0-9_]+[)]" tests "${text}")
    string(REGEX REPLACE "TEST(_F|_P)?[(]([A-Za-z0-9_]+),[ \n]*([A-Za-z0-9_]+)[)]" "\\2.\\3" tests "${tests}")
    if(tests)
      list(FILTER tests INCLUDE REGEX "${regex}")
      if(NOT tests)
        continue()
      endif()
    endif()
    list(APPEND found "${source}")
  endforeach()
  set(${result} ${found} PARENT_SCOPE)
endfunction()

# tributary_test(NAME SOURCES files... LINK libs... [LABELS labels...] [MARK label=regex...]): one
# GoogleTest program; each suite in it is a test of CTest's (list_suites.py), and each case is counted.
# A program of a few thousand cases takes seconds as one process and minutes as one process a case.
function(tributary_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS;MARK" ${ARGN})
  if(TRIBUTARY_SANITIZE MATCHES "thread" AND arg_MARK MATCHES "threads=([^;]*)")
    tributary_with_threads(arg_SOURCES "${CMAKE_MATCH_1}" ${arg_SOURCES})
  endif()
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} tributary_flags GTest::gmock_main)
  tributary_compile_as_test(${name})
  # GCC asks for every member of a record that a test sets in part by names; clang does not.
  target_compile_options(${name} PRIVATE -Wno-missing-field-initializers)
  tributary_precompiled(${name} test)
  if("logic" IN_LIST arg_LABELS)
    add_dependencies(logic_tests ${name})
  else()
    add_dependencies(test_programs ${name})
  endif()
  set(suites "${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake")
  set(wanted "")
  if(TRIBUTARY_TEST_CASES)
    list(APPEND wanted --only "${TRIBUTARY_TEST_CASES}")
  endif()
  if(arg_MARK)
    list(APPEND wanted --mark ${arg_MARK})
  endif()
  if(arg_MARK MATCHES "threads=")
    add_dependencies(thread_tests ${name})
  endif()
  if(arg_LABELS)
    list(APPEND wanted --labels ${arg_LABELS})
  endif()
  add_custom_command(TARGET ${name} POST_BUILD VERBATIM BYPRODUCTS "${suites}"
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/list_suites.py" --name ${name}
            --out "${suites}" --results "${PROJECT_BINARY_DIR}/results" ${wanted} --
            ${CMAKE_CROSSCOMPILING_EMULATOR} "$<TARGET_FILE:${name}>")
  # This entry makes CTest fail for a program that is not built. Without it nobody would notice.
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake")
  file(CONFIGURE OUTPUT "${script}" @ONLY CONTENT [=[
if(EXISTS "@suites@")
  include("@suites@")
else()
  add_test(@name@_NOT_BUILT @name@_NOT_BUILT)
  set_tests_properties(@name@_NOT_BUILT PROPERTIES LABELS "@arg_LABELS@")
endif()
]=])
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
endfunction()

function(tributary_fuzzer prefix source)
  get_filename_component(stem "${source}" NAME_WE)
  set(name ${prefix}_${stem})
  add_executable(${name} "${source}")
  target_link_libraries(${name} PRIVATE ${ARGN} tributary_flags)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  if(TRIBUTARY_FUZZERS STREQUAL "COUNTERS")
    target_compile_options(${name} PRIVATE -g0)
    tributary_precompiled(${name} test)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzzers")
  add_dependencies(fuzzers ${name})
  # Where ./dev fuzz finds the seeds of this target.
  get_filename_component(folder "${source}" DIRECTORY)
  file(WRITE "${PROJECT_BINARY_DIR}/fuzzers/${name}.corpus" "${folder}/${stem}_corpus\n")
endfunction()
