// The kernels in this library, found by the names that a compiler for GPUs gives them.
#pragma once

#include <string>
#include <string_view>

namespace tributary::emulated_driver {

struct Function {
  const void* kernel = nullptr;
  void (*call)(const void* kernel, void** arguments) = nullptr;
};

// Null: the library has no such kernel. `name` is mangled. Thread-safe; the pointer stays valid.
const Function* find_function(const std::string& name);

// A mangled name in which an anonymous namespace has the name that clang and GCC give it; nvcc's
// contains that of the file.
std::string plain_name(std::string_view mangled);

}  // namespace tributary::emulated_driver
