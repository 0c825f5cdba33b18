// A device that runs codecs' loops over whole buckets: a GPU or an emulated one (core/codec/cuda).
// Its bytes are those of the scalar specification.
//
// A codec with loops for a device asks the device of its call first. If a device cannot do the
// work, for example because its memory is full, the codec does it on the host in the same call, so
// no update is lost. A device that is lost is not asked again. Spans and pointers are to host
// memory, or to the stand-in of a DeviceVector. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "core/base/status.h"
#include "core/codec/codec.h"
#include "core/codec/device/device_vector.h"

namespace tributary {

namespace quantize {
class DeviceLoops;  // core/codec/quantize/device_loops.h
}
namespace sparse {
class DeviceLoops;  // core/codec/sparse/device/device_loops.h
}
namespace gcomp {
class DeviceLoops;  // core/codec/gcomp/device/device_loops.h
}
namespace thc {
class DeviceLoops;  // core/codec/thc/device/device_loops.h
}
namespace signs {
class DeviceLoops;  // core/codec/signs/device_loops.h
}
namespace threelc {
class DeviceLoops;  // core/codec/threelc/ternary.h
}
namespace lowrank {
class DeviceLoops;  // core/codec/lowrank/device_loops.h
}
namespace optimizer {
class DeviceLoops;  // core/optimizer/device_loops.h
}

class CodecDevice {
 public:
  virtual ~CodecDevice() = default;

  // The name in the facts of a round and in the setting codec.device.
  virtual std::string_view name() const = 0;

  // The loops of each family; null: the device has none for it.
  virtual quantize::DeviceLoops* quantize() = 0;
  virtual sparse::DeviceLoops* sparse() = 0;
  virtual gcomp::DeviceLoops* gcomp() = 0;
  virtual thc::DeviceLoops* thc() = 0;
  virtual signs::DeviceLoops* signs() = 0;
  virtual threelc::DeviceLoops* threelc() = 0;
  virtual lowrank::DeviceLoops* lowrank() = 0;
  // The steps of an optimizer; null: the host makes them.
  virtual optimizer::DeviceLoops* optimizer() = 0;
  // Values that stay on the device.
  virtual DeviceVectors* vectors() = 0;
  // Number of allocations of device memory in this process so far. After the first round of a job
  // it stays, unless a bucket is larger than all before it.
  virtual std::uint64_t allocations() const = 0;

  // `handler` receives the error of every call that a codec repeats on the host, from any thread.
  // The loss of the device is reported once. Set it before the first call.
  void report_errors_to(std::function<void(const Status&)> handler) {
    handler_ = std::move(handler);
  }
  // An io_error says that the device is lost: errors of a GPU stay, but for a lack of memory, and
  // every later call of the process would fail.
  void report(const Status& error) {
    const bool loss = error.code() == StatusCode::io_error;
    if (loss && lost_.exchange(true)) return;
    if (!handler_) return;
    handler_(loss ? Status(error).at("the device is not used again") : error);
  }
  bool lost() const { return lost_; }

 private:
  std::function<void(const Status&)> handler_;
  std::atomic<bool> lost_ = false;
};

// Calls work(loops), which returns a Status, with the loops of a family on the call's device.
// Returns false if the host must do the work.
template <typename Loops, typename Work>
bool done_on_device(const StageCall& call, Loops* (CodecDevice::*family)(), const Work& work) {
  CodecDevice* const device = call.execution.device;
  Loops* const loops = device != nullptr && !device->lost() ? (device->*family)() : nullptr;
  const Status status = loops != nullptr ? work(*loops) : Status();
  if (!status.ok()) device->report(status);
  if (loops != nullptr && status.ok()) return true;
  call.host_takes_over();
  return false;
}

// The same for the work of an encoder, which the facts of a round count.
template <typename Loops, typename Work>
bool encoded_on_device(const StageCall& call, Loops* (CodecDevice::*family)(), const Work& work) {
  const bool done = done_on_device(call, family, work);
  if (call.facts != nullptr) {
    if (done) {
      call.facts->buckets_on_device.insert(call.round.bucket);
    } else {
      call.facts->buckets_on_device.erase(call.round.bucket);
    }
  }
  return done;
}

}  // namespace tributary
