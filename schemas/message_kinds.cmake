# Writes the members of the union Message as an X macro, because flatc generates no list of types to
# iterate over. cmake -DFROM=frame.fbs -DTO=message_kinds_generated.h -P message_kinds.cmake

file(READ "${FROM}" schema)
string(REGEX REPLACE "//[^\n]*" "" schema "${schema}")
if(NOT schema MATCHES "union Message {([^}]*)}")
  message(FATAL_ERROR "${FROM}: expected a union named Message, found none")
endif()
string(REGEX MATCHALL "[A-Za-z0-9_]+" kinds "${CMAKE_MATCH_1}")

set(text "#pragma once\n\n#define TRIBUTARY_MESSAGE_KINDS(X)")
foreach(kind ${kinds})
  string(APPEND text " \\\n  X(${kind})")
endforeach()
file(WRITE "${TO}" "${text}\n")
