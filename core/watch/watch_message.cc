#include "core/watch/watch_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/net/zmq/control.h"
#include "core/watch/watch_fields.h"
#include "schemas/walk.h"

namespace tributary {
namespace {

constexpr std::uint32_t kWatchDepthMax = 8;
// The others are the message itself and what it says beside its lists.
constexpr std::uint32_t kWatchRowsInAllMax = kWatchTablesMax - 8;

// Not in the middle of a character.
std::string cut_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return std::string(text.substr(0, end));
}

// --- from values to a message

class Telling {
 public:
  template <typename Value, typename Wire>
  void number(const Value& value, Wire& wire) {
    wire = static_cast<Wire>(value);
  }
  template <typename Value, typename Wire>
  void choice(const Value& value, Wire& wire, Value last) {
    wire = static_cast<Wire>(std::min(value, last));
  }
  void text(const std::string& value, std::string& wire, std::size_t bytes_max) {
    wire = cut_text(value, bytes_max);
  }
  void blob(const std::string& value, std::vector<std::uint8_t>& wire, std::size_t bytes_max) {
    if (value.size() <= bytes_max) wire.assign(value.begin(), value.end());
  }
  template <typename Value, typename Wire>
  void list(const std::vector<Value>& values, std::vector<std::unique_ptr<Wire>>& wire) {
    wire.reserve(values.size());
    for (const Value& value : values) {
      pair_fields(*this, value, *wire.emplace_back(std::make_unique<Wire>()));
    }
    rows_ += values.size();
  }
  template <typename Value, typename Pair>
  void maybe(const std::optional<Value>& value, bool& there, Pair pair) {
    there = value.has_value();
    if (there) pair(*value);
  }
  std::size_t rows() const { return rows_; }

 private:
  std::size_t rows_ = 0;
};

// --- and back

class Reading {
 public:
  template <typename Value, typename Wire>
  void number(Value& value, const Wire& wire) {
    value = static_cast<Value>(wire);
  }
  template <typename Value, typename Wire>
  void choice(Value& value, const Wire& wire, Value last) {
    if (wire > static_cast<Wire>(last)) return refuse("a choice that is known", wire);
    value = static_cast<Value>(wire);
  }
  void text(std::string& value, std::string& wire, std::size_t bytes_max) {
    if (wire.size() > bytes_max) return refuse("a shorter text", wire.size());
    value = std::move(wire);
  }
  void blob(std::string& value, const std::vector<std::uint8_t>& wire, std::size_t bytes_max) {
    if (wire.size() > bytes_max) return refuse("a shorter text", wire.size());
    value.assign(wire.begin(), wire.end());
  }
  template <typename Value, typename Wire>
  void list(std::vector<Value>& values, std::vector<std::unique_ptr<Wire>>& wire) {
    values.reserve(wire.size());
    for (const std::unique_ptr<Wire>& one : wire) {
      if (one) pair_fields(*this, values.emplace_back(), *one);
    }
  }
  template <typename Value, typename Pair>
  void maybe(std::optional<Value>& value, bool there, Pair pair) {
    if (there) pair(value.emplace());
  }
  const Status& status() const { return status_; }

 private:
  void refuse(std::string_view expected, std::size_t got) {
    if (!status_.ok()) return;
    status_ = Status(StatusCode::corrupt_data, {.what = "message of a watch",
                                                .expected = std::string(expected),
                                                .got = fmt::format("{}", got),
                                                .remedy = {}});
  }

  Status status_;
};

// --- troubles

watch::TroubleT told(const Status& status) {
  const Fault& fault = status.fault();
  watch::TroubleT trouble;
  trouble.code = static_cast<std::uint8_t>(status.code());
  trouble.what = cut_text(fault.what, kWatchTextBytesMax);
  trouble.expected = cut_text(fault.expected, kWatchTextBytesMax);
  trouble.got = cut_text(fault.got, kWatchTextBytesMax);
  trouble.remedy = cut_text(fault.remedy, kWatchTextBytesMax);
  return trouble;
}

// A code that this build does not know is still trouble.
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

Result<Bytes> pack(std::uint64_t number, watch::BodyUnion body, std::size_t bytes_max) {
  watch::MessageT message;
  message.number = number;
  message.body = std::move(body);
  flatbuffers::FlatBufferBuilder builder(1024);
  watch::FinishMessageBuffer(builder, watch::Message::Pack(builder, &message));
  if (builder.GetSize() > bytes_max) {
    return too_large("message of a watch", fmt::format("at most {} bytes", bytes_max),
                     builder.GetSize());
  }
  return Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize());
}

template <typename Body>
watch::BodyUnion body_of(Body body) {
  watch::BodyUnion out;
  out.Set(std::move(body));
  return out;
}

Status damaged_message(std::string expected, std::string got) {
  return Status(StatusCode::corrupt_data, {.what = "message of a watch",
                                           .expected = std::move(expected),
                                           .got = std::move(got),
                                           .remedy = {}});
}

// A table that is used many times is copied as often: their number is bounded by the verifier, and
// what each may bring along here.
class TextCaps {
 public:
  template <typename Number>
  Status number(const wire::Place& /*place*/, Number /*value*/) {
    return {};
  }
  Status text(const wire::Place& /*place*/, std::string_view text) {
    if (text.size() <= kWatchTextBytesMax) return {};
    return damaged_message(fmt::format("texts of {} bytes at most", kWatchTextBytesMax),
                           fmt::format("{}", text.size()));
  }
  Status list(const wire::Place& /*place*/, ByteSpan /*bytes*/, std::size_t /*alignment*/) {
    return {};
  }
};

