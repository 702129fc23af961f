#include "client/cli/completion.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <functional>

#include "shared/base/verify.h"

namespace starling::cli {
namespace {

// Takes the values out of CLI11's description of a closed list: "TEXT:{day,week}" -> day, week.
std::vector<std::string> values_in(const std::string& type) {
  std::vector<std::string> values;
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return values;
  std::size_t from = open + 1;
  while (from <= close) {
    const std::size_t end = std::min(type.find(',', from), close);
    values.push_back(type.substr(from, end - from));
    from = end + 1;
  }
  return values;
}

CommandOption option_of(const CLI::Option& option) {
  CommandOption out;
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  if (out.names.empty()) out.place = option.get_name();
  out.help = option.get_description();
  out.values = values_in(option.get_type_name());
  out.takes_value = option.get_items_expected_max() > 0;
  return out;
}

Command tree_below(const CLI::App& app, const std::vector<CommandOption>& inherited) {
  Command command{app.get_name(), app.get_description(), {}, {}};
  std::vector<CommandOption> passed_on = inherited;
  for (const CLI::Option* option : app.get_options()) {
    const bool help = option == app.get_help_ptr();
    command.options.push_back(option_of(*option));
    if (!help && !command.options.back().names.empty()) passed_on.push_back(command.options.back());
  }
  command.options.insert(command.options.end(), inherited.begin(), inherited.end());
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(tree_below(*below, passed_on));
  }
  return command;
}

// Calls `use` for every command with its full path: "", "prefs", "prefs get".
void for_each(const Command& command, const std::string& path,
              const std::function<void(const std::string&, const Command&)>& use) {
  use(path, command);
  for (const Command& below : command.commands) {
    for_each(below, path.empty() ? below.name : path + " " + below.name, use);
  }
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// In single quotes, for bash and zsh.
std::string in_quotes(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }
std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

// Shell pattern of all commands: "'status'|'prefs'|'prefs get'".
std::string paths_pattern(const Command& program) {
  std::vector<std::string> paths;
  for_each(program, "", [&](const std::string& path, const Command&) {
    if (!path.empty()) paths.push_back(in_quotes(path));
  });
  return joined(paths, "|");
}

// Shell pattern of an option's names: "'leaderboard --sort'".
std::string option_pattern(const std::string& path, const CommandOption& option) {
  std::vector<std::string> patterns;
  for (const std::string& name : option.names) patterns.push_back(in_quotes(fmt::format("{} {}", path, name)));
  return joined(patterns, "|");
}

struct Word {
  std::string word;
  std::string help;
};

// Words that may come next after a command.
std::vector<Word> words_of(const Command& command) {
  std::vector<Word> words;
  for (const Command& below : command.commands) words.push_back({below.name, below.help});
  for (const CommandOption& option : command.options) {
    for (const std::string& name : option.names) words.push_back({name, option.help});
    if (!option.names.empty()) continue;
    for (const std::string& value : option.values) words.push_back({value, option.help});
  }
  return words;
}

std::string bash_script(const Command& program) {
  std::string values;
  std::string commands;
  for_each(program, "", [&](const std::string& path, const Command& command) {
    for (const CommandOption& option : command.options) {
      if (option.names.empty() || !option.takes_value) continue;
      values += fmt::format("    {}) {}; return ;;\n", option_pattern(path, option),
                            option.values.empty() ? std::string("COMPREPLY=($(compgen -f -- \"$cur\"))")
                                                  : fmt::format("COMPREPLY=($(compgen -W {} -- \"$cur\"))",
                                                                in_quotes(joined(option.values))));
    }
    std::vector<std::string> words;
    for (const Word& word : words_of(command)) words.push_back(word.word);
    commands +=
        fmt::format("    {}) COMPREPLY=($(compgen -W {} -- \"$cur\")) ;;\n", in_quotes(path), in_quotes(joined(words)));
  });
  return fmt::format(
      "# bash completion for {0}, made by: {0} completion bash\n"
      "_{0}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} at='' next i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    next=\"${{at:+$at }}${{COMP_WORDS[i]}}\"\n"
      "    case \"$next\" in {1}) at=$next ;; esac\n"
      "  done\n"
      "  COMPREPLY=()\n"
      "  case \"$at $prev\" in\n{2}  esac\n"
      "  case \"$at\" in\n{3}  esac\n"
      "}}\n"
      "complete -F _{0} {0}\n",
      program.name, paths_pattern(program), values, commands);
}

std::string zsh_script(const Command& program) {
  std::string values;
  std::string commands;
  for_each(program, "", [&](const std::string& path, const Command& command) {
    for (const CommandOption& option : command.options) {
      if (option.names.empty() || !option.takes_value) continue;
      values += fmt::format("    {}) {}; return ;;\n", option_pattern(path, option),
                            option.is_path ? "_files" : "compadd -- " + joined(option.values));
    }
    std::vector<std::string> described;
    for (const Word& word : words_of(command)) described.push_back(in_quotes(word.word + ":" + word.help));
    commands += fmt::format("    {}) found=({}) ;;\n", in_quotes(path), joined(described));
  });
  return fmt::format(
      "#compdef {0}\n"
      "# zsh completion for {0}, made by: {0} completion zsh\n"
      "_{0}() {{\n"
      "  local at='' next word\n"
      "  local -a found\n"
      "  for word in ${{words[2,CURRENT-1]}}; do\n"
      "    next=\"${{at:+$at }}$word\"\n"
      "    case \"$next\" in {1}) at=$next ;; esac\n"
      "  done\n"
      "  case \"$at ${{words[CURRENT-1]}}\" in\n{2}  esac\n"
      "  case \"$at\" in\n{3}  esac\n"
      "  _describe 'word' found\n"
      "}}\n"
      "if [ \"$funcstack[1]\" = _{0} ]; then _{0} \"$@\"; else compdef _{0} {0}; fi\n",
      program.name, paths_pattern(program), values, commands);
}

std::string fish_option(const std::string& condition, const std::string& program, const CommandOption& option) {
  std::string line = fmt::format("complete -c {} -n {}", program, condition);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (option.takes_value) {
    line += option.is_path ? " -r -F" : " -x -a " + fish_quoted(joined(option.values));
  }
  return line + " -d " + fish_quoted(option.help) + "\n";
}

std::string fish_script(const Command& program) {
  std::vector<std::string> paths;
  std::string lines;
  for_each(program, "", [&](const std::string& path, const Command& command) {
    if (!path.empty()) paths.push_back(fish_quoted(path));
    const std::string condition = fish_quoted(fmt::format("__{}_at \"{}\"", program.name, path));
    for (const Command& below : command.commands) {
      lines += fmt::format("complete -c {} -n {} -a {} -d {}\n", program.name, condition, below.name,
                           fish_quoted(below.help));
    }
    for (const CommandOption& option : command.options) {
      if (!option.names.empty()) {
        lines += fish_option(condition, program.name, option);
      } else if (!option.values.empty()) {
        lines += fmt::format("complete -c {} -n {} -a {} -d {}\n", program.name, condition,
                             fish_quoted(joined(option.values)), fish_quoted(option.help));
      }
    }
  });
  return fmt::format(
      "# fish completion for {0}, made by: {0} completion fish\n"
      "function __{0}_at\n"
      "  set -l at ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    set -l next (string trim -- \"$at $word\")\n"
      "    contains -- $next {1}; and set at $next\n"
      "  end\n"
      "  test \"$at\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c {0} -f\n{2}",
      program.name, joined(paths), lines);
}

}  // namespace

Command command_tree(const CLI::App& app) { return tree_below(app, {}); }

const std::vector<std::string>& completion_shells() {
  static const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  return shells;
}

std::string completion_script(std::string_view shell, const Command& program) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  VERIFY(shell == "fish");
  return fish_script(program);
}

}  // namespace starling::cli
