// usage: tributary-bench-cuda [--json FILE] [--small] [FAMILY...]
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/cuda/device_time.h"
#include "bench/cuda/families.h"
#include "bench/cuda/host_path.h"
#include "bench/harness/peers.h"
#include "core/base/thread_pool.h"
#include "core/codec/cuda/codec_device.h"
#include "core/codec/cuda/gpu/errors.h"
#include "core/codec/registry.h"

namespace tributary::bench {
namespace {

using cuda::DeviceArray;
using cuda::DeviceCase;
using cuda::Queue;
using Json = nlohmann::ordered_json;

constexpr const char* kUsage =
    "usage: tributary-bench-cuda [--json FILE] [--small] [FAMILY...]\n"
    "\n"
    "Measures the kernels of the families, or of all, on the GPU. A ratio is the bytes of float32\n"
    "per second of a case, divided by those of a copy on the device. Every result is compared "
    "with\n"
    "the scalar specification.\n"
    "\n"
    "  --json FILE       also write the figures to this file\n"
    "  --small           only buckets of 64 KiB, started and as graphs\n";

constexpr std::uint64_t kSizes[] = {64u << 20, 1u << 20};
constexpr std::uint64_t kSmallBytes = 64u << 10;
// Data that the repeats of a case visit in turn, so that the caches hold none of it when it comes
// again. The largest caches have 50 to 130 MB.
constexpr std::uint64_t kVisitedBytes = 256u << 20;
constexpr std::uint64_t kSetsMax = 160;

// Updates of the same distribution whose values stand elsewhere.
std::vector<FloatVector> updates_of(std::uint64_t bytes) {
  const SharedUpdate normal = normal_update(bytes);
  const std::uint64_t sets = std::clamp<std::uint64_t>(kVisitedBytes / bytes, 2, kSetsMax);
  std::vector<FloatVector> updates(sets, *normal);
  for (std::size_t i = 1; i < updates.size(); ++i) {
    std::rotate(updates[i].begin(), updates[i].begin() + static_cast<std::ptrdiff_t>(977 * i),
                updates[i].end());
  }
  return updates;
}

Json figures(const DeviceTime& time, std::uint64_t bytes, double copy_s) {
  return {{"bytes_per_s", static_cast<double>(bytes) / time.median_s},
          {"ratio", copy_s / time.median_s},
          {"ratio_min", copy_s / time.max_s},
          {"ratio_max", copy_s / time.min_s},
          {"median_us", time.median_s * 1e6},
          {"graph", time.graph}};
}

class Benchmark {
 public:
  static Result<Benchmark> open() {
    TRIBUTARY_TRY(cuda::device_available());
    TRIBUTARY_ASSIGN(Queue queue, Queue::make());
    Benchmark opened(std::move(queue));
    TRIBUTARY_TRY(opened.describe());
    return opened;
  }

  Status run(const std::vector<std::string>& families, bool small_only) {
    for (const std::uint64_t bytes : kSizes) {
      if (!small_only) TRIBUTARY_TRY(run_size(bytes, families));
    }
    run_small_buckets(families);
    return {};
  }

  const Json& json() const { return json_; }
  bool all_correct() const { return all_correct_; }

 private:
  explicit Benchmark(Queue queue) : queue_(std::move(queue)) {}

  Status describe() {
    TRIBUTARY_ASSIGN(const cuda::Gpu* const gpu, cuda::use_gpu());
    std::array<char, 256> name{};
    int multiprocessors = 0;
    int l2_bytes = 0;
    std::size_t memory_bytes = 0;
    const cuda::Driver& driver = gpu->driver;
    TRIBUTARY_TRY(cuda::status_of(
        driver.device_name(name.data(), static_cast<int>(name.size()), gpu->device), "its name"));
    TRIBUTARY_TRY(cuda::status_of(
        driver.attribute(&multiprocessors, cuda::Attribute::multiprocessors, gpu->device),
        "its multiprocessors"));
    TRIBUTARY_TRY(cuda::status_of(
        driver.attribute(&l2_bytes, cuda::Attribute::l2_cache_bytes, gpu->device), "its cache"));
    TRIBUTARY_TRY(cuda::status_of(driver.memory_bytes(&memory_bytes, gpu->device), "its memory"));
    const std::string capability = fmt::format("{}.{}", gpu->capability / 10, gpu->capability % 10);
    json_["device"] = {{"name", name.data()},
                       {"compute_capability", capability},
                       {"multiprocessors", multiprocessors},
                       {"l2_bytes", l2_bytes},
                       {"memory_bytes", memory_bytes},
                       {"driver", gpu->driver_version}};
    json_["host_threads"] = hardware_threads();
    fmt::print("{}, compute capability {}; {} host threads\n", name.data(), capability,
               hardware_threads());
    return {};
  }

