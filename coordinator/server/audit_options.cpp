#include "coordinator/server/audit_options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "coordinator/server/commands.h"

namespace starling::server {
namespace {

constexpr const char* kExamples =
    R"(Two logs in one place: what operators did, and what checks of volunteers' work found.
Example: who did what, whose work was wrong, and one such check
  starling-coordinator audit poems
  starling-coordinator audit poems --verify
      says that no line of the operators' acts was changed or removed
  starling-coordinator audit list poems --missed
  starling-coordinator audit show poems 4711
      the computer, who computed its work again, how far off it was, and how it stands in its run)";

constexpr const char* kListExample =
    R"(A check is missed where the work was wrong: what the computer had pending is taken back.
One of them is nearly always a machine that miscalculates (memory or a card that runs too fast or too hot); a second
one from the same computer is worth a letter, and then `ban add`.
Example: of one run, and all for a script
  starling-coordinator audit list poems poems-1 --missed
  starling-coordinator audit list poems --lines 1000 --json)";

constexpr const char* kRepeatExample =
    R"(A round that is over cannot be computed again, since nobody keeps the state that it began with. The volunteer's next
rounds can: each is checked, by as many others as it takes to find it false.
Example: somebody says that a check was wrong, or that a computer was mended
  starling-coordinator audit repeat poems 17204 --for 2h
  starling-coordinator audit list poems)";

void add_list(CLI::App& audit, std::function<Status()>& chosen) {
  const auto options = std::make_shared<ChecksOptions>();
  CLI::App* list = audit.add_subcommand("list", "Checks of volunteers' work, newest last");
  list->add_option("DIR", options->directory, "The project's directory")->required();
  list->add_option("RUN", options->run, "Of this run only");
  list->add_flag("--missed", options->missed, "Only those that found work wrong");
  list->add_option("--lines", options->lines, "How many, at most")
      ->check(CLI::Range(1, db::kPageRowsMax))
      ->capture_default_str();
  list->add_flag("--json", options->json, "For programs: an object a line");
  list->footer(kListExample);
  list->callback([options, &chosen] { chosen = [options] { return list_checks(*options); }; });
}

void add_show(CLI::App& audit, std::function<Status()>& chosen) {
  const auto options = std::make_shared<ChecksOptions>();
  CLI::App* show = audit.add_subcommand("show", "One check: who computed what again, and what came of it");
  show->add_option("DIR", options->directory, "The project's directory")->required();
  show->add_option("ID", options->id, "The check's number, which `audit list` tells")->required();
  show->add_flag("--json", options->json, "For programs");
  show->footer(kExamples);
  show->callback([options, &chosen] { chosen = [options] { return show_check(*options); }; });
}

void add_repeat(CLI::App& audit, std::function<Status()>& chosen) {
  const auto options = std::make_shared<ChecksOptions>();
  CLI::App* repeat =
      audit.add_subcommand("repeat", "Check the volunteer's work again: each round of theirs, for a while");
  repeat->add_option("DIR", options->directory, "The project's directory")->required();
  repeat->add_option("ID", options->id, "A check of theirs, which `audit list` tells")->required();
  repeat->add_option("--for", options->lasts, "How long: 30m, 12h, 2d")->capture_default_str();
  repeat->footer(kRepeatExample);
  repeat->callback([options, &chosen] { chosen = [options] { return repeat_check(*options); }; });
}

}  // namespace

void add_audit(CLI::App& cli, std::function<Status()>& chosen) {
  const auto options = std::make_shared<AuditOptions>();
  CLI::App* audit = cli.add_subcommand(
      "audit", "What operators did, by command or on their page, and when; and checks of volunteers' work");
  audit->add_option("DIR", options->directory, "The project's directory: lists what operators did");
  audit->add_option("--lines", options->lines, "How many, at most")
      ->check(CLI::Range(1, db::kPageRowsMax))
      ->capture_default_str();
  auto* json = audit->add_flag("--json", options->json, "For programs: an object a line");
  auto* verify = audit->add_flag("--verify", options->verify, "Check that no line was changed or removed");
  verify->excludes(json);
  audit->add_option("--noted", options->noted, "The digest that an earlier --verify told of")->needs(verify);
  audit->footer(kExamples);
  add_list(*audit, chosen);
  add_show(*audit, chosen);
  add_repeat(*audit, chosen);
  // The project is asked for here, because a subcommand has its own.
  audit->callback([audit, options, &chosen] {
    if (!audit->get_subcommands().empty()) return;
    if (options->directory.empty()) throw CLI::RequiredError("DIR");
    chosen = [options] { return show_audit(*options); };
  });
}

}  // namespace starling::server
