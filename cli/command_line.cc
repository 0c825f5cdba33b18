#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <list>

#include "core/base/nearest.h"

namespace tributary {
namespace {

// The name in usage lines and errors, whatever the file is called.
constexpr const char* kProgram = "tributary";
constexpr const char* kAbout =
    "Tributary: federated training for edge devices, every byte compressed, counted and explained";

using Words = std::vector<std::string>;

// An error of the command line; the program exits with kExitUsage.
Status usage(std::string what, std::string expected, std::string got, std::string remedy) {
  return Status(StatusCode::invalid_argument, {.what = std::move(what),
                                               .expected = std::move(expected),
                                               .got = std::move(got),
                                               .remedy = std::move(remedy)});
}

// Continues a usage line longer than 100 characters on a second line, before an option.
std::string in_lines(std::string usage) {
  constexpr std::size_t kWidth = 100;
  if (usage.size() <= kWidth) return usage;
  const std::size_t option = usage.rfind(" --", kWidth);
  const std::size_t rest = usage.rfind(" [", kWidth);
  const std::size_t at = rest == usage.npos ? option : rest;
  if (at != usage.npos) usage.replace(at, 1, "\n           ");
  return usage;
}

// Prints the usage line that it is given. CLI11's own line shows required arguments as optional.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const std::string& usage) : usage_(in_lines("Usage: " + usage) + "\n") {
    column_width(32);
    label("Positionals", "Arguments");
  }
  std::string make_usage(const CLI::App*, std::string) const override { return usage_; }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }

 private:
  const std::string usage_;
};

// The words after "tributary job submit": required ones, then "[OPTIONS]". A program's own words
// come last, after "--".
std::string arguments_text(const std::vector<Option>& options) {
  std::string text;
  std::string rest;
  for (const Option& option : options) {
    const bool positional = !option.name.starts_with('-');
    if (positional && option.repeatable) {
      rest = fmt::format(" -- {} ...", option.name);
    } else if (positional) {
      text += option.required ? fmt::format(" {}", option.name) : fmt::format(" [{}]", option.name);
    } else if (option.required) {
      text += fmt::format(" {} {}", option.name, option.value_name);
    }
  }
  return text + " [OPTIONS]" + rest;
}

// CLI11 only splits the arguments. Missing, unknown and repeated options are detected here, because
// our errors suggest the nearest name and a remedy.
class Parser {
 public:
  Parser(std::span<const Noun> nouns, std::span<const Command> commands) : root_(kAbout, kProgram) {
    root_.allow_extras()->require_subcommand(0, 1);
    root_.set_help_flag("-h,--help", "print this help");
    root_.set_version_flag("--version", std::string(kProgram) + " " + TRIBUTARY_VERSION,
                           "print the version");
    root_.formatter(std::make_shared<HelpFormatter>(fmt::format("{} COMMAND [OPTIONS]", kProgram)));
    root_.footer(
        "'tributary COMMAND --help' explains a command.\n\n"
        "examples:\n"
        "  tributary demo\n"
        "  tributary job submit digits.toml\n"
        "  tributary job watch digits");
    for (const Noun& noun : nouns) {
      CLI::App* const app = add_app(root_, noun.name, noun.summary);
      app->formatter(std::make_shared<HelpFormatter>(
          fmt::format("{} {} SUBCOMMAND [OPTIONS]", kProgram, noun.name)));
      app->footer(fmt::format("'tributary {} SUBCOMMAND --help' explains a subcommand.\n\n{}",
                              noun.name, noun.examples));
    }
    for (const Command& command : commands) add_command(command);
  }

