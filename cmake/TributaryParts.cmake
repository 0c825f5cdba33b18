# The summary table: the parts that are built, the parts that are not, and the reasons.

set_property(GLOBAL PROPERTY TRIBUTARY_PARTS "")

# tributary_part(NAME built|off REASON)
function(tributary_part name state reason)
  if(state STREQUAL "built")
    set(state "built    ")
  else()
    set(state "not built")
  endif()
  string(LENGTH "${name}" width)
  set(gap "  ")
  if(width LESS 18)
    math(EXPR pad "20 - ${width}")
    string(REPEAT " " ${pad} gap)
  endif()
  # One string, not a list: a reason may hold semicolons.
  set_property(GLOBAL APPEND_STRING PROPERTY TRIBUTARY_PARTS
               "  ${name}${gap}${state}  ${reason}\n")
endfunction()

# tributary_optional_part(NAME FOLDER FOUND FOUND_TEXT MISSING_TEXT): adds FOLDER when what it needs
# was found and the folder holds code; says which of the two was missing otherwise.
function(tributary_optional_part name folder found found_text missing_text)
  if(NOT found)
    tributary_part("${name}" off "${missing_text}")
  elseif(NOT EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    tributary_part("${name}" off "${found_text}, but ${folder}/ holds no code yet")
  else()
    add_subdirectory("${PROJECT_SOURCE_DIR}/${folder}")
    tributary_part("${name}" built "${found_text}")
  endif()
endfunction()

function(tributary_print_parts)
  get_property(parts GLOBAL PROPERTY TRIBUTARY_PARTS)
  message(STATUS "")
  message(STATUS "Tributary ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}")
  string(REGEX REPLACE "\n$" "" parts "${parts}")
  string(REPLACE "\n" "\n-- " parts "${parts}")
  message(STATUS "${parts}")
  message(STATUS "")
endfunction()
