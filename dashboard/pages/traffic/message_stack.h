// The bytes of messages per round, stacked by the use of the messages. The top edge is the total.
//
// The stack follows the run's readings and adds only new rounds. A use without a reading in a round
// counts as 0 bytes. One thread at a time.
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
  using Shown = std::array<bool, kMessageUses>;  // by use; a hidden layer carries no other
  struct Selection {
    std::uint64_t job = 0;
    bool up = true;
    bool over_time = false;
    bool all_read = true;  // false: the newest round may be incomplete and is not added yet
    Shown shown = {};

    friend bool operator==(const Selection&, const Selection&) = default;
  };

  // Adds the new rounds. Any other change of `selection` than all_read restarts the stack.
  void follow(const RunView& view, const Selection& selection);
  // Returns the layers from the bottom up. Empty if the run has no such readings.
  std::vector<PlotCurve> curves() const;

  // The key of a layer in the legend and for its colour.
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

  std::vector<Layer> layers_of(const RunView& view, const Selection& selection) const;
  bool goes_on(const std::vector<Layer>& layers, const RoundTable& rounds,
               const Selection& selection) const;
  void begin(std::vector<Layer> layers, const RoundTable& rounds);
  void add(double round, double x);

  Selection selection_ = {};
  SharedSeries table_ = {};  // owned, so that a new table cannot reuse its address
  std::vector<Layer> layers_ = {};
  Filled ground_ = {};
  std::optional<std::uint64_t> last_round_ = {};
};

}  // namespace tributary::dashboard
