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
