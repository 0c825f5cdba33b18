# The structs of flatc's object API have an empty base class, on which GCC warns wherever one of them
# is made with named members. Nothing uses that base: this takes it away, so that they are aggregates
# like any other struct. cmake -DHEADER=run_rows_generated.h -P plain_tables.cmake

file(READ "${HEADER}" text)
string(REGEX REPLACE " : public (::)?flatbuffers::NativeTable" "" text "${text}")
file(WRITE "${HEADER}" "${text}")
