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

# Sanitizers' checks and -O3 lead GCC to see paths that are none (-Wstringop-overread in a library's
# header), so there warnings are told and the dev preset is where they are errors.
if(TRIBUTARY_ASSERTIONS AND NOT TRIBUTARY_SANITIZE)
  target_compile_options(tributary_flags INTERFACE -Werror)
endif()

# GCC collects its garbage more often than a machine with memory for a compile job needs: a tenth of
# the time of a build.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=524288)
endif()

if(TRIBUTARY_SANITIZE)
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
  endif()
  if(TRIBUTARY_FUZZERS)
    add_compile_options(-fsanitize=fuzzer-no-link)
  endif()
endif()

find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE}")
endif()
