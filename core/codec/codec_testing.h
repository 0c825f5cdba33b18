// Shared parts of the codec tests: the specs to test, updates with every difficult kind of value,
// and a run of the real exchange whose bytes can be compared with those of another run. Tests only.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/codec/local_exchange.h"
#include "core/codec/payload.h"
#include "core/codec/registry.h"

namespace tributary::codec_testing {

// Every family with its default parameters. A new family is tested as soon as it is in the
// registry.
inline std::vector<std::string> default_specs() {
  std::vector<std::string> specs;
  for (const CodecFamily& family : codec_families()) specs.emplace_back(family.name);
  return specs;
}

// The number in its shortest decimal form without an exponent, such as "1000000" or "0.5".
inline std::string plain_number(double number) {
  std::string text = std::to_string(number);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// Every family with one parameter changed: to each other choice, or to both ends of its range.
inline std::vector<std::string> other_specs() {
  std::vector<std::string> specs;
  for (const CodecFamily& family : codec_families()) {
    for (const ParamSpec& param : family.params) {
      std::vector<std::string> values(param.choices.begin(), param.choices.end());
      if (param.kind != ParamKind::choice) {
        values = {plain_number(param.min), plain_number(param.max)};
      }
      for (const std::string& value : values) {
        const std::string spec =
            std::string(family.name) + ":" + std::string(param.name) + "=" + value;
        // The codec itself is not made here, because that may solve a table, and every test process
        // builds this list.
        const Result<SpecText> text = split_spec(spec);
        const Result<Params> params =
            text.ok() ? Params::make(*text, family.params) : Result<Params>(text.status());
        // A spec that cannot be made stays in the list, so that a test reports it.
        if (!params.ok() || params->canonical(family.name) != family.name) specs.push_back(spec);
      }
    }
  }
  return specs;
}

inline std::unique_ptr<Codec> codec_of(const std::string& spec) {
  Result<std::unique_ptr<Codec>> codec = make_codec(spec);
  EXPECT_TRUE(codec.ok()) << codec.status().text();
  return codec.ok() ? std::move(*codec) : nullptr;
}

// The distributions of test values. `tiny` and `huge` are normal values near the ends of the float
// range; `spike` has one large value in a thousand; `extremes` includes limits of fp16 and of
// denormals.
enum class Pattern { zeros, normal, lognormal, integers, denormal, tiny, huge, spike, extremes };
inline constexpr Pattern kPatterns[] = {Pattern::zeros,    Pattern::normal,   Pattern::lognormal,
                                        Pattern::integers, Pattern::denormal, Pattern::tiny,
                                        Pattern::huge,     Pattern::spike,    Pattern::extremes};

inline float value_of(Pattern pattern, std::uint32_t bits, double normal, std::size_t index) {
  const auto sign = (bits & 1u) != 0 ? -1.0f : 1.0f;
  const auto x = static_cast<float>(normal);
  switch (pattern) {
    case Pattern::zeros:
      return (bits & 2u) != 0 ? -0.0f : 0.0f;
    case Pattern::normal:
      return x;
    case Pattern::lognormal:
      return sign * std::exp(x);
    case Pattern::integers:
      return static_cast<float>(static_cast<int>(bits % 33) - 16);
    case Pattern::denormal:
      return std::bit_cast<float>(bits & 0x807fffffu);
    case Pattern::tiny:
      return x * 1e-30f;
    case Pattern::huge:
      return x * 1e30f;
    case Pattern::spike:
      return index % 1000 == 17 ? sign * 1e6f : x * 1e-3f;
    case Pattern::extremes: {
      constexpr float kExtremes[] = {FLT_MAX / 16, FLT_MIN, 0x1p-149f, 1.0f, 65504.0f, 65520.0f};
      return sign * kExtremes[(bits >> 4) % std::size(kExtremes)];
    }
  }
  return 0;
}

// The update of one agent. It depends only on the arguments, so every run and platform tests the
// same bits.
inline FloatVector update(Pattern pattern, std::size_t values, std::uint32_t agent) {
  const DrawAddress address = {.job_seed = 7,
                               .bucket = static_cast<std::uint32_t>(pattern),
                               .purpose = DrawPurpose::synthetic_data,
                               .agent = agent};
  const StreamKey key = stream_key(address);
  const NormalStream normals(address);
  FloatVector out(values);
  for (std::size_t i = 0; i < values; ++i) {
    const auto element = static_cast<std::uint32_t>(i);
    out[i] = value_of(pattern, random_bits(key, element), normals.at(element), i);
  }
  return out;
}

inline std::vector<FloatVector> updates(Pattern pattern, std::size_t values, std::uint32_t agents) {
  std::vector<FloatVector> all;
  for (std::uint32_t agent = 0; agent < agents; ++agent) {
    all.push_back(update(pattern, values, agent));
  }
  return all;
}

inline std::vector<std::span<const float>> spans(const std::vector<FloatVector>& all) {
  return {all.begin(), all.end()};
}

inline std::vector<std::uint32_t> bits_of(std::span<const float> values) {
  std::vector<std::uint32_t> bits;
  bits.reserve(values.size());
  for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
  return bits;
}

// Everything that several rounds with error feedback produce, for comparison bit by bit.
struct Trace {
  std::vector<Bytes> combined;                        // every stage of every round
  std::vector<std::vector<std::uint32_t>> sums;       // every round
  std::vector<std::vector<std::uint32_t>> residuals;  // every agent's, then the aggregator's
  std::string error;

  friend bool operator==(const Trace&, const Trace&) = default;
};

inline Trace play(const Codec& codec, const std::vector<FloatVector>& all, std::uint32_t rounds,
                  const Execution& execution) {
  const SystemClock clock;
  const auto values = static_cast<std::uint32_t>(all[0].size());
  const auto agents = static_cast<std::uint32_t>(all.size());
  LocalExchange exchange(codec, values, agents, true, clock);
  Trace trace;
  FloatVector sum(values);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const Result<ExchangeTraffic> traffic =
        exchange.play({.job_seed = 3, .round = round, .bucket = 5}, execution, spans(all), sum);
    if (!traffic.ok()) {
      trace.error = traffic.status().text();
      return trace;
    }
    trace.combined.insert(trace.combined.end(), exchange.combined().begin(),
                          exchange.combined().end());
    trace.sums.push_back(bits_of(sum));
  }
  for (std::uint32_t i = 0; i < agents; ++i) {
    trace.residuals.push_back(bits_of(exchange.residual(i)));
  }
  trace.residuals.push_back(bits_of(exchange.aggregator_residual()));
  return trace;
}

// Runs a round up to the last stage's aggregator, so that a test can continue with its own calls.
// `planned` is the number of planned members and may exceed the number of updates.
class Round {
 public:
  Round(const Codec& codec, const std::vector<FloatVector>& all, std::uint32_t planned)
      : codec_(codec), values_(static_cast<std::uint32_t>(all[0].size())), planned_(planned) {
    for (std::size_t stage = 0; stage < codec.stages().size(); ++stage) {
      combined_.push_back(play_stage(all, stage));
    }
  }

