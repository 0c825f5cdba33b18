// Tests of the sender of large payloads. A simulated link with a rate, a delay and an unlimited
// queue measures how well the link is used and how much waits in the queue.
#include "core/round/common/session/bulk_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tributary {
namespace {

constexpr TimeNs kMs = 1'000'000;
constexpr std::uint64_t kHeaders = 200;  // bytes per bulk frame
constexpr std::uint64_t kSmall = 150;    // bytes per heartbeat

// One direction of a connection: a link with a fixed rate in bytes per second and a delay, which
// keeps the order. Its queue is unlimited, because the tests measure how much waits in it.
class Line {
 public:
  Line(double bytes_per_s, TimeNs delay_ns) : bytes_per_s_(bytes_per_s), delay_ns_(delay_ns) {}

  void set_rate(double bytes_per_s) { bytes_per_s_ = bytes_per_s; }
  TimeNs arrives_at(TimeNs now, std::uint64_t bytes) {
    free_at_ns_ = std::max(free_at_ns_, now) +
                  static_cast<TimeNs>(static_cast<double>(bytes) / bytes_per_s_ * 1e9);
    return free_at_ns_ + delay_ns_;
  }
  TimeNs queue_ns(TimeNs now) const { return std::max<TimeNs>(free_at_ns_ - now, 0); }

