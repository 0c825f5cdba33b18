// The start of both fuzzers of this folder: a codec, a plan and a size from a few bytes. Fuzzers
// only.
#pragma once

#include <hwy/targets.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/base/bytes/bytes.h"
#include "core/codec/registry.h"

namespace tributary::thc {

inline void require(bool condition) {
  if (!condition) std::abort();
}

struct FuzzCase {
  std::unique_ptr<Codec> codec;
  std::uint32_t agents = 1;
  std::uint32_t values = 0;
  std::int64_t target = 0;  // an instruction set of Highway
  ByteReader rest{{}};
};

inline std::int64_t target_of(std::uint8_t choice) {
  std::int64_t targets = hwy::SupportedTargets();
  const int count = __builtin_popcountll(static_cast<std::uint64_t>(targets));
  for (int skip = choice % count; skip > 0; --skip) targets &= targets - 1;
  return targets & -targets;
}

// The parameters of tables are given, because choosing them takes longer than everything else.
inline std::string spec_of(std::uint8_t table, std::uint8_t rest) {
  // A shared rate chooses its tables, once for each number of agents.
  constexpr std::array kRates = {"0.25", "1", "2.5", "8"};
  constexpr std::array kTables = {
      "bits=1,granularity=1",   "bits=2,granularity=7",   "bits=3,granularity=20",
      "bits=4,granularity=63",  "bits=4,granularity=30",  "bits=4,granularity=100",
      "bits=4,granularity=300", "bits=4,levels=uniform",  "bits=5,granularity=40",
      "bits=6,granularity=90",  "bits=7,granularity=300", "bits=8,levels=uniform"};
  constexpr std::array kBlocks = {"64", "128", "256", "1024", "4096", "65536"};
  constexpr std::array kDowns = {"exact", "8", "16"};
  if (table >= 240) {
    return std::string("thc:rate=") + kRates[table % kRates.size()] +
           ",block=" + kBlocks[rest % kBlocks.size()] +
           (rest >= 128 ? ",rounding=independent" : "");
  }
  return std::string("thc:p=0.01,") + kTables[table % kTables.size()] +
         ",block=" + kBlocks[rest % kBlocks.size()] +
         ",down=" + kDowns[rest / 8 % 4 % kDowns.size()] +
         (rest / 32 % 2 != 0 ? ",range=minmax" : "") + (rest / 64 % 2 != 0 ? ",rotation=off" : "") +
         (rest >= 128 ? ",rounding=independent" : "");
}

inline Result<FuzzCase> read_case(ByteSpan data) {
  ByteReader reader(data);
  std::array<std::uint8_t, 4> choices;
  for (std::uint8_t& choice : choices) {
    TRIBUTARY_ASSIGN(choice, reader.read<std::uint8_t>("choice"));
  }
  TRIBUTARY_ASSIGN(const auto values, reader.read<std::uint16_t>("values"));
  constexpr std::array<std::uint32_t, 4> kAgents = {1, 2, 3, 8};  // each has a cached table
  FuzzCase out;
  TRIBUTARY_ASSIGN(out.codec, make_codec(spec_of(choices[0], choices[1])));
  out.agents = kAgents[choices[2] % kAgents.size()];
  out.values = values % 9000u;
  out.target = target_of(choices[3]);
  out.rest = reader;
  return out;
}

}  // namespace tributary::thc
