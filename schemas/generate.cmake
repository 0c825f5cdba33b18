# tributary_generate_wire(SCHEMAS INCLUDE_DIR HEADERS SOURCE) generates "schemas/frame_generated.h"
# and "schemas/message_kinds_generated.h" below INCLUDE_DIR from the schemas in the folder SCHEMAS.
# It sets HEADERS to the paths of both, and SOURCE to the file that defines what the first one
# declares. tributary_generate_tables_only(SCHEMAS INCLUDE_DIR HEADERS) leaves the object API out, so no
# source is needed.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(TRIBUTARY_SPLIT_HEADER_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/split_header.py")
set(TRIBUTARY_MESSAGE_KINDS_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/message_kinds.cmake")

function(tributary_generate_wire schemas include_dir headers_out source_out)
  set(header "${include_dir}/schemas/frame_generated.h")
  set(source "${include_dir}/schemas/frame_generated.cc")
  # schemas/frame.h requires the object API.
  tributary_run_flatc("${schemas}" "${include_dir}" headers
    SOURCE "${source}" OPTIONS --gen-object-api --gen-compare
    THEN COMMAND Python3::Interpreter -B "${TRIBUTARY_SPLIT_HEADER_SCRIPT}"
                 "${header}" "${source}" --include schemas/frame_generated.h)
  set(${headers_out} ${headers} PARENT_SCOPE)
  set(${source_out} "${source}" PARENT_SCOPE)
endfunction()

function(tributary_generate_tables_only schemas include_dir headers_out)
  tributary_run_flatc("${schemas}" "${include_dir}" headers)
  set(${headers_out} ${headers} PARENT_SCOPE)
endfunction()

# tributary_run_flatc(SCHEMAS INCLUDE_DIR HEADERS [SOURCE file] [OPTIONS options of flatc...] [THEN command...])
function(tributary_run_flatc schemas include_dir headers_out)
  cmake_parse_arguments(arg "" "SOURCE" "OPTIONS;THEN" ${ARGN})
  file(GLOB inputs CONFIGURE_DEPENDS "${schemas}/*.fbs")
  set(folder "${include_dir}/schemas")
  set(headers "${folder}/frame_generated.h" "${folder}/message_kinds_generated.h")
  add_custom_command(
    OUTPUT ${headers} ${arg_SOURCE}
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
    # One header for all schema files. schemas/walk.h requires the static reflection.
    COMMAND "${FLATC}" --cpp --gen-all --cpp-std c++17 --cpp-static-reflection --scoped-enums
            ${arg_OPTIONS} --warnings-as-errors -o "${folder}" "${schemas}/frame.fbs"
    ${arg_THEN}
    COMMAND "${CMAKE_COMMAND}" "-DFROM=${schemas}/frame.fbs"
            "-DTO=${folder}/message_kinds_generated.h" -P "${TRIBUTARY_MESSAGE_KINDS_SCRIPT}"
    DEPENDS ${inputs} "${TRIBUTARY_MESSAGE_KINDS_SCRIPT}" "${TRIBUTARY_SPLIT_HEADER_SCRIPT}"
    COMMENT "Generating C++ from ${schemas}"
    VERBATIM)
  # Everything that a tool needs that analyzes the code without building it.
  if(NOT TARGET generated_headers)
    add_custom_target(generated_headers)
  endif()
  string(MAKE_C_IDENTIFIER "generated_${include_dir}" name)
  add_custom_target(${name} DEPENDS ${headers})
  add_dependencies(generated_headers ${name})
  set(${headers_out} ${headers} PARENT_SCOPE)
endfunction()

# tributary_generate_tables(LIBRARY NAME [INCLUDES headers...]) generates "FOLDER/NAME_generated.h"
# for LIBRARY and its users, from NAME.fbs in the current folder. INCLUDES are the headers of the
# schemas that it includes, except those of the messages. It is for tables that are not messages:
# records of a journal, rows of a run, and the protocol of observers.
function(tributary_generate_tables library name)
  cmake_parse_arguments(arg "" "" "INCLUDES" ${ARGN})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  set(out "${PROJECT_BINARY_DIR}/generated/${folder}")
  set(header "${out}/${name}_generated.h")
  set(schema "${CMAKE_CURRENT_SOURCE_DIR}/${name}.fbs")
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plain_tables.cmake")
  file(GLOB inputs CONFIGURE_DEPENDS "*.fbs")
  set(includes --cpp-include "schemas/frame_generated.h")
  foreach(include ${arg_INCLUDES})
    list(APPEND includes --cpp-include "${include}")
    if(include MATCHES "(.*)_generated\\.h$")
      list(APPEND inputs "${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_1}.fbs")
    endif()
  endforeach()
  add_custom_command(
    OUTPUT "${header}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${out}"
    COMMAND "${FLATC}" --cpp --cpp-std c++17 --cpp-static-reflection --scoped-enums
            --gen-object-api --gen-compare --warnings-as-errors --no-includes ${includes}
            -I "${PROJECT_SOURCE_DIR}" -o "${out}" "${schema}"
    COMMAND "${CMAKE_COMMAND}" "-DHEADER=${header}" -P "${script}"
    DEPENDS ${inputs} "${script}"
    COMMENT "Generating C++ from ${folder}/${name}.fbs"
    VERBATIM)
  string(MAKE_C_IDENTIFIER "generated_${folder}_${name}" target)
  add_custom_target(${target} DEPENDS "${header}")
  add_dependencies(generated_headers ${target})
  add_dependencies(${library} ${target})
  target_sources(${library} PRIVATE "${header}")
endfunction()
