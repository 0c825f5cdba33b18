#include "core/codec/thc/body.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/bytes/checksum.h"
#include "core/codec/thc/elements.h"
#include "core/codec/thc/rate/allocate.h"

namespace tributary::thc {
namespace {

// Identifies a table.
struct TableStamp {
  std::uint16_t granularity;
  std::uint16_t fingerprint;
  float threshold;
};
static_assert(sizeof(TableStamp) == kStampBytes);

TableStamp stamp_of(const Levels& levels) {
  return {.granularity = static_cast<std::uint16_t>(levels.granularity),
          .fingerprint = levels.fingerprint,
          .threshold = levels.threshold};
}

}  // namespace

Result<std::span<const float>> open_norms(const Codec& codec, const Options& options,
                                          const StageCall& call, std::size_t values) {
  TRIBUTARY_ASSIGN(const OpenPayload open,
                   open_payload_of(codec, 0, values, call.execution, call.combined.front()));
  const std::size_t each = options.range_numbers();
  const std::size_t count = options.layout(values).blocks() * each;
  if (open.body.size() != count * sizeof(float)) {
    return wrong_body_size("THC norms", count * sizeof(float), open.body.size());
  }
  const std::span norms(reinterpret_cast<const float*>(open.body.data()), count);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isfinite(norms[i]) && norms[i] >= 0) continue;
    return Status(StatusCode::corrupt_data, {.what = fmt::format("THC norm of block {}", i / each),
                                             .expected = "a finite number, not below 0",
                                             .got = fmt::format("{}", norms[i]),
                                             .remedy = "have the bucket sent again"});
  }
  return norms;
}

Result<FieldPlan> FieldPlan::make(const Options& options, std::uint32_t agents, std::size_t values,
                                  std::span<const float> norms) {
  FieldPlan plan;
  if (options.rate != 0) {
    plan.rated_ = true;
    TRIBUTARY_TRY(plan.divide(options, agents, values, norms));
    return plan;
  }
  TRIBUTARY_ASSIGN(const auto levels, options.levels_for(agents));
  plan.runs_.push_back({.levels = levels, .coordinates = options.layout(values).coordinates()});
  const TableStamp stamp = stamp_of(*levels);
  std::memcpy(plan.stamp_.data(), &stamp, sizeof(stamp));
  return plan;
}

Status FieldPlan::divide(const Options& options, std::uint32_t agents, std::size_t values,
                         std::span<const float> norms) {
  TRIBUTARY_ASSIGN(const std::vector<Width> widths, widths_for(agents, options.down_weight));
  const BlockLayout layout = options.layout(values);
  std::vector<std::uint32_t> sizes(layout.blocks());
  layout.for_each_chunk({}, [&](const auto& for_each_block) {
    for_each_block(
        [&](const Block& block) { sizes[block.index] = static_cast<std::uint32_t>(block.size); });
  });
  const std::vector<std::uint8_t> chosen =
      allocate(norms, sizes, widths, options.down_weight, options.rate, kRmsMin);

  std::vector<std::size_t> coordinates(widths.size(), 0);
  run_of_block_.resize(chosen.size());
  begin_of_block_.resize(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    begin_of_block_[i] = static_cast<std::uint32_t>(coordinates[chosen[i]]);
    coordinates[chosen[i]] += sizes[i];
  }
  // Widths without blocks have no run.
  std::vector<std::uint8_t> run_of_width(widths.size(), kNotSent);
  Checksum checksum;
  for (std::size_t i = 1; i < widths.size(); ++i) {
    if (coordinates[i] == 0) continue;
    run_of_width[i] = static_cast<std::uint8_t>(runs_.size());
    TRIBUTARY_ASSIGN(auto levels, levels_for(widths[i].table));
    const TableStamp stamp = stamp_of(*levels);
    checksum.update({reinterpret_cast<const std::uint8_t*>(&stamp), sizeof(stamp)});
    runs_.push_back({.levels = std::move(levels), .coordinates = coordinates[i]});
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) run_of_block_[i] = run_of_width[chosen[i]];
  checksum.update(run_of_block_);
  const std::uint64_t sum = checksum.finish64();
  std::memcpy(stamp_.data(), &sum, sizeof(sum));
  return {};
}

std::uint8_t FieldPlan::sums_layout(std::uint32_t contributors) const {
  if (rated_) return kSumsOfRunsLayout;
  return static_cast<std::uint8_t>(runs_.front().levels->sum_bits_of(contributors));
}

void FieldPlan::write_stamp(std::uint8_t* body) const {
  std::memcpy(body, stamp_.data(), kStampBytes);
}

Status FieldPlan::check_stamp(const std::uint8_t* body) const {
  if (std::memcmp(body, stamp_.data(), kStampBytes) == 0) return {};
  std::string expected = "those that follow from the combined norms of this round";
  if (!rated_) {
    const Levels& levels = *runs_.front().levels;
    expected =
        fmt::format("granularity {}, fingerprint {:#06x}", levels.granularity, levels.fingerprint);
  }
  return Status(StatusCode::mismatch,
                {.what = rated_ ? "tables and widths of THC levels" : "table of THC levels",
                 .expected = std::move(expected),
                 .got = rated_ ? "others" : "another table",
                 .remedy = "plan the round for the same number of agents everywhere"});
}

Fields::Fields(const OpenPayload& payload, const FieldPlan& plan)
    : data(payload.body.data() + kStampBytes),
      sums(payload.header.layout != kLevelsLayout),
      contributors(payload.header.contributors),
      starts(plan.starts([this](const Levels& levels) { return bits_of(levels); })) {}

Result<Fields> open_fields(const OpenPayload& payload, const FieldPlan& plan) {
  const PayloadHeader& header = payload.header;
  const std::uint8_t sums_layout = plan.sums_layout(header.contributors);
  const bool sums = header.layout != kLevelsLayout;
  if (sums ? header.layout != sums_layout : header.contributors != 1) {
    return Status(StatusCode::mismatch,
                  {.what = "layout of THC levels",
                   .expected = fmt::format("0 for one contributor, or {} for sums", sums_layout),
                   .got = fmt::format("{} for {}", header.layout, header.contributors),
                   .remedy = "plan the round for the same number of agents everywhere"});
  }
  Fields fields(payload, plan);
  const std::size_t bytes = kStampBytes + fields.starts.back();
  if (payload.body.size() != bytes) {
    return wrong_body_size("THC levels", bytes, payload.body.size());
  }
  TRIBUTARY_TRY(plan.check_stamp(payload.body.data()));
  return fields;
}

Status sum_too_large(std::uint32_t contributors) {
  return Status(StatusCode::corrupt_data,
                {.what = "sums of THC levels",
                 .expected = fmt::format("at most {} times the granularity", contributors),
                 .got = "larger ones",
                 .remedy = "have the bucket sent again"});
}

}  // namespace tributary::thc
