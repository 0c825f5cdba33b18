// A trainer behind the C interface of tributary_trainer.h.
//
// An update on a device stays there if the agent encodes on that device: it is copied within the
// device, because the library may use its memory again. If the device has too little memory for
// that, or fails, the update is copied to the host in the same call.
#pragma once

#include <memory>
#include <string>

#include "core/train/trainer.h"

namespace tributary {

// Loads the library, which is never unloaded. Its trainer is created by the first prepare(). Fails
// with unavailable if the file cannot be loaded, lacks a function, or has another version.
Result<std::unique_ptr<Trainer>> load_external_trainer(const std::string& path,
                                                       const TrainerOptions& options);

}  // namespace tributary
