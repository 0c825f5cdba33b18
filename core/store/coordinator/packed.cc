#include "core/store/coordinator/packed.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "core/store/database/restored.h"

namespace tributary {
namespace {

// Lists that are read and written only as a whole are packed into one column, little-endian,
// because a row per element would take more space and time.
constexpr std::size_t kOutcomeBytes = 16;

}  // namespace

Bytes pack(const std::vector<OutcomeRecord>& outcomes) {
  Bytes bytes;
  bytes.reserve(outcomes.size() * kOutcomeBytes);
  ByteWriter writer(bytes);
  for (const OutcomeRecord& outcome : outcomes) {
    ignore_error(writer.write(outcome.bucket));  // the writer is unbounded
    ignore_error(writer.write(outcome.contributor_set));
    ignore_error(writer.write(outcome.result_hash));
  }
  return bytes;
}

Result<std::vector<OutcomeRecord>> unpack_outcomes(ByteSpan bytes, const std::string& path) {
  if (bytes.size() % kOutcomeBytes != 0) {
    return damaged_journal(path, "outcomes of a round", "16 bytes each",
                           fmt::format("{} bytes", bytes.size()));
  }
  std::vector<OutcomeRecord> outcomes(bytes.size() / kOutcomeBytes);
  ByteReader reader(bytes);
  for (OutcomeRecord& outcome : outcomes) {
    TRIBUTARY_ASSIGN(outcome.bucket, reader.read<std::uint32_t>("bucket"));
    TRIBUTARY_ASSIGN(outcome.contributor_set, reader.read<std::uint32_t>("contributor set"));
    TRIBUTARY_ASSIGN(outcome.result_hash, reader.read<std::uint64_t>("result hash"));
  }
  return outcomes;
}

Result<Bytes> pack(const std::vector<MemberRecord>& members) {
  Bytes bytes;
  ByteWriter writer(bytes);
  for (const MemberRecord& member : members) {
    if (member.agent_id.size() > std::numeric_limits<std::uint16_t>::max()) {
      return Status(StatusCode::invalid_argument,
                    {.what = "an agent's id",
                     .expected = "at most 65535 bytes",
                     .got = fmt::format("{}", member.agent_id.size())});
    }
    TRIBUTARY_TRY(writer.write(static_cast<std::uint16_t>(member.agent_id.size())));
    TRIBUTARY_TRY(writer.append(bytes_of(member.agent_id)));
    TRIBUTARY_TRY(writer.write(member.weight));
  }
  return bytes;
}

// The list has no count. It ends with the bytes, so a damaged length is found at the end at the
// latest.
Result<std::vector<MemberRecord>> unpack_members(ByteSpan bytes, const std::string& path) {
  std::vector<MemberRecord> members;
  ByteReader reader(bytes);
  const auto read = [&]() -> Status {
    MemberRecord& member = members.emplace_back();
    TRIBUTARY_ASSIGN(const auto size, reader.read<std::uint16_t>("length of an id"));
    TRIBUTARY_ASSIGN(const ByteSpan id, reader.take(size, "id"));
    member.agent_id.assign(id.begin(), id.end());
    TRIBUTARY_ASSIGN(member.weight, reader.read<double>("weight"));
    return {};
  };
  while (reader.remaining() > 0) {
    if (Status status = read(); !status.ok()) {
      return std::move(status).at(fmt::format("journal '{}', members of an epoch", path));
    }
  }
  return members;
}

}  // namespace tributary
