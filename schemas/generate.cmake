# tributary_generate_wire(SCHEMAS INCLUDE_DIR HEADERS SOURCE): makes #include "schemas/frame_generated.h"
# and "schemas/message_kinds_generated.h" work for whoever has INCLUDE_DIR among its include folders,
# from the schemas in the folder SCHEMAS. HEADERS is set to the paths of both, SOURCE to that of the file
# that defines what the first one declares.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(TRIBUTARY_SPLIT_HEADER_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/split_header.py")
set(TRIBUTARY_MESSAGE_KINDS_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/message_kinds.cmake")

function(tributary_generate_wire schemas include_dir headers_out source_out)
  file(GLOB inputs CONFIGURE_DEPENDS "${schemas}/*.fbs")
  set(folder "${include_dir}/schemas")
  set(headers "${folder}/frame_generated.h" "${folder}/message_kinds_generated.h")
  set(source "${folder}/frame_generated.cc")
  add_custom_command(
    OUTPUT ${headers} "${source}"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${folder}"
    # One header for all files; the object API and the static reflection are what schemas/frame.h
    # and schemas/walk.h are written against.
    COMMAND "${FLATC}" --cpp --gen-all --cpp-std c++17 --cpp-static-reflection --scoped-enums
            --gen-object-api --gen-compare --warnings-as-errors
            -o "${folder}" "${schemas}/frame.fbs"
    COMMAND Python3::Interpreter -B "${TRIBUTARY_SPLIT_HEADER_SCRIPT}"
            "${folder}/frame_generated.h" "${source}" --include schemas/frame_generated.h
    COMMAND "${CMAKE_COMMAND}" "-DFROM=${schemas}/frame.fbs"
            "-DTO=${folder}/message_kinds_generated.h" -P "${TRIBUTARY_MESSAGE_KINDS_SCRIPT}"
    DEPENDS ${inputs} "${TRIBUTARY_MESSAGE_KINDS_SCRIPT}" "${TRIBUTARY_SPLIT_HEADER_SCRIPT}"
    COMMENT "Generating C++ from ${schemas}"
    VERBATIM)
  # All that a tool needs that reads the code without building it.
  if(NOT TARGET generated_headers)
    add_custom_target(generated_headers)
  endif()
  string(MAKE_C_IDENTIFIER "generated_${include_dir}" name)
  add_custom_target(${name} DEPENDS ${headers})
  add_dependencies(generated_headers ${name})
  set(${headers_out} ${headers} PARENT_SCOPE)
  set(${source_out} "${source}" PARENT_SCOPE)
endfunction()

# tributary_generate_tables(LIBRARY NAME [INCLUDES headers...]): makes
# #include "FOLDER/NAME_generated.h" work for LIBRARY and its users, from NAME.fbs in the folder at
# hand. INCLUDES are the headers of what the schema includes, beside the messages'. For tables that are
# no messages: records of a journal, the rows of a run, and the language of watchers.
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
