# One place for every flag. Codec arithmetic must give the same bytes on every machine, so no
# contraction into fused multiply-add and no fast-math, anywhere.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

add_library(tributary_flags INTERFACE)
target_compile_options(tributary_flags INTERFACE
  -ffp-contract=off -fno-fast-math -Wno-psabi
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual)
if(TRIBUTARY_ASSERTIONS)
  target_compile_options(tributary_flags INTERFACE -UNDEBUG)
  target_compile_definitions(tributary_flags INTERFACE _GLIBCXX_ASSERTIONS)
endif()

# Of files that are compiled together GCC takes the first one's unnamed namespace for a header's.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tributary_flags INTERFACE -Wno-subobject-linkage)
endif()

# GCC guesses at std::optional and std::variant, otherwise at every level of optimisation.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(tributary_flags INTERFACE -Wno-maybe-uninitialized)
endif()

# With -O3 or a sanitizer's checks GCC 12 sees paths through std::string and std::vector that are none
# (its bugs 105329 and 105651). The preset dev keeps these warnings.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (TRIBUTARY_SANITIZE OR NOT TRIBUTARY_ASSERTIONS))
  target_compile_options(tributary_flags INTERFACE
    -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict -Wno-array-bounds)
endif()
option(TRIBUTARY_WARNINGS_ARE_ERRORS "For the compilers of Debian 12, whose warnings are known" OFF)
if(TRIBUTARY_WARNINGS_ARE_ERRORS)
  target_compile_options(tributary_flags INTERFACE -Werror)
endif()

# GCC collects its garbage more often than a machine with memory for a compile job needs: a tenth of
# the time of a build.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

set(TRIBUTARY_SIMD_OPTIONS "")
set(TRIBUTARY_TEST_OPTIONS "")
if(TRIBUTARY_SANITIZE)
  # A report has the lines of the libraries. Those of tests, which are half of the code, take a seventh of their
  # compile time, and a failed test is named anyway.
  set(TRIBUTARY_TEST_OPTIONS -g0)
  add_compile_options(-fsanitize=${TRIBUTARY_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${TRIBUTARY_SANITIZE})
  if(TRIBUTARY_SANITIZE MATCHES "thread")
    # What threads share does not depend on the width of a vector, and each width costs a build.
    add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
  endif()
  if(TRIBUTARY_SANITIZE MATCHES "address")
    # Loads and stores of one width show what those of the others would: the dev preset has them all.
    add_compile_definitions(
      "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL)")
    # The address sanitizer reports each use of a null pointer, and the code has no downcasts. Checks
    # of pointers make a file of intrinsics compile ten times as long.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
    set(TRIBUTARY_SIMD_OPTIONS -fno-sanitize=alignment,pointer-overflow)
  endif()
  if(TRIBUTARY_FUZZERS STREQUAL "COUNTERS")
    # Tests and a quick run of the fuzzers share these objects. A counter for each branch takes as long to
    # compile as the address sanitizer, so each function has one. Checks of each access's alignment and of each
    # sum of a pointer take as long again; the preset fuzz has them for every parser.
    add_compile_options(-fsanitize-coverage=func,inline-8bit-counters,pc-table)
    list(APPEND TRIBUTARY_TEST_OPTIONS -fno-sanitize-coverage=func,inline-8bit-counters,pc-table)
    if(TRIBUTARY_SANITIZE MATCHES "undefined")
      add_compile_options(-fno-sanitize=alignment,pointer-overflow)
    endif()
  elseif(TRIBUTARY_FUZZERS)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

# Release builds are linked by GNU's linker.
find_program(MOLD mold)
if(MOLD AND TRIBUTARY_ASSERTIONS AND NOT CMAKE_CROSSCOMPILING)
  add_link_options(-fuse-ld=mold)
endif()

find_program(CCACHE ccache)
set(with_ccache "")
if(CCACHE)
  # It is to look into precompiled headers, and not at when they were written.
  set(with_ccache "${CMAKE_COMMAND}" -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${with_ccache} "${CCACHE}")
endif()

include(TributaryTestCompiler)
