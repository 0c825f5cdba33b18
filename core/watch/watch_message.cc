#include "core/watch/watch_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schemas/limits.h"

namespace tributary {
namespace {

constexpr std::size_t kWatchTextBytesMax = wire::kTextBytesMax;
// Inputs of a plan may be as long as a long frame.
constexpr std::size_t kWatchInputsBytesMax = wire::kLongFrameBytesMax;
constexpr std::uint32_t kWatchDepthMax = 8;  // the schema nests less deeply
// The remaining tables are the message itself and its fields outside the lists.
constexpr std::uint32_t kWatchRowsInAllMax = kWatchTablesMax - 8;

Status damaged_message(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "message between an observer and a coordinator",
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = {}});
}

// --- bounds

// Limit of the texts in one column. An empty `list` applies to a column of this name in any list
// and outside lists.
struct Cap {
  std::string_view list;
  std::string_view column;
  std::size_t bytes;
};

// The same limits as for reading a run's file: ids of agents, names of metrics, and other names.
// Texts without an entry may have kWatchTextBytesMax bytes.
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kWordsBytesMax = 256;
constexpr std::size_t kDeviceBytesMax = 128;  // a message may have one for each agent
constexpr Cap kCaps[] = {{"", "agent_id", kNameBytesMax},    {"", "trigger", kNameBytesMax},
                         {"", "collective", kNameBytesMax},  {"", "fallback", kNameBytesMax},
                         {"", "unit", kNameBytesMax},        {"", "purpose", kNameBytesMax},
                         {"", "from", kNameBytesMax},        {"", "to", kNameBytesMax},
                         {"metrics", "name", kNameBytesMax}, {"events", "name", kNameBytesMax},
                         {"", "codecs", kWordsBytesMax},     {"", "collectives", kWordsBytesMax},
                         {"", "source", kWordsBytesMax},     {"events", "reason", kWordsBytesMax},
                         {"", "build", kDeviceBytesMax},     {"", "device", kDeviceBytesMax}};

// Returns the largest size up to `bytes_max` that does not end within a UTF-8 character.
std::size_t cut_size(std::string_view text, std::size_t bytes_max) {
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return end;
}

// Refuses values that the pack functions do not produce, before they are copied. A message may
// refer to one table many times, and unpacking copies it each time. The verifier bounds the number
// of tables, and this class bounds the size of each.
class Bounds {
 public:
  template <typename Number>
  Status number(const wire::Place& place, Number value) {
    if constexpr (std::is_enum_v<Number>) {
      if (value > last_value<Number>()) {
        return damaged_message("a known value, in " + place.text(),
                               fmt::format("{}", static_cast<int>(value)));
      }
    }
    return {};
  }
  Status text(const wire::Place& place, std::string_view text) {
    return at_most(place, text.size(), watch_text_bytes_max(place));
  }
  Status list(const wire::Place& place, ByteSpan bytes, std::size_t /*alignment*/) {
    return at_most(place, bytes.size(), kWatchInputsBytesMax);
  }

 private:
  static Status at_most(const wire::Place& place, std::size_t bytes, std::size_t bytes_max) {
    if (bytes <= bytes_max) return {};
    return damaged_message(fmt::format("at most {} bytes in {}", bytes_max, place.text()),
                           fmt::format("{}", bytes));
  }
};

// Cuts texts that are too long directly in a message that was just written, and counts its rows.
class Cutting {
 public:
  template <typename Number>
  Status number(const wire::Place& /*place*/, Number /*value*/) {
    return {};
  }
  // Shortens a text within the finished message: writes its new size and a terminating zero.
  Status text(const wire::Place& place, std::string_view text) {
    const std::size_t bytes_max = watch_text_bytes_max(place);
    if (text.size() <= bytes_max) return {};
    const std::size_t size = cut_size(text, bytes_max);
    auto* const data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    flatbuffers::WriteScalar(data - sizeof(flatbuffers::uoffset_t),
                             static_cast<flatbuffers::uoffset_t>(size));
    data[size] = 0;
    has_cut_ = true;
    return {};
  }
  // A list whose items are offsets is a list of tables, so its length counts as rows.
  Status list(const wire::Place& /*place*/, ByteSpan bytes, std::size_t alignment) {
    if (alignment == sizeof(flatbuffers::uoffset_t)) rows_ += bytes.size() / alignment;
    return {};
  }
  bool has_cut() const { return has_cut_; }
  std::size_t rows() const { return rows_; }

