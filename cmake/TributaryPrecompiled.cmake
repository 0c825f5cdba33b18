# Headers that nearly every file includes are read once and not once a file. `standard` is the
# standard library, and `messages` has what flatc wrote besides, which takes as long as all the rest.
# Each is there for libraries, for hot ones where those are compiled otherwise, and for test
# programs, with GoogleTest. Qt's headers would take longer to write than all files of the
# dashboard win.
# A file includes what it uses all the same: ./dev lint reads it without them.

set(TRIBUTARY_PRECOMPILED_DIR "${CMAKE_CURRENT_LIST_DIR}/precompiled")
option(TRIBUTARY_PRECOMPILE "Read common headers once" ON)
set(TRIBUTARY_HOT_OPTIONS "" CACHE STRING
    "Compiler options of the libraries that compute: tests and training spend their time there")
# A sanitizer doubles the time that the compiler needs to optimise, and some libraries' tests never recover it.
set(TRIBUTARY_HOT_TARGETS "." CACHE STRING
    "Regular expression: those of these libraries and tests that get the options")

# tributary_precompile(TARGET headers...): makes the precompiled header of TARGET, without ccache. ccache
# hashes what the preprocessor prints. If a precompiled header exists already, GCC prints a reference to it
# in place of the headers, so two different changes of one state have one hash, and ccache returns the
# result of the first for the second.
function(tributary_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "")
endfunction()

# tributary_precompiled_kind(KIND [HOT] [LINK libs...]) sets the precompiled header that the folders
# below use from here on.
macro(tributary_precompiled_kind kind)
  cmake_parse_arguments(arg "HOT" "" "LINK" ${ARGN})
  set(TRIBUTARY_PRECOMPILED ${kind})
  if(TRIBUTARY_PRECOMPILE)
    set(header "${TRIBUTARY_PRECOMPILED_DIR}/${kind}.h")
    add_library(tributary_precompiled_${kind} OBJECT "${TRIBUTARY_PRECOMPILED_DIR}/none.cc")
    target_link_libraries(tributary_precompiled_${kind} PRIVATE tributary_flags ${arg_LINK})
    tributary_precompile(tributary_precompiled_${kind} "${header}")
    if(arg_HOT AND TRIBUTARY_HOT_OPTIONS)
      add_library(tributary_precompiled_${kind}_hot OBJECT "${TRIBUTARY_PRECOMPILED_DIR}/none.cc")
      target_link_libraries(tributary_precompiled_${kind}_hot PRIVATE tributary_flags ${arg_LINK})
      target_compile_options(tributary_precompiled_${kind}_hot PRIVATE ${TRIBUTARY_HOT_OPTIONS})
      tributary_precompile(tributary_precompiled_${kind}_hot "${header}")
    endif()
    if(BUILD_TESTING)
      add_executable(tributary_precompiled_${kind}_test "${TRIBUTARY_PRECOMPILED_DIR}/none.cc")
      target_link_libraries(tributary_precompiled_${kind}_test
                            PRIVATE tributary_flags GTest::gmock_main ${arg_LINK})
      tributary_compile_as_test(tributary_precompiled_${kind}_test)
      tributary_precompile(tributary_precompiled_${kind}_test "${header}"
                           "${TRIBUTARY_PRECOMPILED_DIR}/test.h")
      if(TRIBUTARY_TEST_LAUNCHER)
        set_target_properties(tributary_precompiled_${kind}_test PROPERTIES
                              CXX_COMPILER_LAUNCHER "${TRIBUTARY_TEST_LAUNCHER}")
        target_compile_options(tributary_precompiled_${kind}_test PRIVATE
                               -fpch-instantiate-templates "SHELL:-Xclang -fno-pch-timestamp")
      endif()
    endif()
  endif()
endmacro()

# tributary_precompiled(TARGET [test | hot]): TARGET uses the kind of this place.
function(tributary_precompiled target)
  if(TRIBUTARY_PRECOMPILE)
    set(owner tributary_precompiled_${TRIBUTARY_PRECOMPILED})
    if(ARGN)
      string(APPEND owner "_${ARGN}")
    endif()
    target_precompile_headers(${target} REUSE_FROM ${owner})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${target} PRIVATE -fpch-preprocess)  # what ccache has to see
    endif()
  endif()
endfunction()

# tributary_hot_options(TARGET): TARGET computes or sends values, so it is worth optimising.
function(tributary_hot_options target)
  if(target MATCHES "${TRIBUTARY_HOT_TARGETS}")
    target_compile_options(${target} PRIVATE ${TRIBUTARY_HOT_OPTIONS})
  endif()
endfunction()

# tributary_hot(TARGET): the same for a library with a precompiled header.
function(tributary_hot target)
  tributary_hot_options(${target})
  if(TRIBUTARY_HOT_OPTIONS AND target MATCHES "${TRIBUTARY_HOT_TARGETS}")
    tributary_precompiled(${target} hot)
  else()
    tributary_precompiled(${target})
  endif()
endfunction()
