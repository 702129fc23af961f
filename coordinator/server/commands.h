// The commands of the command line. Each prints its result on standard output; its caller reports an error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/dataset/prepare.h"
#include "coordinator/server/project.h"
#include "shared/base/result.h"

namespace starling::server {

// A new project. Addresses are HOST:PORT; directory and database must hold nothing yet.
struct InitOptions {
  std::filesystem::path directory;
  std::string name;
  std::string listen;
  std::string public_at;  // empty: the value of `listen`
  bool open_to_all = false;
  bool approval = false;
  bool anonymous = false;
  std::int64_t hosts_per_account = accounts::kHostsPerAccount;
  std::string database;  // address of a PostgreSQL database; empty: a file
};
// Prints a join link with the first invite as its last line.
Status init_project(const InitOptions& options);

// An invite for up to `uses` new computers. `expires` is a time from now, such as "12h" or "7d".
struct InviteOptions {
  std::filesystem::path directory;
  std::int64_t uses = 1;
  std::string expires = "7d";
};
// Prints the join link as its last line. Its token is shown here and never again.
Status new_invite(const InviteOptions& options);
Status list_invites(const std::filesystem::path& directory);

// Turns text files, or folders of images, into shards that `create_run` takes. Prints the lines for the manifest.
Status prepare_text(const dataset::TextOptions& options);
Status prepare_images(const dataset::ImageOptions& options);

// A run to create, what its data may be, and checks of it to leave out.
struct CreateOptions {
  std::filesystem::path directory;
  std::filesystem::path manifest;    // the file that describes the run
  bool held_out_may_repeat = false;  // held-out data may stand in the training data
  bool mirrors_later = false;        // mirrors are not asked for a shard
  bool sole_holders = false;         // a cell of the model may have one holder in an open project
};
// Prints the run's id as its last line.
Status create_run(const CreateOptions& options);
// `run` may be empty where the project has one run only.
struct RunOptions {
  std::filesystem::path directory;
  std::string run;
  bool json = false;
};
Status start_run(const RunOptions& options);
Status pause_run(const RunOptions& options);
// Retires the run for good.
Status retire_run(const RunOptions& options);
Status show_run(const RunOptions& options);

// Takes a run back to the state that a round began with; `credit` is "keep" or "reverse".
struct RollbackOptions {
  std::filesystem::path directory;
  std::string run;  // see RunOptions
  std::int64_t to = 0;
  std::string credit;
  bool yes = false;  // nobody is asked
};
// Prints the consequences first, and asks on a terminal.
Status roll_back_run(const RollbackOptions& options);

// Signs a run again with the project's key, with changes that are allowed while volunteers train it. Empty options
// leave their values unchanged.
struct SignOptions {
  std::filesystem::path directory;
  std::string run;  // see RunOptions
  std::optional<std::string> title;
  std::optional<std::string> client_min;
  std::vector<std::string> mirrors;  // replace all mirrors; empty: unchanged, or none with no_mirrors
  bool no_mirrors = false;           // no mirrors: the coordinator gives the data out
  bool mirrors_later = false;        // new mirrors are not asked for a shard
};
Status sign_run(const SignOptions& options);

// Writes a manifest.toml that differs from the run's own in its id only; the project already has its data.
struct CloneOptions {
  std::filesystem::path directory;
  std::string run;
  std::string new_id;          // empty: the next number
  std::filesystem::path file;  // must not exist
};
Status clone_run(const CloneOptions& options);

// Predicts the rounds of a swarm for the manifest's run, and for every algorithm in its place: a table, or JSON.
struct PlanAheadOptions {
  std::filesystem::path manifest;  // TOML
  std::filesystem::path swarm;     // JSON: operations::read_swarm; empty: from_run
  std::filesystem::path from_run;  // a project's folder: the present swarm of its server
  std::filesystem::path plot;      // an SVG file of the ranking; empty: none
  double samples = 1e6;            // to train on
  std::int64_t local_steps = 50;   // steps between two averagings, where there are any
  bool json = false;
};
Status plan_ahead(const PlanAheadOptions& options);

// The run whose model is written, and the folder for its files.
struct ExportOptions {
  std::filesystem::path directory;
  std::string run;
  std::filesystem::path folder;  // created if missing
};
// Writes the model of the newest copy of the state as files that other programs open.
Status export_run(const ExportOptions& options);

// The project whose figures are exported, and the destination.
struct StatsOptions {
  std::filesystem::path directory;
  std::filesystem::path folder;  // empty: the project's own folder, which the server gives out at /stats/
};
// Writes files for statistics sites (stats_export.h), in place of earlier ones.
Status export_stats(const StatsOptions& options);

// Adds the whole ledger up. failed_precondition unless the sum of volunteers is the sum of samples times the runs'
// constants, and every total and average follows from the ledger.
Status check_credit(const std::filesystem::path& directory);

// Lists samples that computers claimed and that their groups did not confirm.
Status list_claims(const std::filesystem::path& directory);

// The contributions whose credit is taken back, and the reason, which goes into the audit log. A dry run only prints
// them.
struct ReverseOptions {
  std::filesystem::path directory;
  std::string user;
  std::string computer;  // empty: all of the user's computers
  std::string run;       // empty: in all runs
  std::string rounds;    // "A-B"; empty: all
  std::string reason;
  bool dry_run = false;
};
// Takes credit back by reversal lines in the ledger.
Status reverse_credit(const ReverseOptions& options);

// States of accounts that can be listed; `deleted` ones have no name any more.
enum class UsersListed : std::uint8_t { active, waiting, deleted };

// Options of all commands about accounts and computers. Each reads those that it needs: an account goes by its name, a
// computer by its peer id.
struct UsersOptions {
  std::filesystem::path directory;
  std::string name;
  UsersListed listed = UsersListed::active;
  std::string computer;  // 64 hex digits
  bool withdraws = false;
  std::int64_t computers = 0;  // 0: the project's usual number
};
Status list_users(const UsersOptions& options);
Status show_user(const UsersOptions& options);
Status approve_user(const UsersOptions& options);
// The account has a say about others' work at once, or only after confirmed rounds of its own if `withdraws`.
Status vouch_for_user(const UsersOptions& options);
// Results of the account's computers decide checks of others' work, or do no longer if `withdraws`.
Status make_auditor(const UsersOptions& options);
Status set_computers(const UsersOptions& options);
// Prints a link with which the user sets a new password as its last line.
Status new_password_link(const UsersOptions& options);
Status confirm_email(const UsersOptions& options);
Status delete_user(const UsersOptions& options);
Status list_hosts(const UsersOptions& options);
Status revoke_host(const UsersOptions& options);
Status admit_host(const UsersOptions& options);

// Subject "user:NAME", "host:HEX", "team:NAME" or "address:192.0.2.0/24", for a time ("30d") or for good (empty).
struct BanOptions {
  std::filesystem::path directory;
  std::string who;
  std::string reason;
  std::string lasts;
};

// The number of a ban or of news, as the command that lists them prints it.
struct NumberedOptions {
  std::filesystem::path directory;
  std::int64_t number = 0;
};
Status add_ban(const BanOptions& options);
Status list_bans(const std::filesystem::path& directory);
Status remove_ban(const NumberedOptions& options);

// News for the project's page, in plain text.
struct NewsOptions {
  std::filesystem::path directory;
  std::string title;
  std::string body;
};
Status post_news(const NewsOptions& options);
Status list_news(const std::filesystem::path& directory);
Status remove_news(const NumberedOptions& options);

// A notice for volunteers. While it stands, new computers and changes of accounts wait; training goes on.
struct MaintenanceOptions {
  std::filesystem::path directory;
  std::string message;
  std::string until;  // a time for parse_time; empty: not known
};
Status maintenance_on(const MaintenanceOptions& options);
Status maintenance_off(const std::filesystem::path& directory);
Status show_maintenance(const std::filesystem::path& directory);

// Accounts for the operator's page; listing needs no name.
struct OperatorsOptions {
  std::filesystem::path directory;
  std::string name;
  std::filesystem::path password_file;  // the password is its first line; empty: one is made up
  std::string role;                     // empty: the one that they have, or "operator"
};
// Prints the made-up password as its last line. An existing account gets the new password, and its sessions end.
Status add_operator(const OperatorsOptions& options);
Status set_operator_role(const OperatorsOptions& options);
Status list_operators(const OperatorsOptions& options);
Status remove_operator(const OperatorsOptions& options);

// The project, and the file of its root key, which an operator keeps off the server.
struct KeysOptions {
  std::filesystem::path directory;
  std::filesystem::path root;               // the root key, in PEM
  std::filesystem::path to{};               // the file to export all keys to
  std::filesystem::path passphrase_file{};  // see BackupOptions
};
// Moves the key that clients have pinned to `root`, which must not exist, and lets it certify another key to sign with.
Status take_root_offline(const KeysOptions& options);
// Has the root certify a new key and signs every run with it. Clients follow, and no longer trust the last key.
Status rotate_key(const KeysOptions& options);
Status show_keys(const KeysOptions& options);
// Writes the project's private keys, encrypted to a passphrase, to a file that must not exist: backups leave them out.
Status export_keys(const KeysOptions& options);

// The number of newest lines to print, and their form.
struct AuditOptions {
  std::filesystem::path directory;
  int lines = 50;
  bool json = false;
  bool verify = false;
  std::string noted;  // the digest that an earlier check told of, 64 hex digits; empty: none
};
// Shows operators' actions, newest last; with `verify`, checks the log's chain instead: failed_precondition, with the
// first line that does not fit.
Status show_audit(const AuditOptions& options);

// Which checks of volunteers' work to print, and their form.
struct ChecksOptions {
  std::filesystem::path directory;
  std::string run;      // empty: all
  bool missed = false;  // only those that found work wrong
  int lines = 50;
  bool json = false;
  std::int64_t id = 0;       // the one to show
  std::string lasts = "1h";  // how long it is repeated
};
// Lists the newest, newest last.
Status list_checks(const ChecksOptions& options);
Status show_check(const ChecksOptions& options);
// Each round of the account that the check was about is checked for a while.
Status repeat_check(const ChecksOptions& options);

// The project to look at, served or not; JSON is for programs.
struct StatusOptions {
  std::filesystem::path directory;
  bool json = false;
};
Status show_status(const StatusOptions& options);

// Prints the number of the newest change to the database's layout, without changing it: programs that know fewer
// changes refuse the database.
Status show_schema(const std::filesystem::path& directory);

// Moves the database from its file to an empty one on a PostgreSQL server.
struct MoveOptions {
  std::filesystem::path directory;
  std::string to;
};
Status move_database(const MoveOptions& options);

// Settings of one serving process. Those of the project stand in its project.json.
struct ServeOptions {
  std::filesystem::path directory;
  std::string listen;    // HOST:PORT of this process; empty: the project's setting
  std::string internal;  // HOST:PORT at which the project's other coordinators reach this one; empty: the address where
                         // it listens
  std::string admin;     // HOST:PORT of the operator's page, /metrics, /healthz and /readyz; empty: none
  int connections_per_address = 64;
  int workers = 4;
  std::vector<std::string> trusted_proxies;  // IP addresses of proxies that end TLS
  std::string relay;                         // ADDRESS:PORT of the operator's relay for volunteers; empty: none
  double relay_mbit_s = 100;                 // limit of the traffic through it
  std::string smtp;                          // the mail relay's URL; empty: the project sends no mail
  std::string mail_from;                     // the address that letters come from
  std::string smtp_user;                     // the password is in DIR/smtp.password; empty: the relay asks for none
  bool dial_back = false;                    // test which volunteers others can dial, instead of believing them
};
// Serves until SIGTERM or SIGINT. Prints "listening on https://HOST:PORT".
Status serve(const ServeOptions& options);

// Checks everything that a project needs; failed_precondition when something is wrong.
Status examine(const std::filesystem::path& directory);
// Copies everything but the private keys, with its digests. `to` must not exist; empty: a dated folder in the project.
struct BackupOptions {
  std::filesystem::path directory;
  std::filesystem::path to;
  bool with_keys = false;                 // encrypted to a passphrase
  std::filesystem::path passphrase_file;  // the passphrase is its first line; empty: it is asked for on the terminal
};
Status back_up(const BackupOptions& options);
// Schedules backups by the running server. Without `every` and `off` it prints the present schedule.
struct ScheduleOptions {
  std::filesystem::path directory;
  std::string every;         // a duration
  std::filesystem::path to;  // empty: DIR/backups
  int daily = 7;
  int weekly = 4;
  bool off = false;
};
Status schedule_backups(const ScheduleOptions& options);
// Proves that a backup is complete, then copies it to `to`, which must not exist, with the keys that there are; names
// those that are missing.
struct RestoreOptions {
  std::filesystem::path backup;
  std::filesystem::path to;
  bool verify_only = false;
  std::filesystem::path keys;             // from `keys export`, in place of those in the backup; empty: none
  bool without_keys = false;              // leaves those of the backup out
  std::filesystem::path passphrase_file;  // see BackupOptions
};
Status restore(const RestoreOptions& options);

}  // namespace starling::server
