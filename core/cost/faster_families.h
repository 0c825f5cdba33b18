// Chooses by measurement which codecs a device encodes: an update lies in host memory, and the copy
// to a GPU and back can take longer than the host's own encoding.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/thread_pool.h"
#include "core/codec/device/codec_device.h"

namespace tributary {

// One codec of a family, measured on both. A time is that of encoding and decoding one bucket.
struct FamilySpeed {
  std::string codec;
  double device_s = 0;
  double host_s = 0;

  bool device_is_faster() const { return device_s < host_s; }
};

struct FasterFamilies {
  // Has the loops of the families for which the device is faster. Null: there are none.
  std::unique_ptr<CodecDevice> device;
  std::vector<FamilySpeed> speeds;  // of all families that the device has loops for
};

// Measures a bucket of each family, by default of 4 MiB, a usual size in jobs. That takes a few
// tenths of a second. The host uses all threads of the pool.
FasterFamilies choose_faster_families(std::unique_ptr<CodecDevice> device, ThreadPool& pool,
                                      const Clock& clock, std::uint32_t values = 1u << 20);
// The choice that follows from the speeds. Null: the device is faster for no family.
std::unique_ptr<CodecDevice> with_faster_families(std::unique_ptr<CodecDevice> device,
                                                  const std::vector<FamilySpeed>& speeds);

}  // namespace tributary
