#include "core/round/common/machine/events.h"

namespace tributary {
namespace {

// In the order of Event's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<Event>> kEventNames = {
    "frame_received", "peer_connected",  "peer_disconnected",   "peer_alive",
    "tick",           "stored",          "update_part",         "update_ready",
    "update_failed",  "background_done", "peer_frame_received", "peer_lost",
    "network_summed", "tell_links",      "tell_speeds",         "probe_link",
    "round_loaded",   "submit_job",      "change_job",          "plan_advised",
    "epoch_decided",  "shutdown"};

}  // namespace

std::string_view name_of(const Event& event) { return kEventNames[event.index()]; }

}  // namespace tributary
