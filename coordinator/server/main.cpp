// starling-coordinator: the one program that a community project runs.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "coordinator/dataset/vocabulary.h"
#include "coordinator/server/audit_options.h"
#include "coordinator/server/commands.h"
#include "shared/base/log.h"
#include "shared/base/plain_text.h"
#include "shared/base/standard_output.h"
#include "shared/base/version.h"

namespace {

using namespace starling;
using namespace starling::server;

enum ExitCode { kOk = 0, kFailed = 1, kUsage = 2 };

constexpr const char* kExample = R"(Example: a project from nothing to its first volunteer
  starling-coordinator init /srv/poems --name Poems --listen 0.0.0.0:7300 --public poems.example.org:7300
  starling-coordinator run create /srv/poems manifest.toml
  starling-coordinator run start /srv/poems
  starling-coordinator serve /srv/poems
init prints a join link; a volunteer gives it to `starling join`. More links: invite new.
All commands may be used while the project is served.)";

constexpr const char* kPassphraseFile = "The passphrase is its first line; by default it is asked for on the terminal";

// Ends of the --help texts of commands and of their subcommands.
constexpr std::pair<const char*, const char*> kExamples[] = {
    {"init", R"(Example: who may join
  starling-coordinator init poems --name Poems --listen 0.0.0.0:7300 --public poems.example.org:7300
      with a join link, which this prints; more: invite new
  starling-coordinator init poems … --open
      anybody who has the address; and with --approve, once you have let them in)"},
    {"data",
     R"(Example: books become shards, with a vocabulary of their own; then manifest.toml says [data] shards = "shards"
  starling-coordinator data prepare text shards --vocabulary 8000 books/*.txt
  starling-coordinator data prepare images shards photographs --side 64)"},
    {"run", R"(Example: a run from its description to the files of its model
  starling-coordinator run create poems manifest.toml
  starling-coordinator run start poems poems-1
  starling-coordinator run sign poems poems-1 --mirror https://mirror.example.org/poems/
  starling-coordinator run rollback poems poems-1 --to 1200 --credit reverse
  starling-coordinator run export poems poems-1 model)"},
    {"export", R"(Example: what statistics sites read, once a day by cron
  0 4 * * *  starling-coordinator export stats /srv/poems)"},
    {"plan", R"(Example: before anybody has joined, and for the swarm that is there
  starling-coordinator plan manifest.toml --plot ranking.svg
  starling-coordinator plan manifest.toml --from-run poems)"},
    {"invite", R"(Example: a link for a school class
  starling-coordinator invite new poems --uses 30 --expires 14d)"},
    {"credit", R"(Example: look first, then take back what a broken computer was credited with
  starling-coordinator credit reverse poems --user Ada --rounds 120-180 --reason "broken memory" --dry-run
  starling-coordinator credit check poems)"},
    {"serve", R"(Example: for volunteers at home, with mail and the operator's page
  starling-coordinator serve poems --dial-back --relay 203.0.113.5:8444 --admin 127.0.0.1:9443
  starling-coordinator serve poems --smtp smtp://relay.example.org:587 --mail-from poems@example.org)"},
    {"users", R"(Example: let in who waits; help who has forgotten the password
  starling-coordinator users list poems --waiting
  starling-coordinator users approve poems Ada
  starling-coordinator users password-link poems Ada)"},
    {"hosts", R"(Example: a computer was stolen
  starling-coordinator hosts list poems Ada
  starling-coordinator hosts revoke poems 5f0c…)"},
    {"ban", R"(Example: for a month; what is banned is told the reason
  starling-coordinator ban add poems user:Mallory --reason "made-up results" --for 30d
  starling-coordinator ban add poems address:192.0.2.0/24 --reason "spam"
  starling-coordinator ban remove poems 2)"},
    {"news", R"(Example:
  starling-coordinator news post poems --title Welcome --body "The first run has begun.")"},
    {"maintenance", R"(Example: a new disk this evening
  starling-coordinator maintenance on poems --message "a new disk" --until 18:30
While it is on, computers that want to join and changes of accounts are put off with the message and the time,
pages show both, heartbeats are answered and rounds credited. It outlives the server.)"},
    {"operators", R"(Example: then https://localhost:9443/, where `serve --admin 127.0.0.1:9443` opens it
  starling-coordinator operators add poems ada
  starling-coordinator operators add poems ben --role moderator)"},
    {"keys", R"(Example: before many have joined, and once a year
  starling-coordinator keys offline poems /media/stick/poems-root.key
  starling-coordinator keys rotate poems --root /media/stick/poems-root.key
  starling-coordinator keys export poems /media/stick/poems.keys)"},
    {"move-database", R"(Example:
  starling-coordinator move-database poems 'postgresql://starling@db.example.org/poems?sslmode=verify-full')"},
    {"backup", R"(Example: four a day, best on another disk; and prove that one is whole
  starling-coordinator backup schedule poems --every 6h --to /mnt/other-disk/poems
  starling-coordinator backup now poems copy
  starling-coordinator restore --verify copy)"},
    {"restore", R"(Example: prove that it is whole; then serve it in place of the one that is lost
  starling-coordinator restore --verify copy
  starling-coordinator restore copy poems)"},
};

void teach(CLI::App& command, const std::string& example) {
  command.footer(example);
  for (CLI::App* of_it : command.get_subcommands([](CLI::App*) { return true; })) teach(*of_it, example);
}

// Options of commands that make a project, or decide where its keys and its database are.
struct SetUpOptions {
  InitOptions init;
  KeysOptions keys;
  MoveOptions move;
};

// Options of `data prepare`.
struct DataOptions {
  dataset::TextOptions text;
  dataset::ImageOptions images;
};

// Options of commands about training runs.
struct TrainingOptions {
  CreateOptions create;
  RunOptions run;
  RollbackOptions rollback;
  SignOptions sign;
  CloneOptions clone;
  ExportOptions exports;
  PlanAheadOptions plan;
};

// Options of commands about volunteers and operators, their credit, and what they are told.
struct PeopleOptions {
  InviteOptions invite;
  UsersOptions users;
  BanOptions ban;
  NewsOptions news;
  NumberedOptions numbered;  // for a ban, or an item of news
  MaintenanceOptions maintenance;
  OperatorsOptions operators;
  ReverseOptions reverse;
};

// Options of commands that look at a project and copy it.
struct CareOptions {
  StatusOptions status;
  StatsOptions stats;
  BackupOptions backup;
  ScheduleOptions schedule;
  RestoreOptions restore;
};

// The options of every command, as main() passes them on once the line is parsed.
struct Commands {
  SetUpOptions setup;
  DataOptions data;
  TrainingOptions training;
  PeopleOptions people;
  CareOptions care;
  ServeOptions serve;
  std::filesystem::path directory;  // the project's, for commands without other options
  bool verbose = false;
  std::function<Status()> chosen;
};

CLI::Option* directory_of(CLI::App* command, std::filesystem::path& directory) {
  return command->add_option("DIR", directory, "The project's directory")->required();
}

void add_init(CLI::App& cli, Commands& commands) {
  CLI::App* init = cli.add_subcommand("init", "Make a project: its keys, its database, a first join link");
  directory_of(init, commands.setup.init.directory);
  init->add_option("--name", commands.setup.init.name, "What volunteers and viewers call it")->required();
  init->add_option("--listen", commands.setup.init.listen,
                   "ADDRESS:PORT to serve on; 0.0.0.0 is every address of IPv4, [::] every one")
      ->required();
  init->add_option("--public", commands.setup.init.public_at,
                   "HOST:PORT as volunteers reach it; as --listen by default");
  init->add_option("--database", commands.setup.init.database,
                   "Keep everything in this empty PostgreSQL database instead of a file: postgresql://user@host/name. "
                   "The password, if any, is best in ~/.pgpass; in the address it ends up in project.json");
  init->add_flag("--open", commands.setup.init.open_to_all, "Anybody may join, without an invite");
  init->add_flag("--approve", commands.setup.init.approval, "New accounts wait until you let them in: users approve");
  init->add_flag("--anonymous", commands.setup.init.anonymous,
                 "Computers may join without a name; they share one account");
  init->add_option("--computers", commands.setup.init.hosts_per_account, "The most computers of one account")
      ->check(CLI::Range(std::int64_t{1}, accounts::kHostsPerAccountMax))
      ->capture_default_str();
  init->callback([&commands] { commands.chosen = [&commands] { return init_project(commands.setup.init); }; });
}

void add_cut(CLI::App* command, dataset::CutRequests& cut) {
  command->add_option("OUT", cut.out, "The folder of shards; new or empty")->required();
  command->add_option("--shard-mb", cut.shard_mb, "Size of a shard in MB, at most; volunteers hold two")
      ->check(CLI::Range(0.01, 4096.0))
      ->capture_default_str();
  command->add_option("--held-out", cut.held_out, "Share of all that nobody trains on; of very much data, less")
      ->check(CLI::Range(0.0001, 0.5))
      ->capture_default_str();
}

void add_data(CLI::App& cli, Commands& commands) {
  CLI::App* data = cli.add_subcommand("data", "Make data ready for runs");
  data->require_subcommand(1);
  CLI::App* prepare = data->add_subcommand("prepare", "Cut it into shards, of which volunteers fetch what they need");
  prepare->require_subcommand(1);
  CLI::App* text = prepare->add_subcommand("text", "Text files become tokens");
  add_cut(text, commands.data.text.cut);
  text->add_option("FILE", commands.data.text.files, "Text, UTF-8")->required();
  text->add_option("--vocabulary", commands.data.text.vocabulary, "Learn a vocabulary of so many tokens")
      ->check(CLI::Range(dataset::kVocabularyLeast, 1'000'000));
  text->add_option("--tokenizer", commands.data.text.tokenizer, "A SentencePiece model, such as an earlier OUT's");
  const auto add_share = [text](const char* name, double& share, const char* help) {
    text->add_option_function<double>(
            name, [&share](double percent) { share = percent / 100; }, help)
        ->check(CLI::Range(0.0, 100.0))
        ->default_str(fmt::format("{:g}", share * 100));
  };
  add_share("--unknown-max", commands.data.text.unknown_max,
            "The most of the text, in percent, that may become unknown tokens. More says nearly always that it is in "
            "another language or encoding than the one that the vocabulary was learned from");
  add_share(
      "--invalid-max", commands.data.text.invalid_max,
      "The most bytes of a file, in percent, that may be no UTF-8. A few are damage, for which U+FFFD stands; more "
      "says that the file is in another encoding, or no text");
  text->callback([&commands] { commands.chosen = [&commands] { return prepare_text(commands.data.text); }; });
  CLI::App* images = prepare->add_subcommand("images", "PNG and JPEG files become labelled samples");
  add_cut(images, commands.data.images.cut);
  images->add_option("FOLDER", commands.data.images.folder, "Has a folder of images for each class")->required();
  images->add_option("--side", commands.data.images.side, "Pixels: the middle square is scaled to so many")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  images->add_option("--channels", commands.data.images.channels, "3: colours; 1: grey")
      ->check(CLI::IsMember({1, 3}))
      ->capture_default_str();
  images->add_option("--seed", commands.data.images.seed, "Of the order of the samples")->capture_default_str();
  images->callback([&commands] { commands.chosen = [&commands] { return prepare_images(commands.data.images); }; });
}

void add_run(CLI::App& cli, Commands& commands) {
  CLI::App* run = cli.add_subcommand("run", "Make, start, pause and look at training runs");
  run->require_subcommand(1);
  CLI::App* create = run->add_subcommand("create", "Sign a manifest.toml and take its data over");
  CreateOptions& created = commands.training.create;
  directory_of(create, created.directory);
  create->add_option("MANIFEST", created.manifest, "The run's description, TOML")->required();
  create->add_flag("--sole-holders", created.sole_holders,
                   "let one volunteer alone hold a cell of the model, though the project is open to all");
  create->add_flag("--held-out-may-repeat", created.held_out_may_repeat,
                   "Make the run even if most of the held-out data stands in the training data");
  create->add_flag("--mirrors-later", created.mirrors_later,
                   "Do not ask mirrors for a shard: they are filled later, or cannot be reached from here");
  create->callback([&commands] { commands.chosen = [&commands] { return create_run(commands.training.create); }; });
  const auto add = [&](const char* name, const char* help, Status (*command)(const RunOptions&)) {
    CLI::App* added = run->add_subcommand(name, help);
    directory_of(added, commands.training.run.directory);
    added->add_option("RUN", commands.training.run.run, "Which run; may be left out when there is one");
    added->callback(
        [&commands, command] { commands.chosen = [&commands, command] { return command(commands.training.run); }; });
    return added;
  };
  add("start", "Let volunteers train it", start_run);
  add("pause", "Let the round under way end, then nobody trains it", pause_run);
  add("retire", "For good: off the lists, nobody new is given it; its page and its credit stay", retire_run);
  add("status", "Progress, devices that compute, held-out loss, ledger and volunteers", show_run)
      ->add_flag("--json", commands.training.run.json, "For programs");
}

void add_rollback(CLI::App& cli, Commands& commands) {
  CLI::App* rollback = cli.get_subcommand("run")->add_subcommand(
      "rollback", "Go back to an earlier state, of which a copy is kept; tells what that means, and asks");
  RollbackOptions& options = commands.training.rollback;
  directory_of(rollback, options.directory);
  rollback->add_option("RUN", options.run, "Which run; may be left out when there is one");
  rollback->add_option("--to", options.to, "The round that began with that state; run status lists those that are kept")
      ->required()
      ->check(CLI::NonNegativeNumber);
  rollback->add_option("--credit", options.credit, "Keep or reverse what the rounds since then earned")
      ->required()
      ->check(CLI::IsMember({"keep", "reverse"}));
  rollback->add_flag("--yes", options.yes, "Do not ask");
  rollback->callback(
      [&commands] { commands.chosen = [&commands] { return roll_back_run(commands.training.rollback); }; });
}

void add_sign(CLI::App& cli, Commands& commands) {
  CLI::App* sign = cli.get_subcommand("run")->add_subcommand(
      "sign", "Sign a run anew, with what may change while volunteers train it");
  SignOptions& options = commands.training.sign;
  directory_of(sign, options.directory);
  sign->add_option("RUN", options.run, "Which run; may be left out when there is one");
  sign->add_option("--title", options.title, "What volunteers see of it");
  sign->add_option("--client-min", options.client_min, "The oldest version of their program that may take part");
  CLI::Option* mirrors = sign->add_option("--mirror", options.mirrors)
                             ->description(
                                 "https://HOST/FOLDER/ that gives its shards out, in place of all that are "
                                 "in it; may be given again");
  sign->add_flag("--no-mirrors", options.no_mirrors, "The coordinator gives them out")->excludes(mirrors);
  sign->add_flag("--mirrors-later", options.mirrors_later,
                 "Do not ask new mirrors for a shard: they are filled later, or cannot be reached from here");
  sign->callback([&commands] { commands.chosen = [&commands] { return sign_run(commands.training.sign); }; });
}

void add_export(CLI::App& cli, Commands& commands) {
  CLI::App* exports = cli.get_subcommand("run")->add_subcommand(
      "export", "Write the newest model that the swarm sent as safetensors and config.json");
  directory_of(exports, commands.training.exports.directory);
  exports->add_option("RUN", commands.training.exports.run, "Which run")->required();
  exports->add_option("FOLDER", commands.training.exports.folder, "Where to; made if it is not there")->required();
  exports->callback([&commands] { commands.chosen = [&commands] { return export_run(commands.training.exports); }; });
}

void add_stats(CLI::App& cli, Commands& commands) {
  CLI::App* exports = cli.add_subcommand("export", "Figures of the project for others");
  exports->require_subcommand(1);
  CLI::App* stats = exports->add_subcommand(
      "stats", "Volunteers, teams and computers with their credit, as BOINC projects publish them, and as JSON lines");
  directory_of(stats, commands.care.stats.directory);
  stats->add_option("FOLDER", commands.care.stats.folder,
                    "Where to; DIR/stats by default, which the server gives out at /stats/");
  stats->callback([&commands] { commands.chosen = [&commands] { return export_stats(commands.care.stats); }; });
}

void add_clone(CLI::App& cli, Commands& commands) {
  CLI::App* clone = cli.get_subcommand("run")->add_subcommand(
      "clone", "Write a manifest.toml like a run's own, with its data, to change and to create a run from");
  directory_of(clone, commands.training.clone.directory);
  clone->add_option("RUN", commands.training.clone.run, "Which run; retired ones too")->required();
  clone->add_option("FILE", commands.training.clone.file, "Where to; must not exist")->required();
  clone->add_option("--as", commands.training.clone.new_id, "The new run's id; poems-2 after poems-1 by default");
  clone->callback([&commands] { commands.chosen = [&commands] { return clone_run(commands.training.clone); }; });
}

void add_plan(CLI::App& cli, Commands& commands) {
  CLI::App* plan = cli.add_subcommand(
      "plan", "What a manifest.toml, and every algorithm in its place, would take a swarm: before anybody has joined");
  PlanAheadOptions& options = commands.training.plan;
  plan->add_option("MANIFEST", options.manifest, "The run's description, TOML")->required()->check(CLI::ExistingFile);
  CLI::Option_group* whose = plan->add_option_group("Swarm", "Whose computers and lines; one of the two");
  whose->require_option(1);
  whose
      ->add_option("--swarm", options.swarm,
                   "JSON: {\"hosts\": [{\"count\": 20, \"samples_per_s\": 5, \"upload_mbit_s\": 20, "
                   "\"download_mbit_s\": 100, \"delay_ms\": 15, \"jitter\": 0.1, \"departures_per_h\": 0.5, "
                   "\"dialable\": true}, ...]}; the last four may be left out")
      ->check(CLI::ExistingFile);
  whose
      ->add_option("--from-run", options.from_run,
                   "A project's folder: the computers that train there at the moment, as its server knows them from "
                   "their calls and from how often they stop (/swarm.json on its pages is the same as a file)")
      ->check(CLI::ExistingDirectory);
  plan->add_option("--plot", options.plot, "Also draw the ranking into this SVG file");
  plan->add_option("--samples", options.samples, "To train on")->check(CLI::Range(1.0, 1e15))->capture_default_str();
  plan->add_option("--local-steps", options.local_steps, "Of a computer between two averagings, where there are any")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  plan->add_flag("--json", options.json, "For programs");
  plan->callback([&commands] { commands.chosen = [&commands] { return plan_ahead(commands.training.plan); }; });
}

void add_invite(CLI::App& cli, Commands& commands) {
  CLI::App* invite = cli.add_subcommand("invite", "Join links for volunteers");
  invite->require_subcommand(1);
  CLI::App* make = invite->add_subcommand("new", "Print a new join link; it is shown only once");
  directory_of(make, commands.people.invite.directory);
  make->add_option("--uses", commands.people.invite.uses, "How many computers may join with it")->capture_default_str();
  make->add_option("--expires", commands.people.invite.expires, "How long it is good: 30m, 12h, 7d")
      ->capture_default_str();
  make->callback([&commands] { commands.chosen = [&commands] { return new_invite(commands.people.invite); }; });
  CLI::App* list = invite->add_subcommand("list", "Invites, their uses and when they expire");
  directory_of(list, commands.directory);
  list->callback([&commands] { commands.chosen = [&commands] { return list_invites(commands.directory); }; });
}

void add_credit(CLI::App& cli, Commands& commands) {
  CLI::App* credit = cli.add_subcommand("credit", "Check and correct what volunteers are credited with");
  credit->require_subcommand(1);
  CLI::App* check = credit->add_subcommand("check", "Add the whole ledger up and hold every total against it");
  directory_of(check, commands.directory);
  check->callback([&commands] { commands.chosen = [&commands] { return check_credit(commands.directory); }; });
  CLI::App* claims = credit->add_subcommand("claims", "What computers claimed and their groups did not confirm");
  directory_of(claims, commands.directory);
  claims->callback([&commands] { commands.chosen = [&commands] { return list_claims(commands.directory); }; });
  CLI::App* reverse = credit->add_subcommand("reverse", "Take credit back; the ledger keeps the lines and why");
  ReverseOptions& options = commands.people.reverse;
  directory_of(reverse, options.directory);
  reverse->add_option("--user", options.user, "Whose credit, by display name")->required();
  reverse->add_option("--reason", options.reason, "For the record")->required();
  reverse->add_option("--computer", options.computer, "Only that of one of their computers, 64 hex digits");
  reverse->add_option("--run", options.run, "Only of this run");
  reverse->add_option("--rounds", options.rounds, "Only of these rounds: 120-180");
  reverse->add_flag("--dry-run", options.dry_run, "Say what would be taken back, and change nothing");
  reverse->callback([&commands] { commands.chosen = [&commands] { return reverse_credit(commands.people.reverse); }; });
}

void add_serve(CLI::App& cli, Commands& commands) {
  CLI::App* serve_command = cli.add_subcommand("serve", "Serve volunteers and the leaderboard until SIGTERM or Ctrl-C");
  directory_of(serve_command, commands.serve.directory);
  serve_command->add_option("--listen", commands.serve.listen)
      ->description("HOST:PORT to serve on; by default what init was told. For one of several servers of a project");
  serve_command->add_option("--internal", commands.serve.internal)
      ->description(
          "HOST:PORT at which the project's other servers reach this one; by default where it listens. Several need a "
          "database on a server: init --database");
  serve_command->add_option("--connections-per-address", commands.serve.connections_per_address)
      ->description("Open connections from one address, at most")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  serve_command->add_option("--workers", commands.serve.workers, "Threads that answer requests")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  serve_command->add_option("--admin", commands.serve.admin)
      ->description(
          "HOST:PORT of the operator's page, /metrics, /healthz and /readyz, such as 127.0.0.1:9443; not open by "
          "default");
  serve_command->add_option("--trusted-proxy", commands.serve.trusted_proxies)
      ->description(
          "The IP address of a proxy for browsers that ends TLS and writes X-Forwarded-For; may be given again. By "
          "default "
          "nobody is believed");
  serve_command->add_option("--smtp", commands.serve.smtp)
      ->description("A mail relay, such as smtp://relay.example.org:587, for new passwords and to confirm addresses");
  serve_command->add_option("--mail-from", commands.serve.mail_from, "The address that mail comes from");
  serve_command->add_option("--smtp-user", commands.serve.smtp_user,
                            "Who the relay asks for; the password stands in DIR/smtp.password");
  serve_command->add_option("--relay", commands.serve.relay)
      ->description(
          "ADDRESS:PORT at which volunteers that nobody can dial meet, such as 203.0.113.5:8444; they need one when no "
          "volunteer relays for them. The address is this computer's own, and not a name; not open by default");
  serve_command->add_option("--relay-rate", commands.serve.relay_mbit_s, "Mbit/s through the relay, at most")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  serve_command->add_flag(
      "--dial-back", commands.serve.dial_back,
      "Find out which volunteers others can dial, instead of believing what they say of their ports");
  serve_command->add_flag("--verbose", commands.verbose, "Log more");
  serve_command->callback([&commands] { commands.chosen = [&commands] { return serve(commands.serve); }; });
}

void add_users(CLI::App& cli, Commands& commands) {
  CLI::App* users = cli.add_subcommand("users", "Accounts: who there is, who waits, and help for who is locked out");
  CLI::App* hosts = cli.add_subcommand("hosts", "Computers of an account, and which of them are kept out");
  UsersOptions& options = commands.people.users;
  const auto add = [&](CLI::App* group, const char* name, const char* help, Status (*command)(const UsersOptions&)) {
    group->require_subcommand(1);
    CLI::App* added = group->add_subcommand(name, help);
    directory_of(added, options.directory);
    added->callback(
        [&commands, command] { commands.chosen = [&commands, command] { return command(commands.people.users); }; });
    return added;
  };
  const auto named = [&](CLI::App* command) {
    command->add_option("NAME", options.name, "The display name")->required();
  };
  const auto numbered = [&](CLI::App* command) {
    command->add_option("COMPUTER", options.computer, "64 hex digits, as `hosts list` tells")->required();
  };
  CLI::App* list = add(users, "list", "Accounts, oldest first", list_users);
  list->add_flag_callback(
      "--waiting", [&options] { options.listed = UsersListed::waiting; }, "Who waits for approval");
  list->add_flag_callback(
      "--deleted", [&options] { options.listed = UsersListed::deleted; }, "Who has left");
  named(add(users, "show", "One account: computers, credit, address", show_user));
  named(add(users, "approve", "Let somebody in who waits", approve_user));
  CLI::App* vouch = add(
      users, "vouch", "Answer for an account: its word about others counts at once, not only after 10 confirmed rounds",
      vouch_for_user);
  named(vouch);
  vouch->add_flag("--withdraw", options.withdraws, "Do so no longer");
  CLI::App* auditor =
      add(users, "auditor",
          "It is your own: what its computers find decides checks of others' work, where more would have to agree",
          make_auditor);
  named(auditor);
  auditor->add_flag("--withdraw", options.withdraws, "Do so no longer");
  CLI::App* computers = add(users, "computers", "Set the most computers of one account", set_computers);
  named(computers);
  computers->add_option("N", options.computers, "0: the project's usual number")
      ->required()
      ->check(CLI::Range(std::int64_t{0}, accounts::kHostsPerAccountMax));
  named(add(users, "password-link", "Print a link for a new password, good for a day", new_password_link));
  named(add(users, "confirm-email", "You know that the address is theirs", confirm_email));
  named(add(users, "delete", "Delete an account as its owner could: what it contributed stays", delete_user));
  named(add(hosts, "list", "Computers of an account", list_hosts));
  numbered(add(hosts, "revoke", "Keep a computer out, from its next heartbeat on", revoke_host));
  numbered(add(hosts, "admit", "Let it in again", admit_host));
}

void add_ban(CLI::App& cli, Commands& commands) {
  CLI::App* ban = cli.add_subcommand("ban", "Keep volunteers, computers and addresses out");
  ban->require_subcommand(1);
  CLI::App* add = ban->add_subcommand("add", "In force within seconds, in the running server too");
  directory_of(add, commands.people.ban.directory);
  add->add_option("WHO", commands.people.ban.who, "user:NAME, host:64 hex digits, team:NAME, or address:192.0.2.0/24")
      ->required();
  add->add_option("--reason", commands.people.ban.reason, "They are told it")->required();
  add->add_option("--for", commands.people.ban.lasts, "How long: 12h, 30d; for good by default");
  add->callback([&commands] { commands.chosen = [&commands] { return add_ban(commands.people.ban); }; });
  CLI::App* list = ban->add_subcommand("list", "Who is kept out, since when, until when and why");
  directory_of(list, commands.directory);
  list->callback([&commands] { commands.chosen = [&commands] { return list_bans(commands.directory); }; });
  CLI::App* remove = ban->add_subcommand("remove", "Let them in again");
  directory_of(remove, commands.people.numbered.directory);
  remove->add_option("BAN", commands.people.numbered.number, "Its number in the list")->required();
  remove->callback([&commands] { commands.chosen = [&commands] { return remove_ban(commands.people.numbered); }; });
}

void add_news(CLI::App& cli, Commands& commands) {
  CLI::App* news = cli.add_subcommand("news", "What the project's first page tells volunteers");
  news->require_subcommand(1);
  CLI::App* post = news->add_subcommand("post", "Add an item");
  directory_of(post, commands.people.news.directory);
  post->add_option("--title", commands.people.news.title)->required();
  post->add_option("--body", commands.people.news.body, "Plain text; an empty line ends a paragraph");
  post->callback([&commands] { commands.chosen = [&commands] { return post_news(commands.people.news); }; });
  CLI::App* list = news->add_subcommand("list", "Items, newest first");
  directory_of(list, commands.directory);
  list->callback([&commands] { commands.chosen = [&commands] { return list_news(commands.directory); }; });
  CLI::App* remove = news->add_subcommand("remove", "Take an item back");
  directory_of(remove, commands.people.numbered.directory);
  remove->add_option("ITEM", commands.people.numbered.number, "Its number in the list")->required();
  remove->callback([&commands] { commands.chosen = [&commands] { return remove_news(commands.people.numbered); }; });
}

void add_maintenance(CLI::App& cli, Commands& commands) {
  CLI::App* maintenance = cli.add_subcommand(
      "maintenance", "Tell volunteers that the project is being looked after; who trains goes on meanwhile");
  maintenance->require_subcommand(1);
  CLI::App* on = maintenance->add_subcommand("on", "From now on; again: change what is told");
  MaintenanceOptions& options = commands.people.maintenance;
  directory_of(on, options.directory);
  on->add_option("--message", options.message, "Why, in plain text");
  on->add_option("--until", options.until, "When it will be over: 18:30, '2024-06-10 18:30', or in how long: 2h");
  on->callback([&commands] { commands.chosen = [&commands] { return maintenance_on(commands.people.maintenance); }; });
  CLI::App* off = maintenance->add_subcommand("off", "It is over");
  directory_of(off, commands.directory);
  off->callback([&commands] { commands.chosen = [&commands] { return maintenance_off(commands.directory); }; });
  CLI::App* show = maintenance->add_subcommand("status", "Whether it is on, and what is told");
  directory_of(show, commands.directory);
  show->callback([&commands] { commands.chosen = [&commands] { return show_maintenance(commands.directory); }; });
}

void add_operators(CLI::App& cli, Commands& commands) {
  CLI::App* operators = cli.add_subcommand("operators", "Who may use the operator's page, which serve --admin opens");
  operators->require_subcommand(1);
  OperatorsOptions& options = commands.people.operators;
  const auto add = [&](const char* name, const char* help, Status (*command)(const OperatorsOptions&)) {
    CLI::App* added = operators->add_subcommand(name, help);
    directory_of(added, options.directory);
    added->callback(
        [&options, &commands, command] { commands.chosen = [&options, command] { return command(options); }; });
    return added;
  };
  CLI::App* made = add("add", "Let somebody use it, or give them a new password", add_operator);
  made->add_option("NAME", options.name, "Who: in the audit log too")->required();
  made->add_option("--password-file", options.password_file,
                   "The password is its first line; by default one is made up and printed");
  const CLI::IsMember roles({"operator", "run-manager", "moderator", "viewer"});
  constexpr const char* kRole = "operator: everything; run-manager: runs; moderator: people and news; viewer: looks";
  made->add_option("--role", options.role, kRole)->check(roles);
  CLI::App* role = add("role", "Give somebody another role, from this moment on", set_operator_role);
  role->add_option("NAME", options.name, "Who")->required();
  role->add_option("ROLE", options.role, kRole)->required()->check(roles);
  add("list", "Who may", list_operators);
  add("remove", "Not any more, from this moment on", remove_operator)
      ->add_option("NAME", options.name, "Who")
      ->required();
}

void add_keys(CLI::App& cli, Commands& commands) {
  CLI::App* keys = cli.add_subcommand("keys", "The key that signs runs, and its root, which volunteers' programs pin");
  keys->require_subcommand(1);
  KeysOptions& options = commands.setup.keys;
  const auto add = [&](const char* name, const char* help, Status (*command)(const KeysOptions&)) {
    CLI::App* added = keys->add_subcommand(name, help);
    directory_of(added, options.directory);
    added->callback(
        [&options, &commands, command] { commands.chosen = [&options, command] { return command(options); }; });
    return added;
  };
  add("offline", "Take the root off this machine: another key, which it certifies, signs from now on",
      take_root_offline)
      ->add_option("FILE", options.root, "Where the root goes; must not exist")
      ->required();
  add("rotate", "Sign with a new key: the last one is lost, stolen or old", rotate_key)
      ->add_option("--root", options.root, "The file that `keys offline` made")
      ->required();
  add("show", "Which keys those are", show_keys);
  CLI::App* exports =
      add("export", "Write all private keys, encrypted, for the day when this machine is lost", export_keys);
  exports->add_option("FILE", options.to, "Where they go; must not exist")->required();
  exports->add_option("--passphrase-file", options.passphrase_file, kPassphraseFile);
}

void add_care(CLI::App& cli, Commands& commands) {
  CLI::App* status = cli.add_subcommand("status", "How the project stands: server, swarm, runs, database, backup");
  directory_of(status, commands.care.status.directory);
  status->add_flag("--json", commands.care.status.json, "For programs");
  status->callback([&commands] { commands.chosen = [&commands] { return show_status(commands.care.status); }; });
  CLI::App* schema = cli.add_subcommand("schema", "The number of the database's layout: older programs know fewer");
  directory_of(schema, commands.directory);
  schema->callback([&commands] { commands.chosen = [&commands] { return show_schema(commands.directory); }; });
  CLI::App* move = cli.add_subcommand("move-database", "From its file to a PostgreSQL server, while nobody serves");
  directory_of(move, commands.setup.move.directory);
  move->add_option("TO", commands.setup.move.to, "postgresql://USER@HOST/NAME of a database that is there and empty")
      ->required();
  move->callback([&commands] { commands.chosen = [&commands] { return move_database(commands.setup.move); }; });
  CLI::App* doctor = cli.add_subcommand("doctor", "Check keys, machine, database, ledger and data; tell what is wrong");
  directory_of(doctor, commands.directory);
  doctor->callback([&commands] { commands.chosen = [&commands] { return examine(commands.directory); }; });
}

void add_backup(CLI::App& cli, Commands& commands) {
  CLI::App* backup = cli.add_subcommand("backup", "Copies of the whole project");
  backup->require_subcommand(1);
  CLI::App* now = backup->add_subcommand("now", "Copy it, while it is served or not");
  directory_of(now, commands.care.backup.directory);
  now->add_option("TO", commands.care.backup.to, "A directory that does not exist yet; DIR/backups/DATE by default");
  auto* with_keys = now->add_flag("--with-keys", commands.care.backup.with_keys, "Private keys, too, encrypted");
  now->add_option("--passphrase-file", commands.care.backup.passphrase_file, kPassphraseFile)->needs(with_keys);
  now->callback([&commands] { commands.chosen = [&commands] { return back_up(commands.care.backup); }; });
  CLI::App* schedule = backup->add_subcommand("schedule", "Let the running server make them; without options: tell");
  ScheduleOptions& timed = commands.care.schedule;
  directory_of(schedule, timed.directory);
  auto* every = schedule->add_option("--every", timed.every, "How often: 6h, 1d");
  schedule->add_option("--to", timed.to, "The folder of backups, best on another disk; DIR/backups by default");
  schedule->add_option("--daily", timed.daily, "Of so many days the newest one is kept")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  schedule->add_option("--weekly", timed.weekly, "And of so many weeks")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  schedule->add_flag("--off", timed.off, "Make none by itself any more")->excludes(every);
  schedule->callback(
      [&commands] { commands.chosen = [&commands] { return schedule_backups(commands.care.schedule); }; });
  CLI::App* restore_command =
      cli.add_subcommand("restore", "Prove that a backup is whole, and copy it to where it is served");
  RestoreOptions& options = commands.care.restore;
  restore_command->add_option("BACKUP", options.backup, "What `backup now` made")->required();
  restore_command->add_option("TO", options.to, "A directory that does not exist yet");
  restore_command->add_flag("--verify", options.verify_only, "Only look: digests, database, ledger, keys");
  auto* keys = restore_command->add_option("--keys", options.keys, "Take the keys from this file of `keys export`");
  restore_command->add_flag("--without-keys", options.without_keys, "Leave the keys out")->excludes(keys);
  restore_command->add_option("--passphrase-file", options.passphrase_file, kPassphraseFile);
  restore_command->callback([&commands] { commands.chosen = [&commands] { return restore(commands.care.restore); }; });
}

int run_program(int argc, char** argv) {
  CLI::App cli{"starling-coordinator: a community's neural network, trained by volunteers"};
  Commands commands;
  cli.require_subcommand(1);
  cli.set_version_flag("--version", std::string(kVersion));
  add_init(cli, commands);
  add_data(cli, commands);
  add_run(cli, commands);
  add_rollback(cli, commands);
  add_sign(cli, commands);
  add_export(cli, commands);
  add_stats(cli, commands);
  add_clone(cli, commands);
  add_plan(cli, commands);
  add_invite(cli, commands);
  add_credit(cli, commands);
  add_serve(cli, commands);
  add_users(cli, commands);
  add_ban(cli, commands);
  add_news(cli, commands);
  add_maintenance(cli, commands);
  add_operators(cli, commands);
  add_keys(cli, commands);
  add_care(cli, commands);
  add_audit(cli, commands.chosen);
  add_backup(cli, commands);
  cli.footer(kExample);  // this list only; every command has its own footer
  for (const auto& [command, example] : kExamples) teach(*cli.get_subcommand(command), example);
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? kOk : kUsage;
  }
  LogOptions log_options;
  log_options.level = commands.verbose ? LogLevel::debug : LogLevel::info;
  init_logging(log_options);
  const Status done = commands.chosen();
  std::fflush(stdout);
  flush_logs();
  if (done.ok()) return kOk;
  fmt::print(stderr, "starling-coordinator: {}\n", plain_lines(done.error().message));
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) { return with_output_written("starling-coordinator", run_program(argc, argv)); }
