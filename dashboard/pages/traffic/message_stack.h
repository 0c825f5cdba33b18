// What messages took in each round by their use, one on top of the other, so that the upper edge is
// all of it. Made of a run's readings as they come; a use that has none in a round took nothing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/round/common/machine/message_bytes.h"
#include "core/run/view/run_view.h"
#include "dashboard/plot/data/plot_data.h"

namespace tributary::dashboard {

class MessageStack {
 public:
  using Shown = std::array<bool, kMessageUses>;  // by use; what is hidden carries nothing
  struct Wanted {
    std::uint64_t job = 0;
    bool up = true;
    bool over_time = false;
    bool all_read = true;  // else the newest round may be told in part only, and waits
    Shown shown = {};

    friend bool operator==(const Wanted&, const Wanted&) = default;
  };

  void follow(const RunView& view, const Wanted& wanted);
  // The lowest first. Empty: the run does not tell.
  std::vector<PlotCurve> curves() const;

  static QString key_of(MessageUse use);

 private:
  using Filled = std::shared_ptr<Series>;
  struct Layer {
    MessageUseNames names = {};
    SharedSeries source = {};  // over rounds
    Filled own = {};
    Filled low = {};
    Filled high = {};
  };

  std::vector<Layer> layers_of(const RunView& view, const Wanted& wanted) const;
  bool goes_on(const std::vector<Layer>& layers, const RoundTable& rounds,
               const Wanted& wanted) const;
  void begin(std::vector<Layer> layers, const RoundTable& rounds);
  void add(double round, double x);

  Wanted wanted_ = {};
  SharedSeries table_ = {};  // kept, so that no other table can be taken for the one before
  std::vector<Layer> layers_ = {};
  Filled ground_ = {};
  std::optional<std::uint64_t> last_round_ = {};
};

}  // namespace tributary::dashboard
