// Loads a trainer whose engine is a separate shared library. Only agents that use it load it, so
// other agents need neither its memory nor its package.
//
// Loading runs the library's static initializers. Call the functions from one thread, before the
// agent has work to do.
#pragma once

#include <memory>
#include <string>

#include "core/base/bytes/block_cache.h"
#include "core/train/model_tools.h"
#include "core/train/trainer.h"

namespace tributary {

// Functions that such a library exports under these names with C linkage.
using TrainerLibraryVersion = const char*();
using TrainerLibraryMake = void(const TrainerOptions& options, std::unique_ptr<Trainer>& trainer);
// Optional: checks whether the library can serve the options, such as a device.
using TrainerLibraryCheck = void(const TrainerOptions& options, Status& status);
// Optional, called before anything else: takes the memory of vectors from the agent's cache.
using TrainerLibraryMemory = void(BlockCache& cache);
using ModelToolsLibraryMake = void(const ModelToolsOptions& options,
                                   std::unique_ptr<ModelTools>& tools);
inline constexpr char kTrainerLibraryVersion[] = "tributary_trainer_version";
inline constexpr char kTrainerLibraryMake[] = "tributary_trainer_make";
inline constexpr char kTrainerLibraryCheck[] = "tributary_trainer_check";
inline constexpr char kTrainerLibraryMemory[] = "tributary_trainer_memory";
inline constexpr char kModelToolsLibraryMake[] = "tributary_model_tools_make";

// Version of the C++ interface. Objects of C++ cross the boundary, so agent and library must have
// the same version; a load compares them.
const char* trainer_library_version();

// Path of the library with this name: beside the program, in the folder of installed libraries, or
// in the build tree. Empty if none exists.
std::string find_trainer_library(const std::string& name);

// Load the library and create an object. The library is never unloaded. Both fail with unavailable
// if the file cannot be loaded, is no trainer, or has another version. load_trainer() also fails
// with the error of the library's check.
Result<std::unique_ptr<Trainer>> load_trainer(const std::string& path,
                                              const TrainerOptions& options);
Result<std::unique_ptr<ModelTools>> load_model_tools(const std::string& path,
                                                     const ModelToolsOptions& options);

}  // namespace tributary
