# Removes the empty base class of the structs of flatc's object API. GCC warns about that base in
# every initialization with named members. Nothing uses it, and without it the structs are ordinary
# aggregates. cmake -DHEADER=run_rows_generated.h -P plain_tables.cmake

file(READ "${HEADER}" text)
string(REGEX REPLACE " : public (::)?flatbuffers::NativeTable" "" text "${text}")
file(WRITE "${HEADER}" "${text}")
