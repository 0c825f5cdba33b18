#include "core/codec/cuda/thc/loops.h"

#include <bit>

#include "core/codec/cuda/thc/thc.h"
#include "core/codec/cuda/workspace.h"

namespace tributary::TRIBUTARY_DEVICE {

ThcBlocks ThcBlocks::of(const thc::BlockFormat& format, std::size_t values) {
  return {.values = static_cast<std::uint32_t>(values),
          .units = static_cast<std::uint32_t>((values + thc::kBlockMin - 1) / thc::kBlockMin),
          .shift = static_cast<unsigned>(std::countr_zero(format.block / thc::kBlockMin)),
          .rotated = format.rotated,
          .minmax = format.minmax,
          .signs = format.signs};
}

ThcRun ThcRun::of(const ThcBlocks& blocks, const thc::Levels& levels, unsigned bits,
                  std::uint64_t start) {
  ThcRun run = {};
  run.start = start;
  run.bits = bits;
  run.granularity = static_cast<float>(levels.granularity);
  run.threshold = levels.threshold;
  run.spread_scale = thc::spread_scale(run.granularity, blocks.minmax ? 1.0f : levels.threshold,
                                       blocks.rotated ? blocks.block() : 1);
  for (std::uint32_t i = 0; i <= levels.granularity; ++i) {
    const thc::Cell& cell = levels.cells[i];
    run.level_of_cell[i] = cell.level;
    run.step_of_level[cell.level] = {thc::least_to_go_up(cell), thc::gap_per_draw(cell) * 0x1p-16f};
  }
  std::ranges::copy(levels.places, run.places);
  return run;
}

namespace {

class ThcLoops final : public thc::DeviceLoops {
 public:
  explicit ThcLoops(Workspaces& workspaces) : workspaces_(workspaces) {}

  Result<bool> find_ranges(const thc::BlockFormat& format, std::span<const float> values,
                           float* numbers) override {
    constexpr std::uint32_t kFinite[] = {0};
    std::uint32_t not_finite = 0;
    const ThcBlocks blocks = ThcBlocks::of(format, values.size());
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(auto* const flag, space.upload(std::span<const std::uint32_t>(kFinite)));
    const std::size_t count = blocks.blocks() * (blocks.minmax ? 2u : 1u);
    TRIBUTARY_ASSIGN(auto* const found, space.array<float>(count));
    if (blocks.minmax) {
      TRIBUTARY_ASSIGN(auto* const scratch, scratch_of(space, blocks, blocks.rotated));
      TRIBUTARY_TRY(find_extents(space.queue(), x, blocks, scratch, found, flag));
    } else {
      TRIBUTARY_TRY(find_norms(space.queue(), x, blocks, found, flag));
    }
    TRIBUTARY_TRY(space.download(flag, std::span(&not_finite, 1)));
    TRIBUTARY_TRY(space.download(found, std::span(numbers, count)));
    TRIBUTARY_TRY(space.wait());
    return not_finite == 0;
  }

  Status encode_levels(const thc::BlockFormat& format, const thc::FieldPlan& plan,
                       const thc::Rounding& rounding, std::span<const float> values,
                       std::span<const float> numbers, std::uint8_t* fields) override {
    const ThcBlocks blocks = ThcBlocks::of(format, values.size());
    const auto bits_of = [](const thc::Levels& levels) { return levels.bits; };
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const x, space.upload(values));
    TRIBUTARY_ASSIGN(const auto* const given, space.upload(numbers));
    TRIBUTARY_ASSIGN(const Uploaded places, upload(space, blocks, plan, bits_of));
    TRIBUTARY_ASSIGN(auto* const scratch, scratch_of(space, blocks, blocks.needs_scratch()));
    TRIBUTARY_ASSIGN(auto* const out, space.array<std::uint8_t>(places.bytes));
    TRIBUTARY_TRY(TRIBUTARY_DEVICE::encode_levels(space.queue(), x, blocks, given, places.fields,
                                                  rounding, scratch, out));
    TRIBUTARY_TRY(space.download(out, std::span(fields, places.bytes)));
    return space.wait();
  }

  Result<Checks> decode(const thc::BlockFormat& format, const thc::FieldPlan& plan,
                        const thc::Fields& fields, std::span<const float> numbers,
                        std::span<float> values) override {
    constexpr ThcFlags kNone[] = {{0, 0}};
    ThcFlags raised = {};
    const ThcBlocks blocks = ThcBlocks::of(format, values.size());
    const auto bits_of = [&](const thc::Levels& levels) { return fields.bits_of(levels); };
    TRIBUTARY_ASSIGN(Workspace space, workspaces_.take());
    TRIBUTARY_ASSIGN(const auto* const given, space.upload(numbers));
    TRIBUTARY_ASSIGN(const Uploaded places, upload(space, blocks, plan, bits_of));
    TRIBUTARY_ASSIGN(const auto* const in, space.upload(std::span(fields.data, places.bytes)));
    TRIBUTARY_ASSIGN(auto* const flags, space.upload(std::span<const ThcFlags>(kNone)));
    TRIBUTARY_ASSIGN(auto* const scratch, scratch_of(space, blocks, blocks.needs_scratch()));
    TRIBUTARY_ASSIGN(auto* const x, space.target(values));
    TRIBUTARY_TRY(decode_fields(space.queue(), in, blocks, given, places.fields,
                                {.sums = fields.sums, .contributors = fields.contributors}, scratch,
                                x, flags));
    TRIBUTARY_TRY(space.download(flags, std::span(&raised, 1)));
    TRIBUTARY_TRY(space.download(x, values));
    TRIBUTARY_TRY(space.wait());
    return Checks{.within = raised.too_large == 0, .finite = raised.not_finite == 0};
  }

 private:
  // Null if no memory is needed.
  static Result<float*> scratch_of(Workspace& space, const ThcBlocks& blocks, bool needed) {
    if (!needed) return nullptr;
    return space.array<float>(blocks.coordinates());
  }

  struct Uploaded {
    ThcFields fields;
    std::size_t bytes;  // of all fields
    // Hold what is uploaded, which may still be in progress.
    std::vector<ThcRun> runs;
  };
  // The result must stay until the workspace has waited.
  template <typename BitsOf>
  static Result<Uploaded> upload(Workspace& space, const ThcBlocks& blocks,
                                 const thc::FieldPlan& plan, const BitsOf& bits_of) {
    const std::vector<std::size_t> starts = plan.starts(bits_of);
    Uploaded out = {.fields = {}, .bytes = starts.back(), .runs = {}};
    for (std::size_t i = 0; i < plan.runs().size(); ++i) {
      const thc::Levels& levels = *plan.runs()[i].levels;
      out.runs.push_back(ThcRun::of(blocks, levels, bits_of(levels), starts[i]));
    }
    TRIBUTARY_ASSIGN(out.fields.runs, space.upload(std::span<const ThcRun>(out.runs)));
    if (plan.run_of_block().empty()) return out;
    TRIBUTARY_ASSIGN(out.fields.run_of_block, space.upload(plan.run_of_block()));
    TRIBUTARY_ASSIGN(out.fields.begin_of_block, space.upload(plan.begin_of_block()));
    return out;
  }

  Workspaces& workspaces_;
};

}  // namespace

std::unique_ptr<thc::DeviceLoops> make_thc_loops(Workspaces& workspaces) {
  return std::make_unique<ThcLoops>(workspaces);
}

}  // namespace tributary::TRIBUTARY_DEVICE