 private:
  bool has_cut_ = false;
  std::size_t rows_ = 0;
};

// Visits the body of a message, if it has texts.
template <typename Visitor>
Status walk_body(const watch::Message& message, Visitor& visitor) {
  const wire::Place root = {.name = watch::EnumNameBody(message.body_type())};
  switch (message.body_type()) {
    case watch::Body::Portion:
      return wire::walk(*message.body_as_Portion(), root, visitor);
    case watch::Body::RoundDetail:
      return wire::walk(*message.body_as_RoundDetail(), root, visitor);
    case watch::Body::Trouble:
      return wire::walk(*message.body_as_Trouble(), root, visitor);
    default:
      return {};
  }
}

// --- troubles

watch::TroubleT trouble_of(const Status& status) {
  const Fault& fault = status.fault();
  watch::TroubleT trouble;
  trouble.code = static_cast<std::uint8_t>(status.code());
  trouble.what = fault.what;
  trouble.expected = fault.expected;
  trouble.got = fault.got;
  trouble.remedy = fault.remedy;
  return trouble;
}

// A code that this build does not know is read as unavailable.
Status read_trouble(watch::TroubleT& trouble) {
  const bool known = trouble.code > static_cast<std::uint8_t>(StatusCode::ok) &&
                     trouble.code <= static_cast<std::uint8_t>(kLastStatusCode);
  return Status(known ? static_cast<StatusCode>(trouble.code) : StatusCode::unavailable,
                {.what = std::move(trouble.what),
                 .expected = std::move(trouble.expected),
                 .got = std::move(trouble.got),
                 .remedy = std::move(trouble.remedy)});
}

// --- messages

Status too_large(std::string_view what, std::string expected, std::size_t got) {
  return Status(StatusCode::resource_exhausted, {.what = std::string(what),
                                                 .expected = std::move(expected),
                                                 .got = fmt::format("{}", got),
                                                 .remedy = {}});
}

// Packs a message. It is packed again if a text was cut, because cutting in place leaves unused
// bytes.
Result<Bytes> pack(std::uint64_t number, watch::BodyUnion body, std::size_t bytes_max) {
  auto message = std::make_unique<watch::MessageT>();
  message->number = number;
  message->body = std::move(body);
  flatbuffers::FlatBufferBuilder builder(1024);
  watch::FinishMessageBuffer(builder, watch::Message::Pack(builder, message.get()));
  const watch::Message& written = *watch::GetMessage(builder.GetBufferPointer());
  Cutting cutting;
  ignore_error(walk_body(written, cutting));  // this visitor never fails
  if (cutting.rows() > kWatchRowsInAllMax) {
    return too_large("message between an observer and a coordinator",
                     fmt::format("at most {} rows", kWatchRowsInAllMax), cutting.rows());
  }
  if (cutting.has_cut()) {  // rare: written again to remove the cut parts of the texts
    message.reset(written.UnPack());
    builder.Clear();
    watch::FinishMessageBuffer(builder, watch::Message::Pack(builder, message.get()));
  }
  if (builder.GetSize() > bytes_max) {
    return too_large("message between an observer and a coordinator",
                     fmt::format("at most {} bytes", bytes_max), builder.GetSize());
  }
  return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

template <typename Body>
watch::BodyUnion body_of(Body body) {
  watch::BodyUnion out;
  out.Set(std::move(body));
  return out;
}

// The identifier is checked first, so that a message of another version is recognized whatever else
// has changed in it.
Status check_version(ByteSpan bytes) {
  const std::string_view ours(watch::MessageIdentifier(), 4);
  if (bytes.size() < wire::kFrameBytesMin) {
    return damaged_message("a message", fmt::format("{} bytes", bytes.size()));
  }
  const std::string_view theirs = as_text(bytes.subspan(4, 4));
  if (theirs == ours) return {};
  if (theirs.substr(0, 3) != ours.substr(0, 3)) {
    return damaged_message(fmt::format("the identifier {}", ours), "another one");
  }
  const bool newer = theirs[3] > kWatchVersion;  // versions are compared by their last character
  return Status(StatusCode::unsupported,
                {.what = "protocol between observers and coordinators",
                 .expected = fmt::format("version {}", kWatchVersion),
                 .got = fmt::format("{} one", newer ? "a newer" : "an older"),
                 .remedy = "use a dashboard and a coordinator of the same release"});
}

// Checks the size, the version, the structure and the bounds, in this order, and unpacks the
// message only then.
Result<std::unique_ptr<watch::MessageT>> unpack(ByteSpan bytes, std::size_t bytes_max) {
  if (bytes.size() > bytes_max) {
    return too_large("message between an observer and a coordinator",
                     fmt::format("at most {} bytes", bytes_max), bytes.size());
  }
  TRIBUTARY_TRY(check_version(bytes));
  // FlatBuffers requires aligned bytes. A part received from libzmq may not be aligned.
  Bytes aligned;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % wire::kFrameAlignment != 0) {
    aligned.assign(bytes.begin(), bytes.end());
    bytes = aligned;
  }
  flatbuffers::Verifier::Options options;
  options.max_depth = kWatchDepthMax;
  options.max_tables = kWatchTablesMax;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  if (!watch::VerifyMessageBuffer(verifier)) {
    return damaged_message("a sound message", "offsets beyond its end, or too many tables");
  }
  const watch::Message& message = *watch::GetMessage(bytes.data());
  if (message.body() == nullptr) return damaged_message("a question or an answer", "neither");
  Bounds bounds;
  TRIBUTARY_TRY(walk_body(message, bounds));
  return std::unique_ptr<watch::MessageT>(message.UnPack());
}