  StageCall call(std::size_t stage, std::uint32_t agent = 0) {
    spans_.assign(combined_.begin(), combined_.begin() + static_cast<std::ptrdiff_t>(stage));
    return {.round = {.job_seed = 3, .bucket = 5, .agent = agent, .agents = planned_},
            .execution = {},
            .combined = spans_};
  }
  std::size_t last() const { return combined_.size() - 1; }
  const Bytes& combined(std::size_t stage) const { return combined_[stage]; }
  const Bytes& payload(std::size_t stage, std::size_t agent) const {
    return payloads_[stage][agent];
  }

 private:
  Bytes play_stage(const std::vector<FloatVector>& all, std::size_t stage) {
    if (encoders_.empty()) {
      for (std::size_t i = 0; i < all.size(); ++i)
        encoders_.push_back(codec_.make_encoder(values_));
    }
    const auto aggregator = codec_.make_aggregator(stage, values_);
    EXPECT_TRUE(aggregator->begin(call(stage), {}).ok());
    payloads_.emplace_back(all.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      Bytes& payload = payloads_[stage][i];
      EXPECT_TRUE(encoders_[i]->encode(call(stage, i), all[i], payload).ok());
      if (payload.empty()) continue;
      const Status added = aggregator->add(call(stage), payload);
      EXPECT_TRUE(added.ok()) << added.text();
    }
    Bytes combined;
    EXPECT_TRUE(aggregator->finish(call(stage), combined).ok());
    return combined;
  }

  const Codec& codec_;
  const std::uint32_t values_;
  const std::uint32_t planned_;
  std::vector<std::unique_ptr<Encoder>> encoders_;
  std::vector<std::vector<Bytes>> payloads_;
  std::vector<Bytes> combined_;
  std::vector<ByteSpan> spans_;
};

inline std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

}  // namespace tributary::codec_testing