template <typename Table>
Status check_texts(const Table* table) {
  TextCaps caps;
  return table ? wire::walk(*table, {.name = "message"}, caps) : Status();
}

Status check_texts(const watch::Message& message) {
  switch (message.body_type()) {
    case watch::Body::Portion:
      return check_texts(message.body_as_Portion());
    case watch::Body::RoundDetail:
      return check_texts(message.body_as_RoundDetail());
    case watch::Body::Trouble:
      return check_texts(message.body_as_Trouble());
    default:
      return {};
  }
}

// The identifier comes before everything else: whatever another version has changed, it is told
// from this one.
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
  const bool newer = theirs[3] > kWatchVersion;
  return Status(StatusCode::unsupported,
                {.what = "what is told across the network of a run",
                 .expected = fmt::format("version {}", kWatchVersion),
                 .got = fmt::format("{} one", newer ? "a newer" : "an older"),
                 .remedy = "use a dashboard and a coordinator of the same release"});
}

Result<std::unique_ptr<watch::MessageT>> unpack(ByteSpan bytes, std::size_t bytes_max) {
  if (bytes.size() > bytes_max) {
    return too_large("message of a watch", fmt::format("at most {} bytes", bytes_max),
                     bytes.size());
  }
  TRIBUTARY_TRY(check_version(bytes));
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
    return damaged_message("a sound message", "offsets that lead out of it, or too many tables");
  }
  const watch::Message& message = *watch::GetMessage(bytes.data());
  if (message.body() == nullptr) return damaged_message("a question or an answer", "neither");
  TRIBUTARY_TRY(check_texts(message));
  return std::unique_ptr<watch::MessageT>(message.UnPack());
}

Result<watch::BodyUnion> body_told(const WatchPortion& portion) {
  Telling way;
  watch::PortionT wire;
  pair_fields(way, portion.changes, wire);
  if (way.rows() > kWatchRowsInAllMax) {
    return too_large("portion of a run", fmt::format("at most {} rows", kWatchRowsInAllMax),
                     way.rows());
  }
  wire.first = portion.first;
  wire.more = portion.more;
  if (!portion.trouble.ok()) {
    wire.trouble = std::make_unique<watch::TroubleT>(told(portion.trouble));
  }
  return body_of(std::move(wire));
}

Result<watch::BodyUnion> body_told(const RoundDetail& detail) {
  Telling way;
  watch::RoundDetailT wire;
  pair_fields(way, detail, wire);
  if (way.rows() > kWatchRowsInAllMax) {
    return too_large("round of a run", fmt::format("at most {} rows", kWatchRowsInAllMax),
                     way.rows());
  }
  return body_of(std::move(wire));
}

Result<watch::BodyUnion> body_told(const OperatorAnswer& answer) {
  watch::OperatorAnswerT wire;
  wire.answer.assign(answer.json.begin(), answer.json.end());
  return body_of(std::move(wire));
}

Result<watch::BodyUnion> body_told(const Status& status) { return body_of(told(status)); }

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

Result<WatchAnswer> read_portion(std::uint64_t number, watch::PortionT& wire) {
  Reading way;
  WatchPortion portion;
  pair_fields(way, portion.changes, wire);
  TRIBUTARY_TRY(way.status());
  portion.first = wire.first;
  portion.more = wire.more;
  if (wire.trouble) portion.trouble = read_trouble(*wire.trouble);
  return WatchAnswer{.number = number, .says = std::move(portion)};
}

Result<WatchAnswer> read_round(std::uint64_t number, watch::RoundDetailT& wire) {
  Reading way;
  RoundDetail detail;
  pair_fields(way, detail, wire);
  TRIBUTARY_TRY(way.status());
  return WatchAnswer{.number = number, .says = std::move(detail)};
}

template <typename Row>
void append(std::vector<Row>& to, std::vector<Row>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Result<Bytes> pack_question(const WatchQuestion& question) {
  watch::BodyUnion body =
      std::visit([](const auto& asks) { return body_asked(asks); }, question.asks);
  return pack(question.number, std::move(body), kWatchQuestionBytesMax);
}

Result<Bytes> pack_answer(const WatchAnswer& answer) {
  TRIBUTARY_ASSIGN(watch::BodyUnion body,
                   std::visit([](const auto& says) { return body_told(says); }, answer.says));
  return pack(answer.number, std::move(body), kWatchAnswerBytesMax);
}

Result<WatchQuestion> unpack_question(ByteSpan bytes) {
  TRIBUTARY_ASSIGN(const std::unique_ptr<watch::MessageT> message,
                   unpack(bytes, kWatchQuestionBytesMax));
  WatchQuestion question = {.number = message->number};
  if (const watch::PullT* const pull = message->body.AsPull()) {
    question.asks = PullQuestion{.afresh = pull->afresh};
  } else if (const watch::AskRoundT* const round = message->body.AsAskRound()) {
    question.asks = RoundQuestion{.job = round->job, .round = round->round};
  } else if (const watch::AskOperatorT* const asked = message->body.AsAskOperator()) {
    question.asks = OperatorQuestion{.json = {asked->question.begin(), asked->question.end()}};
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
    return read_portion(number, *portion);
  }
  if (watch::RoundDetailT* const round = message->body.AsRoundDetail()) {
    return read_round(number, *round);
  }
  if (const watch::OperatorAnswerT* const told = message->body.AsOperatorAnswer()) {
    return WatchAnswer{.number = number,
                       .says = OperatorAnswer{{told->answer.begin(), told->answer.end()}}};
  }
  if (watch::TroubleT* const trouble = message->body.AsTrouble()) {
    return WatchAnswer{.number = number, .says = read_trouble(*trouble)};
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
