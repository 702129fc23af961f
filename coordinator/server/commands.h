// What the command line can do. Each prints its result on standard output; an error is told by its caller.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/dataset/prepare.h"
#include "coordinator/server/project.h"
#include "shared/base/result.h"

namespace starling::server {

struct InitOptions {
  std::filesystem::path directory;
  std::string name;
  std::string listen;
  std::string public_at;  // empty: as listen
  bool open_to_all = false;
  bool approval = false;
  bool anonymous = false;
  std::string database;  // of PostgreSQL; empty: a file
};
// Last line: a join link with the first invite.
Status init_project(const InitOptions& options);

struct InviteOptions {
  std::filesystem::path directory;
  std::int64_t uses = 1;
  std::string expires = "7d";
};
// Last line: the join link. Its token is shown here and never again.
Status new_invite(const InviteOptions& options);
Status list_invites(const std::filesystem::path& directory);

// Text files, or folders of images, become shards that `create_run` takes. Prints what to write into the manifest.
Status prepare_text(const dataset::TextOptions& options);
Status prepare_images(const dataset::ImageOptions& options);

// Last line: the run's id.
Status create_run(const std::filesystem::path& directory, const std::filesystem::path& manifest);
// `run` may be empty where the project has one run only.
struct RunOptions {
  std::filesystem::path directory;
  std::string run;
  bool json = false;
};
Status start_run(const RunOptions& options);
Status pause_run(const RunOptions& options);
// For good.
Status retire_run(const RunOptions& options);
Status show_run(const RunOptions& options);

// Signs a run anew with the project's key, with what may change while volunteers train it; what is not said stays.
struct SignOptions {
  std::filesystem::path directory;
  std::string run;  // as RunOptions
  std::optional<std::string> title;
  std::optional<std::string> client_min;
  std::vector<std::string> mirrors;  // in place of all before; empty: as they are, or
  bool no_mirrors = false;           // none: the coordinator gives the data out
};
Status sign_run(const SignOptions& options);

// Writes a manifest.toml that differs from the run's own in its id only; its data is that which the project has.
struct CloneOptions {
  std::filesystem::path directory;
  std::string run;
  std::string new_id;          // empty: the next number
  std::filesystem::path file;  // must not exist
};
Status clone_run(const CloneOptions& options);

// What the manifest's run, and every algorithm in its place, would take a swarm: a table, or JSON.
struct PlanAheadOptions {
  std::filesystem::path manifest;  // TOML
  std::filesystem::path swarm;     // JSON: operations::read_swarm; empty: from_run
  std::filesystem::path from_run;  // a project's folder: the swarm that its server has at the moment
  std::filesystem::path plot;      // an SVG file of the ranking; empty: none
  double samples = 1e6;            // to train on
  std::int64_t local_steps = 50;   // between two averagings, where there are any
  bool json = false;
};
Status plan_ahead(const PlanAheadOptions& options);

struct ExportOptions {
  std::filesystem::path directory;
  std::string run;
  std::filesystem::path folder;  // made if it is not there
};
// Writes the model of the newest copy of the state as files that others open.
Status export_run(const ExportOptions& options);

struct StatsOptions {
  std::filesystem::path directory;
  std::filesystem::path folder;  // empty: the project's own, which the server gives out at /stats/
};
// Files for statistics sites (stats_export.h), in place of those of before.
Status export_stats(const StatsOptions& options);

// Adds the whole ledger up; failed_precondition unless the sum of volunteers is the sum of samples times the
// runs' constants, and every total and average follows from the ledger.
Status check_credit(const std::filesystem::path& directory);

// Samples that computers said they brought and that their groups did not confirm.
Status list_claims(const std::filesystem::path& directory);

struct ReverseOptions {
  std::filesystem::path directory;
  std::string user;
  std::string computer;  // empty: all of the user's
  std::string run;       // empty: in all runs
  std::string rounds;    // "A-B"; empty: all
  std::string reason;
  bool dry_run = false;
};
// Takes credit back by reversal lines in the ledger.
Status reverse_credit(const ReverseOptions& options);

enum class UsersListed : std::uint8_t { active, waiting, deleted };
struct UsersOptions {
  std::filesystem::path directory;
  std::string name;
  UsersListed listed = UsersListed::active;
  std::string computer;  // 64 hex digits
};
Status list_users(const UsersOptions& options);
Status show_user(const UsersOptions& options);
Status approve_user(const UsersOptions& options);
// Last line: a link with which the user sets a new password.
Status new_password_link(const UsersOptions& options);
Status confirm_email(const UsersOptions& options);
Status delete_user(const UsersOptions& options);
Status list_hosts(const UsersOptions& options);
Status revoke_host(const UsersOptions& options);
Status admit_host(const UsersOptions& options);

// "user:NAME", "host:HEX", "team:NAME" or "address:192.0.2.0/24", for a time ("30d") or for good (empty).
struct BanOptions {
  std::filesystem::path directory;
  std::string who;
  std::string reason;
  std::string lasts;
};
struct NumberedOptions {
  std::filesystem::path directory;
  std::int64_t number = 0;
};
Status add_ban(const BanOptions& options);
Status list_bans(const std::filesystem::path& directory);
Status remove_ban(const NumberedOptions& options);

struct NewsOptions {
  std::filesystem::path directory;
  std::string title;
  std::string body;
};
Status post_news(const NewsOptions& options);
Status list_news(const std::filesystem::path& directory);
Status remove_news(const NumberedOptions& options);

struct MaintenanceOptions {
  std::filesystem::path directory;
  std::string message;
  std::string until;  // as parse_time reads; empty: not known
};
Status maintenance_on(const MaintenanceOptions& options);
Status maintenance_off(const std::filesystem::path& directory);
Status show_maintenance(const std::filesystem::path& directory);

// Accounts of the operator's page; the list needs no name.
struct OperatorsOptions {
  std::filesystem::path directory;
  std::string name;
  std::filesystem::path password_file;  // its first line; empty: one is made up
};
// Last line: the password that was made up. A name that is there already gets the new one, and its sessions end.
Status add_operator(const OperatorsOptions& options);
Status list_operators(const OperatorsOptions& options);
Status remove_operator(const OperatorsOptions& options);

struct KeysOptions {
  std::filesystem::path directory;
  std::filesystem::path root;  // the root key, in PEM
};
// Moves the key that clients have pinned to `root`, which must not exist, and lets it certify another one to sign with.
Status take_root_offline(const KeysOptions& options);
// Has the root certify a new key and signs every run with it; clients follow, and the last key is worth nothing to
// them.
Status rotate_key(const KeysOptions& options);
Status show_keys(const KeysOptions& options);

struct AuditOptions {
  std::filesystem::path directory;
  int lines = 50;
  bool json = false;
};
// What operators did, newest last.
Status show_audit(const AuditOptions& options);

struct StatusOptions {
  std::filesystem::path directory;
  bool json = false;
};
Status show_status(const StatusOptions& options);

// The number of the newest change to the database's layout, which is looked at and not changed: programs that know
// fewer refuse it.
Status show_schema(const std::filesystem::path& directory);

// The database moves from its file to an empty one on a PostgreSQL server.
struct MoveOptions {
  std::filesystem::path directory;
  std::string to;
};
Status move_database(const MoveOptions& options);

struct ServeOptions {
  std::filesystem::path directory;
  std::string listen;    // HOST:PORT of this process; empty: as the project says
  std::string internal;  // HOST:PORT at which the project's other coordinators reach this one; empty: where it listens
  std::string admin;     // HOST:PORT of the operator's page, /metrics, /healthz and /readyz; empty: none
  int connections_per_address = 64;
  int workers = 4;
  std::vector<std::string> trusted_proxies;  // IP addresses of proxies that end TLS
  std::string relay;          // ADDRESS:PORT of the operator's relay, as volunteers reach it; empty: none
  double relay_mbit_s = 100;  // what flows through it, at most
  std::string smtp;           // the mail relay's URL; empty: the project sends no mail
  std::string mail_from;      // the address that letters come from
  std::string smtp_user;      // with the password in DIR/smtp.password; empty: the relay asks for none
  bool dial_back = false;     // find out which volunteers others can dial, instead of believing what they say
};
// Until SIGTERM or SIGINT. Prints "listening on https://HOST:PORT".
Status serve(const ServeOptions& options);

// Looks at everything a project needs; failed_precondition when something is wrong.
Status examine(const std::filesystem::path& directory);
// A copy of everything, with its digests. `to` must not exist; empty: a dated folder in the project.
struct BackupOptions {
  std::filesystem::path directory;
  std::filesystem::path to;
};
Status back_up(const BackupOptions& options);
// Backups by the running server. Without `every` and `off` it tells what is set.
struct ScheduleOptions {
  std::filesystem::path directory;
  std::string every;         // a duration
  std::filesystem::path to;  // empty: DIR/backups
  int daily = 7;
  int weekly = 4;
  bool off = false;
};
Status schedule_backups(const ScheduleOptions& options);
// Proves that a backup is whole, then copies it to `to`, which must not exist.
struct RestoreOptions {
  std::filesystem::path backup;
  std::filesystem::path to;
  bool verify_only = false;
};
Status restore(const RestoreOptions& options);

}  // namespace starling::server
