// Parses the command line of the dashboard.
//
// Nothing is opened and no QApplication is needed: a wrong command line is refused before Qt
// connects to a display. parse_options() prints nothing. It returns the text of --help and
// --version in Options::answer, and the caller prints it and exits.
#pragma once

#include <QSize>
#include <QString>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "dashboard/window/theme.h"

namespace tributary::dashboard {

// A coordinator across the network, identified by a join file (core/net/access/join_file.h).
struct ConnectOption {
  std::string key_file = {};
  std::string endpoint = {};  // empty: the endpoint in the file
};

// The parsed options, with all values checked.
struct Options {
  std::vector<std::string> runs = {};
  std::vector<ConnectOption> connections = {};
  QString page = {};  // empty: the page shown last
  Theme theme = Theme::system;
  QString picture = {};  // file to write; empty: open a window
  QSize picture_size = {1280, 800};
  double scale = 1;         // size factor of a picture
  double wait_s = 60;       // limit for a picture to be complete
  std::string answer = {};  // output of --help or --version; if set, print it and exit
};

// `pages` are the names that --page accepts. Fails with invalid_argument; the error names the
// option.
Result<Options> parse_options(const std::vector<QString>& pages, int argc, const char* const* argv);

}  // namespace tributary::dashboard
