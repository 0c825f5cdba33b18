#include "cli/commands.h"
#include "cli/process/process.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  tributary::set_up_process();
  return tributary::run_program(tributary::all_nouns(), tributary::all_commands(),
                                {argv + (argc > 0 ? 1 : 0), argv + argc});
}
