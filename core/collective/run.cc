#include "core/collective/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tributary {

// One run of an exchange.
class ExchangeRunner::Play {
 public:
  Play(ExchangeRunner& runner, PeerExchange& exchange, const ExchangeRun& run)
      : runner_(runner),
        mesh_(runner.mesh_),
        clock_(runner.clock_),
        exchange_(exchange),
        run_(run),
        reported_(exchange.buckets()) {}

  Status play() {
    TRIBUTARY_TRY(take_early());
    for (std::uint32_t bucket = 0; bucket < exchange_.buckets(); ++bucket) {
      TRIBUTARY_TRY(exchange_.begin(bucket, sends_));
      TRIBUTARY_TRY(pass_on(bucket));
      // Handles pieces that have arrived, so they do not wait until all buckets are encoded.
      TRIBUTARY_TRY(step(std::chrono::nanoseconds(0)).status());
    }
    while (exchange_.buckets_open() > 0 || mesh_.waiting_bytes() > 0) {
      TRIBUTARY_ASSIGN(const bool received, step(run_.deadline));
      if (!received && clock_.now() >= run_.deadline) return too_late();
    }
    return {};
  }

 private:
  // Messages that the previous run held back are handled first. Those that are still early are held
  // again.
  Status take_early() {
    std::deque<Received> held = std::exchange(runner_.early_, {});
    runner_.early_bytes_ = 0;
    for (Received& message : held) TRIBUTARY_TRY(take(message));
    return {};
  }

  // Only payloads count towards the bound. Frames are small, and the transport bounds each.
  Status hold(Received& message) {
    runner_.early_bytes_ += message.payload.size();
    if (runner_.early_bytes_ > kEarlyBytesMax) {
      return Status(StatusCode::resource_exhausted,
                    {.what = "messages of members that are ahead",
                     .expected = fmt::format("at most {} bytes", kEarlyBytesMax),
                     .got = fmt::format("{}", runner_.early_bytes_)});
    }
    runner_.early_.push_back(std::move(message));
    return {};
  }

  // Handles one event. Returns false if none arrives before the deadline.
  Result<bool> step(std::chrono::nanoseconds deadline) {
    TRIBUTARY_ASSIGN(std::optional<LinkEvent> event, mesh_.receive(deadline));
    if (!event) return false;
    if (auto* const lost = std::get_if<Disconnected>(&*event)) {
      // A member that has everything and has sent everything may leave before the others are done.
      const std::vector<std::uint32_t> awaited = exchange_.waiting_for();
      if (lost->unsent_bytes == 0 && !std::ranges::count(awaited, lost->rank())) return true;
      return std::move(lost->why);
    }
    if (auto* const message = std::get_if<Received>(&*event)) TRIBUTARY_TRY(take(*message));
    return true;
  }

  Status take(Received& message) {
    Result<Piece> piece =
        read_piece(run_.id, message.rank(), message.frame, message.payload.view());
    if (!piece.ok() && piece.status().code() == StatusCode::cancelled) return {};
    if (!piece.ok() && piece.status().code() == StatusCode::unavailable) return hold(message);
    if (!piece.ok()) {
      return std::move(piece).status().at(fmt::format("member {}", message.rank()));
    }
    if (Status status =
            exchange_.receive(message.rank(), *piece, std::move(message.payload), sends_);
        !status.ok()) {
      return std::move(status).at(fmt::format("member {}", message.rank()));
    }
    return pass_on(piece->bucket);
  }

  // Sends the pieces that the exchange produced, and reports a bucket that has become whole, once.
  Status pass_on(std::uint32_t bucket) {
    for (PeerSend& send : std::exchange(sends_, {})) {
      TRIBUTARY_ASSIGN(Bytes frame,
                       piece_frame(run_.id, send.piece, exchange_.is_last_stage(send.piece),
                                   send.payload.view()));
      TRIBUTARY_TRY(mesh_.send(send.to, std::move(frame), std::move(send.payload)));
    }
    if (reported_[bucket] || !exchange_.whole(bucket)) return {};
    reported_[bucket] = true;
    return run_.whole ? run_.whole(bucket) : Status();
  }

  Status too_late() const {
    return Status(StatusCode::deadline_exceeded,
                  {.what = fmt::format("an exchange, with {} of {} buckets open",
                                       exchange_.buckets_open(), exchange_.buckets()),
                   .expected = "all buckets before the deadline",
                   .got = fmt::format("no messages from members {}",
                                      fmt::join(exchange_.waiting_for(), ", ")),
                   .remedy = "exchange through the coordinator, or allow more time"});
  }

  ExchangeRunner& runner_;
  Transport& mesh_;
  const Clock& clock_;
  PeerExchange& exchange_;
  const ExchangeRun& run_;
  std::vector<bool> reported_;
  PeerSends sends_;
};

Status ExchangeRunner::run(PeerExchange& exchange, const ExchangeRun& run) {
  return Play(*this, exchange, run).play();
}

}  // namespace tributary
