// The messages between an observer and a coordinator (watch.fbs), as values and as bytes. Both
// sides verify received bytes and check their bounds before they use them.
//
// The functions are pure, and any thread may call them. No received byte is trusted: a message that
// cannot be verified gives an error and no partial value. Packing costs time and memory in
// proportion to the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>

#include "core/base/bytes/bytes.h"
#include "core/base/status.h"
#include "core/run/round_detail.h"
#include "core/run/run_changes.h"
#include "core/watch/watch_generated.h"
#include "schemas/walk.h"

namespace tributary {

// The version: the last character of the schema's file_identifier.
inline constexpr char kWatchVersion = '3';

// Limits in bytes. The largest question contains a job's file, and the largest answer is a portion
// of a run of 16 Ki agents.
inline constexpr std::size_t kWatchQuestionBytesMax = (1u << 20) + 4096;
inline constexpr std::size_t kWatchAnswerBytesMax = 16u << 20;
// Rows of a portion before its last read, which may add as many again. Lists of agents and their
// ratios come in addition; the limit of an answer allows for both.
inline constexpr std::uint32_t kWatchRowsMax = 1024;
// Limit of the tables of a message. Each row of its lists is one table.
inline constexpr std::uint32_t kWatchTablesMax = 64u << 10;

struct PullQuestion {
  bool afresh = false;  // start again from the beginning of the run
};
struct RoundQuestion {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
};
struct OperatorQuestion {
  std::string json = {};
};
struct WatchQuestion {
  std::uint64_t number = 0;  // repeated by the answer
  std::variant<PullQuestion, RoundQuestion, OperatorQuestion> body = {};
};

struct WatchPortion {
  bool first = false;  // the run from its beginning
  bool more = false;
  Status trouble = {};  // an error of a later read; the changes are valid
  RunChanges changes = {};
};
struct OperatorAnswer {
  std::string json = {};
};
struct WatchAnswer {
  std::uint64_t number = 0;
  // A Status is an error: the reason why no answer exists.
  std::variant<WatchPortion, RoundDetail, OperatorAnswer, Status> body = {};
};

// Return resource_exhausted if the message is larger than its limit. Texts that are too long are
// cut.
Result<Bytes> pack_question(const WatchQuestion& question);
Result<Bytes> pack_answer(const WatchAnswer& answer);

// Return unsupported for a message of another version, and corrupt_data or resource_exhausted for
// bytes that the pack functions do not produce.
Result<WatchQuestion> unpack_question(ByteSpan bytes);
Result<WatchAnswer> unpack_answer(ByteSpan bytes);

// Convert between changes and their form in a message.
watch::PortionT portion_of(const RunChanges& changes);
RunChanges changes_of(watch::PortionT wire);

// The largest size in bytes of the text at this place of an answer.
std::size_t watch_text_bytes_max(const wire::Place& place);

// The last known value of an enumeration. LogLevel is defined here because no schema of ours
// defines it.
template <typename Enum>
constexpr Enum last_value() {
  if constexpr (std::is_same_v<Enum, LogLevel>) {
    return LogLevel::error;
  } else {
    return Enum::MAX;
  }
}

// Appends a portion's rows to `changes`.
void add_changes(RunChanges portion, RunChanges& changes);

}  // namespace tributary
