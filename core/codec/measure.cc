#include "core/codec/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/codec/local_exchange.h"
#include "core/codec/payload.h"
#include "core/update/buckets.h"

namespace tributary {
namespace {

// The upper median; reorders the samples. Medians ignore the few runs that the system disturbed.
double median(std::vector<double>& samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// Sums of the squared errors and of the squared true means.
struct Error {
  double error = 0;
  double energy = 0;

  void add(double decoded, double truth) {
    error += (decoded - truth) * (decoded - truth);
    energy += truth * truth;
  }
  // An update of zeros has no energy: the error is then reported as 0 or 1 instead of a division by
  // zero.
  double nmse() const { return energy > 0 ? error / energy : (error > 0 ? 1 : 0); }
};

// Sums and samples of one stage over all buckets and rounds.
struct StageTally {
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t senders = 0;
  std::vector<double> encode_s;
  std::vector<double> aggregate_s;

  void add(const StageTraffic& stage) {
    // In a broadcast stage only one agent sends, so times are divided by the senders.
    const double payloads = std::max(stage.senders, 1u);
    bytes_up += stage.bytes_up;
    bytes_down += stage.bytes_down;
    senders += stage.senders;
    encode_s.push_back(seconds(stage.encode) / payloads);
    aggregate_s.push_back(seconds(stage.aggregate) / payloads);
  }

  StageMeasure mean() {
    return {.bytes_up = static_cast<double>(bytes_up) /
                        static_cast<double>(std::max<std::uint64_t>(senders, 1)),
            .bytes_down = static_cast<double>(bytes_down) / static_cast<double>(encode_s.size()),
            .encode_s = median(encode_s),
            .aggregate_s = median(aggregate_s)};
  }
};

// Sums and samples of the whole measurement.
struct Tally {
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  Error all_rounds;
  Error last_round;
  std::vector<double> encode_rates;
  std::vector<double> aggregate_rates;
  std::vector<double> decode_rates;
  std::vector<StageTally> stages;

  void add_traffic(const ExchangeTraffic& traffic, std::size_t values, std::size_t agents) {
    bytes_up += traffic.bytes_up;
    bytes_down += traffic.bytes_down;
    const double bytes = static_cast<double>(values) * sizeof(float);
    const auto rate = [](double amount, std::chrono::nanoseconds time) {
      // A coarse clock may report no time at all for a small bucket.
      return amount / std::max(seconds(time), 1e-9);
    };
    encode_rates.push_back(rate(bytes * static_cast<double>(agents), traffic.encode));
    aggregate_rates.push_back(rate(bytes * static_cast<double>(agents), traffic.aggregate));
    decode_rates.push_back(rate(bytes, traffic.decode));
    stages.resize(traffic.stages.size());
    for (std::size_t i = 0; i < stages.size(); ++i) stages[i].add(traffic.stages[i]);
  }
};

// Plays all rounds of one bucket. The updates stay the same in all rounds. With error feedback, the
// decoded sum of N rounds should therefore approach N times the true sum.
class BucketRun {
 public:
  BucketRun(const Codec& codec, std::vector<std::span<const float>> updates,
            std::vector<LayerRun> layers, const MeasureOptions& options, const Clock& clock)
      : updates_(std::move(updates)),
        layers_(std::move(layers)),
        options_(options),
        exchange_(codec, static_cast<std::uint32_t>(updates_[0].size()),
                  static_cast<std::uint32_t>(updates_.size()), options.error_feedback, clock),
        sum_(updates_[0].size()),
        total_(updates_[0].size(), 0.0) {}

  Status play(std::uint32_t bucket, std::uint32_t round, Tally& tally) {
    TRIBUTARY_ASSIGN(
        const ExchangeTraffic traffic,
        exchange_.play(
            {.job_seed = options_.job_seed, .round = round, .bucket = bucket, .layers = layers_},
            {.backend = options_.backend, .pool = options_.pool, .device = options_.device},
            updates_, sum_));
    tally.add_traffic(traffic, sum_.size(), updates_.size());
    for (std::size_t i = 0; i < sum_.size(); ++i) total_[i] += static_cast<double>(sum_[i]);
    return {};
  }

  // Compares the decoded means with the true means, which are computed in double.
  void judge(Tally& tally) const {
    const auto agents = static_cast<double>(updates_.size());
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      double truth = 0;
      for (const auto& update : updates_) truth += static_cast<double>(update[i]);
      truth /= agents;
      tally.all_rounds.add(total_[i] / agents, truth * options_.rounds);
      tally.last_round.add(static_cast<double>(sum_[i]) / agents, truth);
    }
  }

 private:
  std::vector<std::span<const float>> updates_;
  std::vector<LayerRun> layers_;
  const MeasureOptions& options_;
  LocalExchange exchange_;
  FloatVector sum_;
  std::vector<double> total_;
};

Status check_updates(std::span<const std::span<const float>> updates,
                     const MeasureOptions& options) {
  const auto refuse = [](std::string what, std::string expected, std::string got) {
    return Status(
        StatusCode::invalid_argument,
        {.what = std::move(what), .expected = std::move(expected), .got = std::move(got)});
  };
  if (updates.empty() || updates.size() > kContributorsMax) {
    return refuse("updates to measure", fmt::format("1 to {}", kContributorsMax),
                  fmt::format("{}", updates.size()));
  }
  if (options.rounds == 0) return refuse("rounds to measure", "one or more", "none");
  if (options.bucket_values == 0 || options.bucket_values > kBucketValuesMax) {
    return refuse("values in a bucket", fmt::format("1 to {}", kBucketValuesMax),
                  fmt::format("{}", options.bucket_values));
  }
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (updates[i].empty()) return refuse(fmt::format("update {}", i), "a value or more", "none");
    if (updates[i].size() == updates[0].size()) continue;
    return refuse(fmt::format("update {}", i),
                  fmt::format("{} values, as many as update 0", updates[0].size()),
                  fmt::format("{}", updates[i].size()));
  }
  if (!options.layers || options.layers->values() == updates[0].size()) return {};
  return refuse("layers of the updates", fmt::format("{} values", updates[0].size()),
                fmt::format("{}", options.layers->values()));
}

// The buckets of a plan with these layers, or without layers buckets of equal size.
Result<std::vector<Bucket>> buckets_of(const Codec& codec, std::uint64_t values,
                                       const MeasureOptions& options) {
  if (options.layers) {
    return plan_buckets(*options.layers,
                        {.values_max = std::max<std::uint64_t>(options.bucket_values, kBucketStep),
                         .layer_values_max = codec.whole_layers() ? options.layer_values : 0});
  }
  std::vector<Bucket> buckets;
  for (std::uint64_t begin = 0; begin < values; begin += options.bucket_values) {
    buckets.push_back({.index = static_cast<std::uint32_t>(buckets.size()),
                       .offset = begin,
                       .count = std::min<std::uint64_t>(options.bucket_values, values - begin)});
  }
  return buckets;
}

}  // namespace

