// What the command line asks for.
#pragma once

#include <QSize>
#include <QString>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "dashboard/window/theme.h"

namespace tributary::dashboard {

// A coordinator across the network, by a join file (core/net/access/join_file.h).
struct ConnectOption {
  std::string key_file = {};
  std::string endpoint = {};  // empty: the one in the file
};

struct Options {
  std::vector<std::string> runs = {};
  std::vector<ConnectOption> connections = {};
  QString page = {};  // empty: the one that was in front last
  Theme theme = Theme::system;
  QString picture = {};  // the file to write; empty: a window
  QSize picture_size = {1280, 800};
  double scale = 1;  // of everything in a picture
  double wait_s = 60;
  std::string answer = {};  // to --help and --version: to be printed, and that is all
};

// `pages` is what --page takes. Errors: invalid_argument.
Result<Options> parse_options(const std::vector<QString>& pages, int argc, const char* const* argv);

}  // namespace tributary::dashboard
