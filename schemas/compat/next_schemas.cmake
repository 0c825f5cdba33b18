# tributary_next_schemas(FROM TO) writes possible next schemas to TO: every table of FROM gets a new
# text, list and table, every enum a value, and the union a message. They are written again if a
# file in FROM changes.

function(tributary_next_schemas from to)
  file(GLOB files RELATIVE "${from}" CONFIGURE_DEPENDS "${from}/*.fbs")
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${from}/${file}")
    file(READ "${from}/${file}" text)
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX REPLACE "(table [A-Za-z]+ {[^}]*)}"
           "\\1 next_text: string; next_list: [double]; next_table: NextTable; }" text "${text}")
    string(REGEX REPLACE "(enum [A-Za-z]+ : [a-z]+ {[^}]*[a-z0-9_]),?[ \n]*}"
           "\\1, from_next }" text "${text}")
    string(REGEX REPLACE "(union Message {[^}]*[A-Za-z]),?[ \n]*}"
           "\\1, NextMessage }" text "${text}")
    if(file STREQUAL "common.fbs")
      string(APPEND text "table NextTable { number: ulong; text: string; }\n")
    elseif(file STREQUAL "frame.fbs")
      string(APPEND text "table NextMessage { number: ulong; tables: [NextTable]; }\n")
    endif()
    file(CONFIGURE OUTPUT "${to}/${file}" CONTENT "${text}" @ONLY)
  endforeach()
endfunction()
