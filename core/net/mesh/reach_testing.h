// Endpoints of peers that can and cannot reach one another, for tests of code that depends on it.
#pragma once

namespace tributary::reach_testing {

inline constexpr const char* kOneGroup[] = {"mpi://0000000000c0ffee/0", "mpi://0000000000c0ffee/1",
                                            "mpi://0000000000c0ffee/2"};
inline constexpr const char* kAnotherGroup = "mpi://0000000000c0ffef/1";
inline constexpr const char* kDialled = "tcp://192.0.2.7:4650";
inline constexpr const char* kMalformed = "mpi://c0ffee/1";

}  // namespace tributary::reach_testing
