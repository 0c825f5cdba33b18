#include "core/round/common/plan/mechanisms.h"

#include <fmt/format.h>

#include <algorithm>

namespace tributary {
namespace {

template <typename TableT>
SharedBytes pack_facts(const TableT& facts) {
  flatbuffers::FlatBufferBuilder builder(256);
  builder.Finish(TableT::TableType::Pack(builder, &facts));
  return std::make_shared<const Bytes>(builder.GetBufferPointer(),
                                       builder.GetBufferPointer() + builder.GetSize());
}

}  // namespace

void add_to_tally(Tallies& tallies, std::string_view of, std::uint64_t count) {
  const auto known =
      std::ranges::find_if(tallies, [&](const auto& tally) { return tally->of == of; });
  if (known != tallies.end()) {
    (*known)->count += count;
  } else if (tallies.size() < kTalliesMax) {
    auto tally = std::make_unique<wire::TallyT>();
    tally->of = of;
    tally->count = count;
    tallies.push_back(std::move(tally));
  }
}

SharedBytes pack_mechanisms(const wire::MechanismsT& mechanisms) { return pack_facts(mechanisms); }

SharedBytes pack_mechanisms(const wire::RoundMechanismsT& mechanisms) {
  return pack_facts(mechanisms);
}

Result<wire::RoundMechanismsT> unpack_round_mechanisms(ByteSpan packed) {
  flatbuffers::Verifier verifier(packed.data(), packed.size());
  if (!verifier.VerifyBuffer<wire::RoundMechanisms>(nullptr)) {
    return Status(StatusCode::corrupt_data, {.what = "facts of a round",
                                             .expected = "a table RoundMechanisms",
                                             .got = fmt::format("{} other bytes", packed.size()),
                                             .remedy = "restore the journal from a copy"});
  }
  wire::RoundMechanismsT mechanisms;
  flatbuffers::GetRoot<wire::RoundMechanisms>(packed.data())->UnPackTo(&mechanisms);
  return mechanisms;
}

}  // namespace tributary
