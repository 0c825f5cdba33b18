#include "core/train/trainer_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace tributary {
namespace {

// The error for every problem of a library; the remedy is the same.
Status no_trainer(const std::string& path, std::string expected, std::string got) {
  return Status(StatusCode::unavailable,
                {.what = fmt::format("trainer library '{}'", path),
                 .expected = std::move(expected),
                 .got = std::move(got),
                 .remedy = "install the trainer's package of the same version as the agent"});
}

template <typename Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// The object that the library's function of this name creates.
template <typename Make, typename Made, typename Options>
Result<std::unique_ptr<Made>> made_by(const std::string& path, const char* function,
                                      const Options& options) {
  // The library is never unloaded, because the engine keeps threads running in its code.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* why = dlerror();
    return no_trainer(path, "a library that can be loaded", why ? why : "another file");
  }
  auto* version = symbol<TrainerLibraryVersion>(library, kTrainerLibraryVersion);
  auto* make = symbol<Make>(library, function);
  if (!version || !make) return no_trainer(path, "a trainer of tributary", "another library");
  if (std::string_view(version()) != trainer_library_version()) {
    return no_trainer(path, fmt::format("version {}", trainer_library_version()), version());
  }
  if (auto* const share = symbol<TrainerLibraryMemory>(library, kTrainerLibraryMemory)) {
    share(block_cache());
  }
  std::unique_ptr<Made> made;
  make(options, made);
  if (!made) return no_trainer(path, fmt::format("what {} makes", function), "nothing");
  return made;
}

}  // namespace

const char* trainer_library_version() { return TRIBUTARY_VERSION; }

// The places are relative to the program: the same folder, installed libraries, and the build tree.
std::string find_trainer_library(const std::string& name) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::string file = fmt::format("libtributary-{}.so", name);
  const std::array<std::string, 4> places = {file, "../lib/tributary/" + file,
                                             "../" TRIBUTARY_LIBDIR "/tributary/" + file,
                                             fmt::format("../core/train/{}/plugin/{}", name, file)};
  for (const std::string& place : places) {
    const std::filesystem::path path = program.parent_path() / place;
    if (std::filesystem::exists(path, error)) return path.lexically_normal().string();
  }
  return {};
}

Result<std::unique_ptr<Trainer>> load_trainer(const std::string& path,
                                              const TrainerOptions& options) {
  TRIBUTARY_ASSIGN(auto trainer,
                   (made_by<TrainerLibraryMake, Trainer>(path, kTrainerLibraryMake, options)));
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (auto* const check = symbol<TrainerLibraryCheck>(library, kTrainerLibraryCheck)) {
    Status status;
    check(options, status);
    TRIBUTARY_TRY(status);
  }
  return trainer;
}

Result<std::unique_ptr<ModelTools>> load_model_tools(const std::string& path,
                                                     const ModelToolsOptions& options) {
  return made_by<ModelToolsLibraryMake, ModelTools>(path, kModelToolsLibraryMake, options);
}

}  // namespace tributary