  // Three passes: CLI11 splits the words, refuse_extras() reports words that it did not know, and
  // accept_options() converts the values. The first error is reported.
  Result<CommandLine> parse(const Words& args) {
    // CLI11 consumes its arguments from the end of the vector.
    Words reversed(args.rbegin(), args.rend());
    try {
      root_.parse(reversed);
    } catch (const CLI::CallForHelp&) {
      return CommandLine{.text = root_.help()};
    } catch (const CLI::CallForVersion&) {
      return CommandLine{.text = root_.version() + "\n"};
    } catch (const CLI::Error& error) {
      return usage(error.what(), "", "", see_help());
    }
    TRIBUTARY_TRY(refuse_extras());
    Leaf* const leaf = chosen_leaf();
    if (leaf == nullptr) {
      return usage(path(), root_.get_subcommands().empty() ? "a command" : "a subcommand", "none",
                   did_you_mean("", subcommands_of(deepest())) + "; " + see_help());
    }
    TRIBUTARY_TRY(accept_options(*leaf));
    return CommandLine{.command = leaf->command, .text = {}, .json = leaf->json};
  }

 private:
  // A command in CLI11's tree. `options` are in the order of command->options.
  struct Leaf {
    const Command* command = nullptr;
    CLI::App* app = nullptr;
    std::vector<CLI::Option*> options;
    bool json = false;
  };

  // Extra words are allowed, because refuse_extras() reports them better than CLI11.
  static CLI::App* add_app(CLI::App& parent, std::string_view name, std::string_view summary) {
    CLI::App* const app = parent.add_subcommand(std::string(name), std::string(summary));
    app->allow_extras()->require_subcommand(0, 1);
    app->group(parent.get_parent() == nullptr ? "Commands" : "Subcommands");
    app->set_help_flag("-h,--help", "print this help");
    return app;
  }

  // A command without a verb hangs directly below the root.
  void add_command(const Command& command) {
    CLI::App& parent =
        command.verb.empty() ? root_ : *root_.get_subcommand(std::string(command.noun));
    Leaf& leaf = leaves_.emplace_back();
    leaf.command = &command;
    leaf.app = add_app(parent, command.verb.empty() ? command.noun : command.verb, command.summary);
    leaf.app->formatter(std::make_shared<HelpFormatter>(
        fmt::format("{} {}{}", kProgram, command.name(), arguments_text(command.options))));
    leaf.app->footer(std::string(command.details));
    for (const Option& option : command.options) leaf.options.push_back(add_option(leaf, option));
    leaf.app->add_flag("--json", leaf.json, "print one JSON object instead of text");
  }

  // The text after an option's name in the list of options. The usage line shows which arguments
  // are required.
  static std::string values_text(const Option& option) {
    if (!option.name.starts_with('-')) return option.repeatable ? "..." : "";
    return fmt::format("{}{}{}", option.value_name, option.repeatable ? " ..." : "",
                       option.required ? " (required)" : "");
  }

  // CLI11 must accept any number of occurrences: accept_options() reports repeated ones.
  CLI::Option* add_option(Leaf& leaf, const Option& option) {
    const std::string name(option.name);
    if (option.value_name.empty()) {
      return leaf.app->add_flag(name, option.help)->multi_option_policy(kTakeAll);
    }
    Words& unread = unread_.emplace_back();
    // A positional argument that is repeatable takes all remaining words.
    const bool takes_the_rest = option.repeatable && !name.starts_with('-');
    return leaf.app->add_option(name, unread, option.help)
        ->expected(1, takes_the_rest ? CLI::detail::expected_max_vector_size : 1)
        ->allow_extra_args(takes_the_rest)
        ->multi_option_policy(kTakeAll)
        ->type_name(std::string(option.value_name))
        ->option_text(values_text(option));
  }

  // The last level that the words name: the root, a noun or a command.
  const CLI::App& deepest() const {
    const CLI::App* app = &root_;
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return *app;
  }

  // Returns the words so far, for example "tributary codec encode".
  std::string path() const {
    std::string path = kProgram;
    for (const CLI::App* app = &root_; !app->get_subcommands().empty();) {
      app = app->get_subcommands().front();
      path += " " + app->get_name();
    }
    return path;
  }
  std::string see_help() const { return fmt::format("see '{} --help'", path()); }

