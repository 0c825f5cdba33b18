// All commands of the operator. Each one is defined in the file with its name.
//
// A command is data: a name, its options and a function. Making one opens nothing and cannot fail;
// the program builds all of them for every command line.
#pragma once

#include <span>
#include <vector>

#include "cli/command.h"

namespace tributary {

Command codec_compare_command();
Command codec_decode_command();
Command codec_encode_command();
Command codec_list_command();
Command codec_measure_command();
Command data_make_command();
Command data_shards_command();
Command data_show_command();
Command demo_command();
Command job_export_command();
Command job_list_command();
Command job_pause_command();
Command job_resume_command();
Command job_show_command();
Command job_stop_command();
Command job_submit_command();
Command job_watch_command();
Command keys_allow_command();
Command keys_join_command();
Command keys_new_command();
Command keys_revoke_command();
Command keys_show_command();
Command link_list_command();
Command plan_collective_command();
Command plan_explain_command();
Command plan_fusion_command();
Command plan_pareto_command();
Command plan_replay_command();
Command plan_table_command();
Command report_command();
Command run_copy_command();
Command sim_plan_command();
Command sim_run_command();
Command switch_show_command();

// The first words of all commands, with one line of help each.
std::span<const Noun> all_nouns();
// Returns new commands. Their options hold the parsed values, so each result serves one command
// line.
std::vector<Command> all_commands();

}  // namespace tributary
