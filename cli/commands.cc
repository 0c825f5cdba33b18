#include "cli/commands.h"

#include <array>

namespace tributary {

// In the order of the help text. lab and load are separate programs (cli/process/tools.h) and have
// no commands below, but users find them here.
std::span<const Noun> all_nouns() {
  static constexpr auto kNouns = std::to_array<Noun>({
      {"codec", "list, apply and measure codecs",
       "examples:\n"
       "  tributary codec list\n"
       "  tributary codec compare --agents 10 --rounds 50"},
      {"data", "generate, describe and shard data sets",
       "examples:\n"
       "  tributary data make digits --out digits\n"
       "  tributary data shards digits --agents 4 --alpha 0.3"},
      {"job", "submit, watch, control and export jobs",
       "examples:\n"
       "  tributary job submit digits.toml\n"
       "  tributary job watch digits\n"
       "  tributary job export digits --out digits_model"},
      {"keys", "create keys and allow agents",
       "examples:\n"
       "  tributary keys new --out coordinator.key\n"
       "  tributary keys join garage-01 --coordinator tcp://coordinator.lan:4640 \\\n"
       "      --list agents.allow --coordinator-key-file coordinator.key.pub"},
      {"lab", "create nodes with slow links on this machine, for any program",
       "examples:\n"
       "  tributary lab up --nodes 4 --rate 1gbit"},
      {"load", "run many agents against a coordinator, with synthetic updates",
       "examples:\n"
       "  tributary load --agents 1000 --params 1Mi --codec thc:bits=4"},
      {"link", "show the measured links of agents and coordinator",
       "examples:\n"
       "  tributary link list"},
      {"plan", "compute, explain or repeat the planner's decisions",
       "examples:\n"
       "  tributary plan pareto --alpha-ms 10 --gbps 0.1 --params 25M --agents 4\n"
       "  tributary plan explain run.db --round 40\n"
       "  tributary plan replay run.db"},
      {"run", "copy the journal of a run",
       "examples:\n"
       "  tributary run copy run.db monday.db"},
      {"sim", "simulate rounds, or the planner, in virtual time",
       "examples:\n"
       "  tributary sim run tests/scenarios/mixed.toml --seed 7\n"
       "  tributary sim plan tests/scenarios/plan/c1.toml --seeds 8"},
      {"switch", "show an aggregator in the network",
       "examples:\n"
       "  tributary switch show"},
  });
  return kNouns;
}

// In the order of the help text of each noun.
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
  commands.push_back(plan_explain_command());
  commands.push_back(run_copy_command());
  commands.push_back(sim_run_command());
  commands.push_back(sim_plan_command());
  commands.push_back(switch_show_command());
  commands.push_back(demo_command());
  commands.push_back(report_command());
  return commands;
}

}  // namespace tributary