  Status run_size(std::uint64_t bytes, const std::vector<std::string>& families) {
    const std::vector<FloatVector> updates = updates_of(bytes);
    TRIBUTARY_ASSIGN(const DeviceTime copy, time_copy(updates));
    fmt::print("\n{} MiB of float32, {} sets\n{:<34} {:>9} {:>7} {:>7} {:>7}\n", bytes >> 20,
               updates.size(), "case", "GB/s", "ratio", "min", "max");
    fmt::print("{:<34} {:>9.1f}\n", "copy on the device",
               static_cast<double>(bytes) / copy.median_s / 1e9);
    Json size = {{"bytes", bytes},
                 {"sets", updates.size()},
                 {"copy", figures(copy, bytes, copy.median_s)},
                 {"cases", Json::array()}};
    for (const Family& family : kFamilies) {
      if (!families.empty() && std::ranges::find(families, family.name) == families.end()) continue;
      Json cases = run_family(family, updates, copy.median_s);
      size["cases"].insert(size["cases"].end(), cases.begin(), cases.end());
    }
    json_["sizes"].push_back(std::move(size));
    return {};
  }

  Result<DeviceTime> time_copy(const std::vector<FloatVector>& updates) {
    std::vector<std::shared_ptr<DeviceArray<float>>> arrays;
    std::vector<Start> starts;
    for (const FloatVector& update : updates) {
      TRIBUTARY_ASSIGN(auto from, DeviceArray<float>::copy_of(queue_, update));
      TRIBUTARY_ASSIGN(auto to, DeviceArray<float>::make(update.size()));
      arrays.push_back(std::make_shared<DeviceArray<float>>(std::move(from)));
      arrays.push_back(std::make_shared<DeviceArray<float>>(std::move(to)));
      starts.emplace_back([from = arrays[arrays.size() - 2].get(),
                           to = arrays.back().get()](const Queue& queue) {
        return cuda::copy_on_device(queue, from->data(), from->size() * sizeof(float), to->data());
      });
    }
    TRIBUTARY_ASSIGN(const DeviceTime time, time_on_device(queue_, starts));
    FloatVector got(updates.back().size());
    TRIBUTARY_TRY(arrays.back()->read(queue_, got));
    note("copy on the device", std::ranges::equal(got, updates.back())
                                   ? Status()
                                   : Status(StatusCode::mismatch, {.what = "copied values"}));
    return time;
  }

  // A family that fails leaves the others their figures.
  Json run_family(const Family& family, const std::vector<FloatVector>& updates, double copy_s) {
    Json out = Json::array();
    std::vector<std::vector<DeviceCase>> sets;
    for (const FloatVector& update : updates) {
      Result<std::vector<DeviceCase>> cases = family.cases(update);
      if (!cases.ok()) {
        out.push_back({{"name", family.name}, {"checked", cases.status().text()}});
        note(family.name, cases.status());
        return out;
      }
      sets.push_back(std::move(*cases));
    }
    for (std::size_t i = 0; i < sets[0].size(); ++i) {
      out.push_back(run_case(sets, i, copy_s));
      out.back()["family"] = family.name;
      if (updates[0].size() * sizeof(float) == kSizes[0]) run_paths(sets[0][i], updates[0]);
    }
    return out;
  }

  Json run_case(const std::vector<std::vector<DeviceCase>>& sets, std::size_t i, double copy_s) {
    std::vector<Start> starts;
    for (const auto& cases : sets) starts.push_back(cases[i].start);
    const DeviceCase& first = sets[0][i];
    Json out = {{"name", first.name}};
    const Result<DeviceTime> time = time_on_device(queue_, starts);
    Status status = time.ok() ? first.check(queue_) : time.status();
    if (status.ok()) status = sets.back()[i].check(queue_);
    if (time.ok()) {
      out.update(figures(*time, first.float_bytes, copy_s));
      fmt::print("{:<34} {:>9.1f} {:>7.3f} {:>7.3f} {:>7.3f}{}\n", first.name,
                 static_cast<double>(first.float_bytes) / time->median_s / 1e9,
                 copy_s / time->median_s, copy_s / time->max_s, copy_s / time->min_s,
                 time->graph ? "" : "  without a graph");
    }
    out["checked"] = status.ok() ? "equal" : status.text();
    note(first.name, status);
    return out;
  }

  static std::string codec_of(const DeviceCase& measured) {
    if (!measured.codec.empty()) return measured.codec;
    const std::size_t blank = measured.name.find(' ');
    if (blank == std::string::npos || measured.name.substr(blank) != " encode") return {};
    return measured.name.substr(0, blank);
  }