Result<MeasureReport> measure(const Codec& codec, std::span<const std::span<const float>> updates,
                              const MeasureOptions& options, const Clock& clock) {
  TRIBUTARY_TRY(check_updates(updates, options));
  const std::size_t values = updates[0].size();
  TRIBUTARY_ASSIGN(const std::vector<Bucket> buckets, buckets_of(codec, values, options));
  Tally tally;
  for (const Bucket& bucket : buckets) {
    std::vector<std::span<const float>> parts;
    for (const auto& update : updates) parts.push_back(update.subspan(bucket.offset, bucket.count));
    std::vector<LayerRun> layers;
    if (options.layers) {
      layers = layer_runs(*options.layers, bucket.offset, static_cast<std::uint32_t>(bucket.count),
                          LayerPart::rows);
    }
    BucketRun run(codec, std::move(parts), std::move(layers), options, clock);
    for (std::uint32_t round = 0; round < options.rounds; ++round) {
      if (Status s = run.play(bucket.index, round, tally); !s.ok()) {
        return std::move(s).at(
            fmt::format("bucket {} (from value {})", bucket.index, bucket.offset));
      }
      const std::uint64_t done = bucket.index * std::uint64_t{options.rounds} + round + 1;
      if (options.progress && !options.progress(done, buckets.size() * options.rounds)) {
        return Status(StatusCode::cancelled, {.what = "measurement", .got = "a stop"});
      }
    }
    run.judge(tally);
  }

  const double dense_down = static_cast<double>(values) * sizeof(float) * options.rounds;
  const double dense_up = dense_down * static_cast<double>(updates.size());
  MeasureReport report;
  report.ratio_up = dense_up / static_cast<double>(tally.bytes_up);
  report.ratio_down = dense_down / static_cast<double>(tally.bytes_down);
  report.bits_per_value_up = 32 / report.ratio_up;
  report.bits_per_value_down = 32 / report.ratio_down;
  report.nmse = tally.all_rounds.nmse();
  report.nmse_last = tally.last_round.nmse();
  report.encode_bytes_per_s = median(tally.encode_rates);
  report.aggregate_bytes_per_s = median(tally.aggregate_rates);
  report.decode_bytes_per_s = median(tally.decode_rates);
  for (StageTally& stage : tally.stages) report.stages.push_back(stage.mean());
  return report;
}

}  // namespace tributary
