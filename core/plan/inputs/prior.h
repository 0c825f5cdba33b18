// The prior belief about links, overhead and the errors of the cost model, before any measurement.
// Rates are in seconds per byte and latencies in seconds.
#pragma once

#include <cmath>

namespace tributary {

// Mean and standard deviation of a logarithm.
struct Prior {
  double mean = 0;
  double deviation = 1;
};
inline const Prior kAlphaPrior = {std::log(0.01), 1};
inline const Prior kRatePrior = {std::log(4e-7), 1.6};  // 20 Mbit/s
inline const Prior kPeerAlphaPrior = {std::log(0.003), 1};
inline const Prior kPeerRatePrior = {std::log(2.7e-7), 1.5};  // 30 Mbit/s
inline const Prior kHubPrior = {std::log(4e-9), 0.8};         // 2 Gbit/s
inline const Prior kOverheadPrior = {std::log(0.005), 1.2};
inline constexpr Prior kCpuPrior = {0, 0.3};
inline constexpr Prior kSizePrior = {0, 0.15};
inline constexpr Prior kStarPrior = {0, 0.15};
inline constexpr Prior kPeersPrior = {0.15,
                                      0.2};  // untried exchanges take longer more often than not
inline constexpr Prior kPairPrior = {0, 0.06};
inline constexpr double kAgentDeviation = 0.5;  // of an agent's rate from the level of all
inline constexpr double kDownDeviation = 0.4;   // of a downlink from its uplink
inline constexpr double kSharedPrior = 0.5;
// Mean time between two changes of all uplinks, in seconds. The lesson of a trial is of use for as
// long.
inline constexpr double kLinksStay_s = 25;

}  // namespace tributary
