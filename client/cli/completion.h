// Completion for shells, made from the tree of commands itself, so that it is always up to date.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace starling::cli {

// An option or a positional argument of a command, with everything that a shell may offer for it.
struct CommandOption {
  std::vector<std::string> names;  // "--sort", "-h"; empty: a positional argument
  std::string place;               // name of a positional argument: "length"
  std::string help;
  std::vector<std::string> values;  // closed list of values; empty: any value, or none at all
  bool takes_value = false;
  bool is_path = false;  // the value is a file or folder
};

// A command with its subcommands, copied from CLI11's tree, which need not live on.
struct Command {
  std::string name;
  std::string help;
  std::vector<CommandOption> options;  // includes those of the commands above it
  std::vector<Command> commands;
};

Command command_tree(const CLI::App& app);

// "bash", "zsh", "fish".
const std::vector<std::string>& completion_shells();
// A script for that shell, which completes `program`.
std::string completion_script(std::string_view shell, const Command& program);

}  // namespace starling::cli
