#include "cli/commands.h"

#include <array>

namespace tributary {

std::span<const Noun> all_nouns() {
  static constexpr auto kNouns = std::to_array<Noun>({
      {"codec", "list, apply and measure codecs"},
      {"data", "generate, describe and shard data sets"},
      {"job", "submit, watch, control and export jobs"},
      {"keys", "create keys and allow agents"},
      {"lab", "create nodes with slow links on this machine, for any program"},
      {"load", "run many agents against a coordinator, with synthetic updates"},
      {"link", "show the measured links of agents and coordinator"},
      {"plan", "compute or repeat the planner's decisions"},
      {"sim", "simulate the round protocol on a virtual clock, network and disk"},
  });
  return kNouns;
}

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  commands.push_back(codec_list_command());
  commands.push_back(codec_encode_command());
  commands.push_back(codec_decode_command());
  commands.push_back(codec_measure_command());
  commands.push_back(codec_compare_command());
  commands.push_back(data_make_command());
  commands.push_back(data_show_command());
  commands.push_back(data_shards_command());
  commands.push_back(job_submit_command());
  commands.push_back(job_list_command());
  commands.push_back(job_show_command());
  commands.push_back(job_watch_command());
  commands.push_back(job_pause_command());
  commands.push_back(job_resume_command());
  commands.push_back(job_stop_command());
  commands.push_back(job_export_command());
  commands.push_back(keys_new_command());
  commands.push_back(keys_show_command());
  commands.push_back(keys_allow_command());
  commands.push_back(keys_revoke_command());
  commands.push_back(keys_join_command());
  commands.push_back(link_list_command());
  commands.push_back(plan_table_command());
  commands.push_back(plan_collective_command());
  commands.push_back(plan_fusion_command());
  commands.push_back(plan_pareto_command());
  commands.push_back(plan_replay_command());
  commands.push_back(sim_run_command());
  commands.push_back(demo_command());
  commands.push_back(report_command());
  return commands;
}

}  // namespace tributary
