// A trainer whose engine is a shared library of its own, loaded only by an agent that is told to
// use it: others need neither its memory nor its package.
#pragma once

#include <memory>
#include <string>

#include "core/train/model_tools.h"
#include "core/train/trainer.h"

namespace tributary {

// What such a library exports, under these names and by C's rules.
using TrainerLibraryVersion = const char*();
using TrainerLibraryMake = void(const TrainerOptions& options, std::unique_ptr<Trainer>& trainer);
using ModelToolsLibraryMake = void(const ModelToolsOptions& options,
                                   std::unique_ptr<ModelTools>& tools);
inline constexpr char kTrainerLibraryVersion[] = "tributary_trainer_version";
inline constexpr char kTrainerLibraryMake[] = "tributary_trainer_make";
inline constexpr char kModelToolsLibraryMake[] = "tributary_model_tools_make";

// Both sides pass objects of C++ to one another and must come from the same build.
const char* trainer_library_version();

// Where a library of this name lies: beside the program, in the folder of installed libraries, or
// in the build. Empty: nowhere.
std::string find_trainer_library(const std::string& name);

Result<std::unique_ptr<Trainer>> load_trainer(const std::string& path,
                                              const TrainerOptions& options);
Result<std::unique_ptr<ModelTools>> load_model_tools(const std::string& path,
                                                     const ModelToolsOptions& options);

}  // namespace tributary