  // Null if the words name no complete command.
  Leaf* chosen_leaf() {
    const auto leaf = std::ranges::find(
        leaves_, &deepest(), [](const Leaf& each) -> const CLI::App* { return each.app; });
    return leaf == leaves_.end() ? nullptr : &*leaf;
  }

  static std::vector<std::string_view> subcommands_of(const CLI::App& app) {
    std::vector<std::string_view> names;
    for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
      names.push_back(each->get_name());
    }
    return names;
  }

  // Reports the first word that no level accepted.
  Status refuse_extras() const {
    std::string level = kProgram;
    for (const CLI::App* app = &root_;; app = app->get_subcommands().front()) {
      if (app != &root_) level += " " + app->get_name();
      const Words extras = app->remaining();
      // "--" itself is not a word of the user.
      const auto extra =
          std::ranges::find_if(extras, [](const auto& word) { return word != "--"; });
      if (extra != extras.end()) return refuse_extra(*app, level, *extra);
      if (app->get_subcommands().empty()) return {};
    }
  }

  // Distinguishes an unknown option, a surplus word and an unknown command.
  static Status refuse_extra(const CLI::App& app, const std::string& level,
                             const std::string& extra) {
    if (extra.size() > 1 && extra.front() == '-') {
      Words names;
      for (const CLI::Option* option : app.get_options()) {
        if (option->get_lnames().empty()) continue;
        names.push_back("--" + option->get_lnames().front());
      }
      // The value of --name=value must not influence the search for a similar name.
      const std::string name = extra.substr(0, extra.find('='));
      return usage(fmt::format("option '{}' of '{}'", name, level), "a known option",
                   "an unknown one",
                   did_you_mean(name, std::vector<std::string_view>(names.begin(), names.end())));
    }
    const std::vector<std::string_view> known = subcommands_of(app);
    if (known.empty()) {
      return usage(fmt::format("'{}' after '{}'", extra, level), "options only", "another word",
                   fmt::format("see '{} --help'", level));
    }
    return usage(fmt::format("'{}' after '{}'", extra, level),
                 app.get_parent() == nullptr ? "a command" : "a subcommand", "an unknown word",
                 did_you_mean(extra, known));
  }

  // In the order of the command's options, so that the first error does not depend on the order of
  // the words.
  Status accept_options(const Leaf& leaf) const {
    for (std::size_t i = 0; i < leaf.options.size(); ++i) {
      const Option& option = leaf.command->options[i];
      const CLI::Option& parsed = *leaf.options[i];
      const std::string what =
          fmt::format("{} '{}'", option.name.starts_with('-') ? "option" : "argument", option.name);
      if (option.required && parsed.count() == 0) {
        const bool positional = !option.name.starts_with('-');
        return usage(fmt::format("{} of '{}'", what, path()),
                     positional ? std::string(option.name)
                                : fmt::format("{} {}", option.name, option.value_name),
                     "nothing", see_help());
      }
      if (!option.repeatable && parsed.count() > 1) {
        return usage(what, "the option once", fmt::format("{}", parsed.count()),
                     "keep one of them");
      }
      for (const std::string& value : parsed.results()) {
        if (Status s = option.accept(option.value_name.empty() ? "" : value); !s.ok()) {
          return std::move(s).at(what);
        }
      }
    }
    return {};
  }

  static constexpr CLI::MultiOptionPolicy kTakeAll = CLI::MultiOptionPolicy::TakeAll;

  CLI::App root_;
  std::list<Leaf> leaves_;   // lists, because CLI11 keeps references to the elements of both
  std::list<Words> unread_;  // CLI11 requires a destination; the values are read by results()
};

}  // namespace

Result<CommandLine> parse_command_line(std::span<const Noun> nouns,
                                       std::span<const Command> commands,
                                       const std::vector<std::string>& args) {
  return Parser(nouns, commands).parse(args);
}

// Does not need a valid command line, so that its errors can be JSON too.
bool asks_for_json(const std::vector<std::string>& args) {
  const auto end = std::ranges::find(args, "--");  // words after "--" belong to another program
  return std::find(args.begin(), end, "--json") != end;
}

}  // namespace tributary