watch::BodyUnion body_for(const WatchPortion& portion) {
  watch::PortionT wire = portion_of(portion.changes);
  wire.first = portion.first;
  wire.more = portion.more;
  if (!portion.trouble.ok()) {
    wire.trouble = std::make_unique<watch::TroubleT>(trouble_of(portion.trouble));
  }
  return body_of(std::move(wire));
}

watch::BodyUnion body_for(RoundDetail detail) {
  // Inputs that are too long are left out, because the other columns are still useful.
  if (detail.inputs.size() > kWatchInputsBytesMax) detail.inputs.clear();
  return body_of(std::move(detail));
}

watch::BodyUnion body_for(const OperatorAnswer& answer) {
  watch::OperatorAnswerT wire;
  wire.answer.assign(answer.json.begin(), answer.json.end());
  return body_of(std::move(wire));
}

watch::BodyUnion body_for(const Status& status) { return body_of(trouble_of(status)); }

watch::BodyUnion body_asked(const PullQuestion& pull) {
  watch::PullT wire;
  wire.afresh = pull.afresh;
  return body_of(wire);
}

watch::BodyUnion body_asked(const RoundQuestion& round) {
  watch::AskRoundT wire;
  wire.job = round.job;
  wire.round = round.round;
  return body_of(wire);
}

watch::BodyUnion body_asked(const OperatorQuestion& question) {
  watch::AskOperatorT wire;
  wire.question.assign(question.json.begin(), question.json.end());
  return body_of(std::move(wire));
}

WatchPortion read_portion(watch::PortionT& wire) {
  WatchPortion portion = {.first = wire.first, .more = wire.more};
  if (wire.trouble) portion.trouble = read_trouble(*wire.trouble);
  portion.changes = changes_of(std::move(wire));
  return portion;
}

// Applies `move` to each field that RunChanges and Portion have in common.
template <typename Changes, typename Move>
void each_field(Changes& changes, watch::PortionT& wire, Move move) {
  move(changes.begins_anew, wire.begins_anew);
  move(changes.rounds, wire.rounds);
  move(changes.plans, wire.plans);
  move(changes.ratios, wire.ratios);
  move(changes.metrics, wire.metrics);
  move(changes.reports, wire.reports);
  move(changes.links, wire.links);
  move(changes.events, wire.events);
  move(changes.overview_read, wire.overview_read);
}

