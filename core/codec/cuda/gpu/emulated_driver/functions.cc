#include "core/codec/cuda/gpu/emulated_driver/functions.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <typeinfo>
#include <vector>

namespace tributary::emulated_driver {

using Call = void (*)(const void* kernel, void** arguments);

namespace {

// The calls of kernels, by the text of their parameters.
std::map<std::string, Call>& calls() {
  static std::map<std::string, Call> map;
  return map;
}

std::string demangled(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr), &std::free);
  return text == nullptr ? "" : text.get();
}

// "(float const*, unsigned int)" at the end of a demangled function.
std::string parameters_of(const std::string& function) {
  int depth = 0;
  for (std::size_t i = function.size(); i-- > 0;) {
    if (function[i] == ')') ++depth;
    if (function[i] == '(' && --depth == 0) return function.substr(i);
  }
  return "";
}

template <typename T>
T read_at(const std::vector<char>& file, std::size_t offset) {
  T value{};
  if (offset + sizeof(T) <= file.size()) std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

// All functions of this library, also those that it does not export.
std::map<std::string, const char*> functions_of_this_library() {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&find_function), &here);
  const auto* const base = static_cast<const char*>(here.dli_fbase);
  std::ifstream stream(here.dli_fname, std::ios::binary);
  const std::vector<char> file{std::istreambuf_iterator<char>(stream), {}};
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  std::map<std::string, const char*> found;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto names =
        read_at<Elf64_Shdr>(file, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
    for (std::size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(file, section.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0) continue;
      found.emplace(file.data() + names.sh_offset + symbol.st_name, base + symbol.st_value);
    }
  }
  return found;
}

}  // namespace

void add_call(const std::type_info& function, Call call) {
  calls().emplace(parameters_of(demangled(function.name())), call);
}

std::string plain_name(std::string_view mangled) {
  constexpr std::string_view kStart = "_GLOBAL__N_";
  const std::size_t start = mangled.find(kStart);
  if (start == std::string_view::npos) return std::string(mangled);
  std::size_t digits = start;
  while (digits > 0 && mangled[digits - 1] >= '0' && mangled[digits - 1] <= '9') --digits;
  std::size_t length = 0;
  std::from_chars(mangled.data() + digits, mangled.data() + start, length);
  std::string plain(mangled.substr(0, digits));
  plain += "12_GLOBAL__N_1";
  return plain + plain_name(mangled.substr(std::min(start + length, mangled.size())));
}

const Function* find_function(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, Function> found;
  static const std::map<std::string, const char*> all = functions_of_this_library();
  const std::lock_guard lock(mutex);
  const std::string plain = plain_name(name);
  const auto body = all.find(plain);
  const auto call = calls().find(parameters_of(demangled(plain)));
  if (body == all.end() || call == calls().end()) return nullptr;
  return &found.try_emplace(plain, Function{body->second, call->second}).first->second;
}

}  // namespace tributary::emulated_driver