 private:
  double bytes_per_s_;
  TimeNs delay_ns_;
  TimeNs free_at_ns_ = 0;
};

struct Outcome {
  TimeNs done_ns = 0;
  TimeNs queue_max_ns = 0;       // over the whole transfer
  TimeNs queue_late_max_ns = 0;  // over its second half
  std::uint64_t frames = 0;
  std::uint32_t part_max = 0;
  std::optional<Delivery> delivery = {};
};

BulkStream stream_of(std::uint64_t transfer, std::uint64_t bytes) {
  return {.id = {.transfer = transfer},
          .bytes = bytes,
          .slice =
              [](std::uint64_t, std::uint32_t size) {
                static const Bytes zeros(8u << 20);
                return PayloadSlice{.owner = nullptr, .bytes = ByteSpan(zeros).first(size)};
              },
          .frame =
              [transfer](std::uint64_t offset, const PayloadSlice& slice) {
                wire::TransferPartT part;
                part.transfer = transfer;
                part.offset = offset;
                part.payload_bytes = static_cast<std::uint32_t>(slice.bytes.size());
                return frame_with(part);
              }};
}

// Sends one stream over a link. Acknowledgements return over a second link, as do answers to one
// heartbeat per second and to each heartbeat that the window requests.
Outcome transfer(std::uint64_t bytes, Line& out, Line& back,
                 const std::function<void(TimeNs)>& at_time = nullptr) {
  BulkSender sender;
  Outcome outcome;
  struct Event {
    TimeNs at;
    std::function<void(TimeNs)> what;
  };
  std::vector<Event> events;
  const auto push = [&](TimeNs at, std::function<void(TimeNs)> what) {
    events.push_back({at, std::move(what)});
  };
  std::uint64_t arrived = 0;
  std::function<void(TimeNs)> pump;
  const BulkSender::Emit emit = [&](std::uint64_t number, const wire::FrameT& frame,
                                    const PayloadSlice*) {
    const TimeNs now = outcome.done_ns;
    const std::uint64_t size = frame.message.AsTransferPart()->payload_bytes;
    outcome.part_max = std::max(outcome.part_max, static_cast<std::uint32_t>(size));
    ++outcome.frames;
    const TimeNs at = out.arrives_at(now, size + kHeaders);
    outcome.queue_max_ns = std::max(outcome.queue_max_ns, out.queue_ns(now));
    if (arrived > bytes / 2) {
      outcome.queue_late_max_ns = std::max(outcome.queue_late_max_ns, out.queue_ns(now));
    }
    push(at, [&, number, size](TimeNs then) {
      arrived += size;
      push(back.arrives_at(then, kSmall), [&, number](TimeNs acknowledged_at) {
        sender.acknowledged(acknowledged_at, number);
        pump(acknowledged_at);
      });
    });
  };
  const auto ask = [&](TimeNs now) {
    const TimeNs there = out.arrives_at(now, kSmall);
    push(there, [&, now](TimeNs then) {
      push(back.arrives_at(then, kSmall),
           [&, now](TimeNs home) { sender.window().round_trip(home, home - now); });
    });
  };
  pump = [&](TimeNs now) {
    outcome.done_ns = now;
    if (sender.window().needs_round_trip(now)) {
      sender.window().round_trip_sought(now);
      ask(now);
    }
    sender.pump(now, 0, emit);
  };
  std::function<void(TimeNs)> beat = [&](TimeNs now) {
    if (sender.idle()) return;
    ask(now);
    push(now + 1'000 * kMs, beat);
  };
  sender.add(stream_of(1, bytes));
  beat(0);  // a message before the first part measures the round trip
  pump(0);
  while (!events.empty() && !sender.idle()) {
    const auto next = std::min_element(events.begin(), events.end(),
                                       [](const Event& a, const Event& b) { return a.at < b.at; });
    const Event event = *next;
    events.erase(next);
    if (at_time) at_time(event.at);
    outcome.done_ns = std::max(outcome.done_ns, event.at);
    event.what(event.at);
  }
  EXPECT_TRUE(sender.idle());
  EXPECT_EQ(arrived, bytes);
  outcome.delivery = sender.take_delivery();
  return outcome;
}

struct LineCase {
  double mbit_s;
  int delay_ms;  // in each direction
  std::uint64_t bytes;
};

// Transfers over links from slow to fast, with short and long delays.
class OverALine : public testing::TestWithParam<LineCase> {};

TEST_P(OverALine, FillsTheLinkAndQueuesLittle) {
  const auto [mbit_s, delay_ms, bytes] = GetParam();
  Line out(mbit_s * 125'000, delay_ms * kMs);
  Line back(mbit_s * 125'000, delay_ms * kMs);
  const Outcome outcome = transfer(bytes, out, back);
  const double bytes_s = static_cast<double>(bytes) / (mbit_s * 125'000);
  const double took_s = static_cast<double>(outcome.done_ns) / 1e9;
  const double trip_s = 2e-3 * delay_ms;
  // Headers cost up to 2 %, and the window opens during the first round trips.
  EXPECT_LE(took_s, 1.06 * bytes_s + 8 * trip_s) << outcome.frames << " frames";
  const double queue_s = static_cast<double>(outcome.queue_late_max_ns) / 1e9;
  const double two_parts_s = 2.1 * SendWindow::kPartBytesMin / (mbit_s * 125'000);
  // After the link was drained to measure its round trip, the window opens again at once.
  EXPECT_LE(queue_s, std::max(0.55, two_parts_s) + trip_s) << outcome.part_max << " bytes a part";
  ASSERT_TRUE(outcome.delivery);
  EXPECT_TRUE(outcome.delivery->measures_rate());
  const double rate = mbit_s * 125'000;
  // Heartbeats take some time themselves, and the round trip contains it.
  EXPECT_GE(outcome.delivery->s_per_byte(), 0.99 / rate);
  EXPECT_LE(outcome.delivery->s_per_byte(), 1.4 / rate) << "the window opens slowly";
}

INSTANTIATE_TEST_SUITE_P(
    Lines, OverALine,
    testing::Values(LineCase{0.1, 0, 250'000}, LineCase{0.1, 150, 250'000},
                    LineCase{0.3, 300, 1'000'000}, LineCase{0.5, 25, 1'000'000},
                    LineCase{1, 0, 1'000'000}, LineCase{1, 300, 4'000'000},
                    LineCase{4, 25, 16'800'000}, LineCase{4, 300, 16'800'000},
                    LineCase{10, 0, 16'800'000}, LineCase{10, 150, 16'800'000},
                    LineCase{50, 25, 16'800'000}, LineCase{50, 150, 16'800'000},
                    LineCase{100, 5, 16'800'000}, LineCase{1000, 1, 100'000'000}),
    [](const auto& line) {
      return std::to_string(static_cast<int>(line.param.mbit_s * 1000)) + "kbit" +
             std::to_string(line.param.delay_ms) + "ms";
    });

// A link that becomes 30 times slower and later recovers.
TEST(BulkSender, FollowsALinkThatCollapsesAndRecovers) {
  Line out(10 * 125'000, 25 * kMs);
  Line back(10 * 125'000, 25 * kMs);
  const Outcome outcome = transfer(8'000'000, out, back, [&](TimeNs now) {
    const bool slow = now > 2'000 * kMs && now < 12'000 * kMs;
    out.set_rate((slow ? 0.3 : 10) * 125'000);
  });
  // The link carries 2.5 MB in the first 2 s and 0.4 MB in the next 10 s; the rest takes 4.1 s.
  EXPECT_LE(static_cast<double>(outcome.done_ns) / 1e9, 19);
}

// The first two parts are acknowledged at the same time, as a busy machine or link does it. The
// time of a part alone then shows no round trip, because the rate is not known yet.
TEST(SendWindow, APartOnALinkOfUnknownRateIsNoRoundTrip) {
  SendWindow window;
  constexpr TimeNs kTrip = 600 * kMs;
  window.round_trip(kTrip, kTrip);
  TimeNs now = kTrip;
  for (int trip = 0; trip < 4; ++trip) {
    std::vector<SendWindow::Sent> parts;
    while (window.open(now)) parts.push_back(window.sent(now, window.part_bytes()));
    now += kTrip + 10 * kMs;
    for (const SendWindow::Sent& part : parts) window.acknowledged(now, part);
    EXPECT_EQ(window.round_trip_min_ns(), kTrip) << trip;
    EXPECT_TRUE(window.filling()) << "the link could carry more, after " << trip;
  }
}

// --- rules, by hand ------------------------------------------------------------------------------

struct SentFrame {
  std::uint64_t number;
  std::uint64_t offset;
  std::uint32_t bytes;
  bool payload;
  friend bool operator==(const SentFrame&, const SentFrame&) = default;
};

// A sender whose frames are recorded. The test acknowledges them.
class SomeSender : public testing::Test {
 protected:
  BulkSender::Emit emit() {
    return [this](std::uint64_t number, const wire::FrameT& frame, const PayloadSlice* slice) {
      const auto* part = frame.message.AsTransferPart();
      sent_.push_back(
          {number, part ? part->offset : 0, part ? part->payload_bytes : 0, slice != nullptr});
    };
  }
  std::vector<SentFrame> take() { return std::exchange(sent_, {}); }

  BulkSender sender_;
  std::vector<SentFrame> sent_;
  static constexpr std::uint32_t kPart = SendWindow::kPartBytesMin;
};

TEST_F(SomeSender, StartsWithTwoShortPartsAndContinuesAsTheyArrive) {
  sender_.add(stream_of(1, 5 * kPart));
  sender_.pump(0, 0, emit());
  EXPECT_EQ(take(), (std::vector<SentFrame>{{1, 0, kPart, true}, {2, kPart, kPart, true}}));
  sender_.pump(1, 0, emit());
  EXPECT_TRUE(take().empty()) << "the window is full";
  sender_.acknowledged(100 * kMs, 1);
  sender_.pump(100 * kMs, 0, emit());
  ASSERT_FALSE(sent_.empty());
  EXPECT_EQ(sent_.front().offset, 2u * kPart);
}

TEST_F(SomeSender, ARepeatedRequestIsSentOnce) {
  sender_.add(stream_of(1, 2 * kPart));
  sender_.add(stream_of(1, 2 * kPart));
  sender_.pump(0, 0, emit());
  EXPECT_EQ(take().size(), 2u);
  sender_.add(stream_of(1, 2 * kPart), kPart);
  sender_.pump(1, 0, emit());
  EXPECT_TRUE(take().empty()) << "it is under way";
  EXPECT_TRUE(sender_.has({.transfer = 1}));
  sender_.acknowledged(2, 2);
  EXPECT_FALSE(sender_.has({.transfer = 1}));
  EXPECT_TRUE(sender_.idle());
}

TEST_F(SomeSender, ContinuesFromAnOffset) {
  sender_.add(stream_of(1, 3 * kPart), 2 * kPart + 5);
  sender_.add(stream_of(2, kPart), kPart);
  sender_.pump(0, 0, emit());
  EXPECT_EQ(take(), (std::vector<SentFrame>{{1, 2 * kPart + 5, kPart - 5, true}}));
  EXPECT_FALSE(sender_.has({.transfer = 2})) << "all of it is there already";
}

TEST_F(SomeSender, AnEmptyPayloadIsOneFrame) {
  sender_.add(stream_of(1, 0));
  sender_.pump(0, 0, emit());
  EXPECT_EQ(take(), (std::vector<SentFrame>{{1, 0, 0, true}}));
}

TEST_F(SomeSender, RepeatsOnlyPartsThatAHeartbeatProvesLost) {
  sender_.add(stream_of(1, 2 * kPart));
  sender_.pump(0, 3, emit());
  take();
  EXPECT_TRUE(sender_.repeat_lost(3, 3, emit()));
  EXPECT_TRUE(take().empty()) << "heartbeat 3 was sent before the parts";
  sender_.acknowledged(1, 1);
  EXPECT_TRUE(sender_.repeat_lost(4, 6, emit()));
  EXPECT_EQ(take(), (std::vector<SentFrame>{{2, kPart, kPart, true}})) << "under its number";
  EXPECT_EQ(sender_.bytes_repeated(), kPart);
  EXPECT_TRUE(sender_.repeat_lost(6, 6, emit()));
  EXPECT_TRUE(take().empty()) << "heartbeat 6 was sent before the repeat";
}

TEST_F(SomeSender, GivesUpOnAPartThatIsAlwaysLost) {
  sender_.add(stream_of(1, kPart));
  sender_.pump(0, 0, emit());
  bool goes_on = true;
  int repeats = 0;
  for (std::uint64_t beat = 1; goes_on && repeats < 100; ++beat, ++repeats) {
    goes_on = sender_.repeat_lost(beat, beat, emit());
  }
  EXPECT_FALSE(goes_on);
}

TEST_F(SomeSender, ADroppedStreamSendsNoMoreAndItsNumbersAreFilled) {
  sender_.add(stream_of(1, 9 * kPart));
  sender_.add(stream_of(2, kPart));
  sender_.pump(0, 0, emit());
  EXPECT_EQ(take().size(), 2u);
  sender_.drop({.transfer = 1});
  EXPECT_FALSE(sender_.has({.transfer = 1}));
  EXPECT_TRUE(sender_.repeat_lost(1, 1, emit()));
  EXPECT_EQ(take(), (std::vector<SentFrame>{{1, 0, 0, false}, {2, 0, 0, false}}));
  sender_.acknowledged(1, 2);
  sender_.pump(1, 1, emit());
  ASSERT_EQ(sent_.size(), 1u);
  EXPECT_EQ(sent_[0].number, 3u);
  EXPECT_TRUE(sender_.has({.transfer = 2}));
}

}  // namespace
}  // namespace tributary