template <typename Row>
void append(std::vector<Row>& to, std::vector<Row>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

std::size_t watch_text_bytes_max(const wire::Place& place) {
  const wire::Place* const list = place.outer ? place.outer->outer : nullptr;
  for (const Cap& cap : kCaps) {
    if (cap.column != place.name) continue;
    if (cap.list.empty() || (list && cap.list == list->name)) return cap.bytes;
  }
  return kWatchTextBytesMax;
}

watch::PortionT portion_of(const RunChanges& changes) {
  watch::PortionT wire;
  each_field(changes, wire, [](const auto& value, auto& field) { field = value; });
  wire.has_base = changes.base_wall_ns.has_value();
  wire.base_wall_ns = changes.base_wall_ns.value_or(0);
  wire.has_jobs = changes.jobs.has_value();
  if (changes.jobs) wire.jobs = *changes.jobs;
  wire.has_agents = changes.agents.has_value();
  if (changes.agents) wire.agents = *changes.agents;
  return wire;
}

RunChanges changes_of(watch::PortionT wire) {
  RunChanges changes;
  each_field(changes, wire, [](auto& value, auto& field) { value = std::move(field); });
  if (wire.has_base) changes.base_wall_ns = wire.base_wall_ns;
  if (wire.has_jobs) changes.jobs = std::move(wire.jobs);
  if (wire.has_agents) changes.agents = std::move(wire.agents);
  return changes;
}

Result<Bytes> pack_question(const WatchQuestion& question) {
  watch::BodyUnion body =
      std::visit([](const auto& part) { return body_asked(part); }, question.body);
  return pack(question.number, std::move(body), kWatchQuestionBytesMax);
}

Result<Bytes> pack_answer(const WatchAnswer& answer) {
  watch::BodyUnion body = std::visit([](const auto& part) { return body_for(part); }, answer.body);
  return pack(answer.number, std::move(body), kWatchAnswerBytesMax);
}

Result<WatchQuestion> unpack_question(ByteSpan bytes) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<watch::MessageT> message,
                   unpack(bytes, kWatchQuestionBytesMax));
  WatchQuestion question = {.number = message->number};
  if (const watch::PullT* const pull = message->body.AsPull()) {
    question.body = PullQuestion{.afresh = pull->afresh};
  } else if (const watch::AskRoundT* const round = message->body.AsAskRound()) {
    question.body = RoundQuestion{.job = round->job, .round = round->round};
  } else if (const watch::AskOperatorT* const asked = message->body.AsAskOperator()) {
    question.body = OperatorQuestion{.json = {asked->question.begin(), asked->question.end()}};
  } else {
    return damaged_message("a question", "something else");
  }
  return question;
}

Result<WatchAnswer> unpack_answer(ByteSpan bytes) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<watch::MessageT> message,
                   unpack(bytes, kWatchAnswerBytesMax));
  const std::uint64_t number = message->number;
  if (watch::PortionT* const portion = message->body.AsPortion()) {
    return WatchAnswer{.number = number, .body = read_portion(*portion)};
  }
  if (RoundDetail* const round = message->body.AsRoundDetail()) {
    return WatchAnswer{.number = number, .body = std::move(*round)};
  }
  if (const watch::OperatorAnswerT* const operator_answer = message->body.AsOperatorAnswer()) {
    return WatchAnswer{
        .number = number,
        .body = OperatorAnswer{{operator_answer->answer.begin(), operator_answer->answer.end()}}};
  }
  if (watch::TroubleT* const trouble = message->body.AsTrouble()) {
    return WatchAnswer{.number = number, .body = read_trouble(*trouble)};
  }
  return damaged_message("an answer", "something else");
}

void add_changes(RunChanges portion, RunChanges& changes) {
  if (portion.begins_anew) changes = {};
  changes.begins_anew |= portion.begins_anew;
  if (portion.base_wall_ns) changes.base_wall_ns = portion.base_wall_ns;
  if (portion.jobs) changes.jobs = std::move(portion.jobs);
  if (portion.agents) changes.agents = std::move(portion.agents);
  append(changes.rounds, portion.rounds);
  append(changes.plans, portion.plans);
  append(changes.ratios, portion.ratios);
  append(changes.metrics, portion.metrics);
  append(changes.reports, portion.reports);
  append(changes.links, portion.links);
  append(changes.events, portion.events);
  changes.overview_read |= portion.overview_read;
}

}  // namespace tributary
