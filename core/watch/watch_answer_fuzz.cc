// Fuzz target: any bytes are an answer or an error, and an answer that is packed again has the same
// content, bit by bit.
#include <cstdlib>

#include "core/watch/watch_message.h"
#include "core/watch/watch_testing.h"

namespace {

using namespace tributary;

bool is_the_same(const WatchAnswer& one, const WatchAnswer& other) {
  if (one.number != other.number || one.body.index() != other.body.index()) return false;
  if (const auto* portion = std::get_if<WatchPortion>(&one.body)) {
    const auto& again = std::get<WatchPortion>(other.body);
    return watch_testing::dump(portion->changes) == watch_testing::dump(again.changes) &&
           portion->trouble.text() == again.trouble.text();
  }
  if (const auto* detail = std::get_if<RoundDetail>(&one.body)) {
    return watch_testing::dump(*detail) == watch_testing::dump(std::get<RoundDetail>(other.body));
  }
  if (const auto* trouble = std::get_if<Status>(&one.body)) {
    return trouble->text() == std::get<Status>(other.body).text();
  }
  return std::get<OperatorAnswer>(one.body).json == std::get<OperatorAnswer>(other.body).json;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, data + size);
  const Result<WatchAnswer> answer = unpack_answer(bytes);
  if (!answer.ok()) {
    if (answer.status().fault().expected.empty()) std::abort();
    return 0;
  }
  RunChanges changes;
  if (const auto* portion = std::get_if<WatchPortion>(&answer->body)) {
    add_changes(portion->changes, changes);
  }
  const Result<Bytes> packed = pack_answer(*answer);
  if (!packed.ok()) return 0;  // a table that the input refers to twice is packed twice
  const Result<WatchAnswer> again = unpack_answer(*packed);
  if (!again.ok() || !is_the_same(*answer, *again)) std::abort();
  return 0;
}
