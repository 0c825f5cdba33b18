#!/bin/sh
# The launcher for TRIBUTARY_TEST_COMPILER: CMake has one C++ compiler, and tests have another one.
# usage: [TRIBUTARY_LAUNCHER=ccache] compiler_of_tests.sh COMPILER REPLACED ARGUMENT...
compiler=$1
shift 2
previous=
for word; do
  # clang would read the last precompiled header instead of the headers, to make the next one.
  case $previous$word in
    -o*.gch) rm -f "$word" ;;
  esac
  previous=$word
done
exec $TRIBUTARY_LAUNCHER "$compiler" "$@"
