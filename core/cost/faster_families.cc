#include "core/cost/faster_families.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/codec/measure.h"
#include "core/codec/registry.h"
#include "core/update/synthetic.h"

namespace tributary {
namespace {

// The first round loads the kernels, so the median of three does not count it.
constexpr std::uint32_t kSpeedRounds = 3;

// One family, the codec that stands for it, and its loops on a device.
struct MeasuredFamily {
  const char* codec;
  bool (*is_on)(CodecDevice& device);
};
template <auto kLoops>
bool has(CodecDevice& device) {
  return (device.*kLoops)() != nullptr;
}
constexpr MeasuredFamily kMeasuredFamilies[] = {
    {"int8", has<&CodecDevice::quantize>},    {"thc", has<&CodecDevice::thc>},
    {"threelc", has<&CodecDevice::threelc>},  {"topk", has<&CodecDevice::sparse>},
    {"gcomp", has<&CodecDevice::gcomp>},      {"onebit", has<&CodecDevice::signs>},
    {"powersgd", has<&CodecDevice::lowrank>},
};

// The families of a device for which `speeds` say that it is faster.
class FasterDevice final : public CodecDevice {
 public:
  FasterDevice(std::unique_ptr<CodecDevice> device, const std::vector<FamilySpeed>& speeds)
      : device_(std::move(device)),
        quantize_(chosen("int8", speeds, device_->quantize())),
        thc_(chosen("thc", speeds, device_->thc())),
        threelc_(chosen("threelc", speeds, device_->threelc())),
        sparse_(chosen("topk", speeds, device_->sparse())),
        gcomp_(chosen("gcomp", speeds, device_->gcomp())),
        signs_(chosen("onebit", speeds, device_->signs())),
        lowrank_(chosen("powersgd", speeds, device_->lowrank())) {}

  std::string_view name() const override { return device_->name(); }
  quantize::DeviceLoops* quantize() override { return quantize_; }
  thc::DeviceLoops* thc() override { return thc_; }
  threelc::DeviceLoops* threelc() override { return threelc_; }
  sparse::DeviceLoops* sparse() override { return sparse_; }
  gcomp::DeviceLoops* gcomp() override { return gcomp_; }
  signs::DeviceLoops* signs() override { return signs_; }
  lowrank::DeviceLoops* lowrank() override { return lowrank_; }
  // Steps are not measured. They copy no less than the host's, so it keeps them.
  optimizer::DeviceLoops* optimizer() override { return nullptr; }
  DeviceVectors* vectors() override { return device_->vectors(); }
  std::uint64_t allocations() const override { return device_->allocations(); }

 private:
  template <typename Loops>
  static Loops* chosen(std::string_view codec, const std::vector<FamilySpeed>& speeds,
                       Loops* loops) {
    const auto speed = std::ranges::find(speeds, codec, &FamilySpeed::codec);
    return speed != speeds.end() && speed->device_is_faster() ? loops : nullptr;
  }

  const std::unique_ptr<CodecDevice> device_;
  quantize::DeviceLoops* const quantize_;
  thc::DeviceLoops* const thc_;
  threelc::DeviceLoops* const threelc_;
  sparse::DeviceLoops* const sparse_;
  gcomp::DeviceLoops* const gcomp_;
  signs::DeviceLoops* const signs_;
  lowrank::DeviceLoops* const lowrank_;
};

std::optional<double> seconds_of(const Codec& codec, std::span<const float> update,
                                 ThreadPool& pool, CodecDevice* device, const Clock& clock) {
  const std::span<const float> one[] = {update};
  const Result<MeasureReport> report =
      measure(codec, one,
              {.rounds = kSpeedRounds,
               .error_feedback = false,
               .bucket_values = static_cast<std::uint32_t>(update.size()),
               .pool = &pool,
               .device = device},
              clock);
  if (!report.ok() || report->encode_bytes_per_s <= 0 || report->decode_bytes_per_s <= 0) return {};
  const auto bytes = static_cast<double>(update.size_bytes());
  return bytes / report->encode_bytes_per_s + bytes / report->decode_bytes_per_s;
}

}  // namespace

std::unique_ptr<CodecDevice> with_faster_families(std::unique_ptr<CodecDevice> device,
                                                  const std::vector<FamilySpeed>& speeds) {
  if (std::ranges::none_of(speeds, &FamilySpeed::device_is_faster)) return nullptr;
  return std::make_unique<FasterDevice>(std::move(device), speeds);
}

FasterFamilies choose_faster_families(std::unique_ptr<CodecDevice> device, ThreadPool& pool,
                                      const Clock& clock, std::uint32_t values) {
  FasterFamilies faster;
  FloatVector update(values);
  fill_agent_gradient({.seed = 1}, 0, update);
  for (const MeasuredFamily& family : kMeasuredFamilies) {
    if (!family.is_on(*device)) continue;
    const Result<std::unique_ptr<Codec>> codec = make_codec(family.codec);
    if (!codec.ok()) continue;
    const auto on_device = seconds_of(**codec, update, pool, device.get(), clock);
    const auto on_host = seconds_of(**codec, update, pool, nullptr, clock);
    if (!on_device || !on_host) continue;
    faster.speeds.push_back({.codec = family.codec, .device_s = *on_device, .host_s = *on_host});
  }
  if (!device->lost()) faster.device = with_faster_families(std::move(device), faster.speeds);
  return faster;
}

}  // namespace tributary
