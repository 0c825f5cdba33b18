// What a watcher and a coordinator say to one another (watch.fbs), as values and as bytes. Bytes
// are verified and bounded before anything of them is believed, on both sides.
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

// The last character of the schema's file_identifier.
inline constexpr char kWatchVersion = '2';

// A job's file is the largest question, a portion of the run of 16 Ki agents the largest answer.
inline constexpr std::size_t kWatchQuestionBytesMax = (1u << 20) + 4096;
inline constexpr std::size_t kWatchAnswerBytesMax = 16u << 20;
// Of a portion, before the read that ends it: so many again may come with that one. With lists of
// agents and their ratios this is what the cap above is for.
inline constexpr std::uint32_t kWatchRowsMax = 1024;
// Of a message, which has one for each row of its lists.
inline constexpr std::uint32_t kWatchTablesMax = 64u << 10;

struct PullQuestion {
  bool afresh = false;  // from the beginning
};
struct RoundQuestion {
  std::uint64_t job = 0;
  std::uint64_t round = 0;
};
struct OperatorQuestion {
  std::string json = {};
};
struct WatchQuestion {
  std::uint64_t number = 0;  // its answer repeats it
  std::variant<PullQuestion, RoundQuestion, OperatorQuestion> asks = {};
};

struct WatchPortion {
  bool first = false;  // the run from its beginning
  bool more = false;
  Status trouble = {};  // in reading on; the changes are right all the same
  RunChanges changes = {};
};
struct OperatorAnswer {
  std::string json = {};
};
struct WatchAnswer {
  std::uint64_t number = 0;
  // A Status, which is an error: why there is none.
  std::variant<WatchPortion, RoundDetail, OperatorAnswer, Status> says = {};
};

// resource_exhausted: larger than its cap. Texts that are too long are cut.
Result<Bytes> pack_question(const WatchQuestion& question);
Result<Bytes> pack_answer(const WatchAnswer& answer);

// unsupported: of another version. corrupt_data, resource_exhausted: nothing that these send.
Result<WatchQuestion> unpack_question(ByteSpan bytes);
Result<WatchAnswer> unpack_answer(ByteSpan bytes);

// The changes as a message has them, and back.
watch::PortionT portion_of(const RunChanges& changes);
RunChanges changes_of(watch::PortionT wire);

// How many bytes the text at this place of an answer may have.
std::size_t watch_text_bytes_max(const wire::Place& place);

// The last value that is known. Of LogLevel, which no schema of ours made, it stands here.
template <typename Enum>
constexpr Enum last_value() {
  if constexpr (std::is_same_v<Enum, LogLevel>) {
    return LogLevel::error;
  } else {
    return Enum::MAX;
  }
}

// What a portion brings, behind what is there already.
void add_changes(RunChanges portion, RunChanges& changes);

}  // namespace tributary
