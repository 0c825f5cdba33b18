#include "core/watch/unsent_answers.h"

namespace tributary {

void UnsentAnswers::send(ConnectionId to, const SharedSlice& answer) {
  const Status sent = try_to_send(to, answer);
  // Any other error means that the connection has ended, which the link reports.
  if (sent.code() == StatusCode::resource_exhausted) waiting_.try_emplace(to, answer);
}

void UnsentAnswers::send_again() {
  std::erase_if(waiting_, [this](const auto& item) {
    return try_to_send(item.first, item.second).code() != StatusCode::resource_exhausted;
  });
}

Status UnsentAnswers::try_to_send(ConnectionId to, const SharedSlice& answer) {
  Status sent = link_.send(to, answer);
  if (sent.ok()) bytes_sent_ += answer.size();
  return sent;
}

}  // namespace tributary
