include_guard(GLOBAL)

# Half of the code is tests, and clang compiles those without optimisation in half of GCC's time. Libraries and
# programs are compiled by CMAKE_CXX_COMPILER, as in a release, and so are all tests of the preset release.
set(TRIBUTARY_TEST_COMPILER "" CACHE STRING "The compiler of tests, if it is another one: clang++")
set(TRIBUTARY_TEST_LAUNCHER "")
if(TRIBUTARY_TEST_COMPILER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  find_program(TRIBUTARY_TEST_COMPILER_FOUND "${TRIBUTARY_TEST_COMPILER}")
  if(TRIBUTARY_TEST_COMPILER_FOUND)
    set(TRIBUTARY_TEST_LAUNCHER "${CMAKE_CURRENT_LIST_DIR}/compiler_of_tests.sh" "${TRIBUTARY_TEST_COMPILER_FOUND}")
    # CMake gives it GCC's options.
    list(APPEND TRIBUTARY_TEST_OPTIONS -O0 -g0 -Wno-unknown-warning-option -Wno-unused-command-line-argument)
  endif()
endif()

# tributary_compile_as_test(TARGET): TARGET has tests, or the precompiled headers of tests.
function(tributary_compile_as_test target)
  target_compile_options(${target} PRIVATE ${TRIBUTARY_TEST_OPTIONS})
  if(TRIBUTARY_TEST_LAUNCHER)
    set(launcher ${TRIBUTARY_TEST_LAUNCHER})
    if(CCACHE)
      set(launcher ${with_ccache} "TRIBUTARY_LAUNCHER=${CCACHE}" ${launcher})
    endif()
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${launcher}")
  endif()
endfunction()