  void run_paths(const DeviceCase& measured, const FloatVector& update) {
    const std::string codec = codec_of(measured);
    if (codec.empty() || !make_codec(codec).ok()) return;
    const Result<PathTimes> times = time_paths(codec, update, measured.start, *gpu_);
    if (!times.ok()) {
      note(measured.name + ", to the host", times.status());
      return;
    }
    const auto bytes = static_cast<double>(update.size() * sizeof(float));
    json_["to_host"].push_back({{"name", measured.name},
                                {"codec", codec},
                                {"payload_bytes", times->payload_bytes},
                                {"device_bytes_per_s", bytes / times->device_s},
                                {"host_bytes_per_s", bytes / times->host_s},
                                {"host_core_each_bucket", times->bucket_each},
                                {"ratio", times->host_s / times->device_s},
                                {"job_device_bytes_per_s", bytes / times->job_device_s},
                                {"job_host_bytes_per_s", bytes / times->job_host_s},
                                {"job_ratio", times->job_host_s / times->job_device_s},
                                {"job_buckets_on_device", times->buckets_on_device},
                                {"job_buckets", times->buckets}});
    fmt::print(
        "{:<34} to pinned memory: GPU {:.1f} GB/s, host {:.1f} GB/s, ratio {:.2f}; in a job: GPU "
        "{:.2f} GB/s ({} of {} buckets), host {:.2f} GB/s\n",
        "", bytes / times->device_s / 1e9, bytes / times->host_s / 1e9,
        times->host_s / times->device_s, bytes / times->job_device_s / 1e9,
        times->buckets_on_device, times->buckets, bytes / times->job_host_s / 1e9);
    if (times->update_on_device_s == 0) return;
    json_["device_updates"].push_back({{"codec", codec},
                                       {"on_device_bytes_per_s", bytes / times->update_on_device_s},
                                       {"copied_bytes_per_s", bytes / times->update_copied_s},
                                       {"host_bytes_per_s", bytes / times->update_on_host_s}});
    fmt::print(
        "{:<34} an update on the GPU, with its residual: stays there {:.2f} GB/s, copied to the "
        "host and back {:.2f} GB/s, encoded by the host {:.2f} GB/s\n",
        "", bytes / times->update_on_device_s / 1e9, bytes / times->update_copied_s / 1e9,
        bytes / times->update_on_host_s / 1e9);
  }

  // Whether a graph of a small bucket's kernels is worth its upkeep.
  void run_small_buckets(const std::vector<std::string>& families) {
    const FloatVector update = *normal_update(kSmallBytes);
    fmt::print("\n{} KiB of float32, microseconds of a call\n{:<34} {:>9} {:>9} {:>9}\n",
               kSmallBytes >> 10, "case", "starts", "graph", "in a job");
    for (const Family& family : kFamilies) {
      if (!families.empty() && std::ranges::find(families, family.name) == families.end()) continue;
      const Result<std::vector<DeviceCase>> cases = family.cases(update);
      note(family.name, cases.status());
      for (const DeviceCase& each : cases.ok() ? *cases : std::vector<DeviceCase>()) {
        const Result<LaunchTime> time = time_launches(queue_, each.start);
        note(each.name + ", started and as a graph", time.status());
        if (!time.ok()) continue;
        const std::string codec = codec_of(each);
        double job_s = 0;
        if (!codec.empty() && make_codec(codec).ok()) {
          const Result<double> measured = time_small_bucket(codec, update, *gpu_);
          note(each.name + ", in a job", measured.status());
          if (measured.ok()) job_s = *measured;
        }
        json_["small_buckets"].push_back({{"name", each.name},
                                          {"bytes", kSmallBytes},
                                          {"starts_us", time->starts_s * 1e6},
                                          {"graph_us", time->graph_s * 1e6},
                                          {"job_us", job_s * 1e6}});
        fmt::print("{:<34} {:>9.1f} {:>9.1f} {:>9.1f}\n", each.name, time->starts_s * 1e6,
                   time->graph_s * 1e6, job_s * 1e6);
      }
    }
  }

  void note(std::string_view name, const Status& status) {
    if (status.ok()) return;
    all_correct_ = false;
    fmt::print("{}: {}\n", name, status.text());
    json_["errors"].push_back(fmt::format("{}: {}", name, status.text()));
  }

  Queue queue_;
  std::unique_ptr<CodecDevice> gpu_ = cuda::make_codec_device();
  Json json_;
  bool all_correct_ = true;
};

int run(int argc, char** argv) {
  std::string json_file;
  bool small_only = false;
  std::vector<std::string> families;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json" && i + 1 < argc) {
      json_file = argv[++i];
    } else if (word == "--small") {
      small_only = true;
    } else if (word.starts_with("-")) {
      fmt::print("{}", kUsage);
      return word == "--help" || word == "-h" ? 0 : 2;
    } else {
      families.push_back(word);
    }
  }
  Result<Benchmark> benchmark = Benchmark::open();
  Status status = benchmark.status();
  if (status.ok()) status = benchmark->run(families, small_only);
  Json json = benchmark.ok() ? benchmark->json() : Json::object();
  if (!status.ok()) {
    json["errors"].push_back(status.text());
    fmt::print("{}\n", status.text());
  }
  if (!json_file.empty()) std::ofstream(json_file) << json.dump(1) << '\n';
  return status.ok() && benchmark->all_correct() ? 0 : 1;
}

}  // namespace
}  // namespace tributary::bench

int main(int argc, char** argv) { return tributary::bench::run(argc, argv); }
