// Records that an operator writes: news for volunteers, bans, settings, and the audit log. See stores.h for rules that
// hold for every call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

// An operator's message to all volunteers, shown on the project's page.
struct News {
  std::int64_t id = 0;
  WallTime at;
  std::string title;
  std::string body;  // plain text; an empty line ends a paragraph
};

// News is posted and removed, never edited.
class NewsStore {
 public:
  virtual ~NewsStore() = default;
  virtual Result<std::int64_t> add(const News& news) = 0;       // its id; `news.id` is ignored
  virtual Result<std::vector<News>> list(int limit) const = 0;  // newest first
  virtual Status remove(std::int64_t id) = 0;                   // or not_found
};

// The kind of subject. A banned team may not be joined, and its name is shown to nobody.
enum class BanKind : std::uint8_t { user, host, address, team };

// A subject that is kept out until the ban expires or is removed.
struct Ban {
  std::int64_t id = 0;
  BanKind kind = BanKind::user;
  std::string subject;  // a number of an account or team, a computer's digest in hex, a range of addresses
  std::string reason;   // shown to those who are kept out
  WallTime created;
  WallTime expires;  // kNoExpiry: never
};
constexpr WallTime kNoExpiry{INT64_MAX};

std::string_view name_of(BanKind kind);

// The list of bans. BanList (coordinator/accounts) keeps people and computers out by it; bans of teams are obeyed by
// the stores themselves.
class BanStore {
 public:
  virtual ~BanStore() = default;
  // Returns the ban's id. A subject that is banned already gets the new reason and expiry.
  virtual Result<std::int64_t> add(const Ban& ban) = 0;
  virtual Result<std::vector<Ban>> list() const = 0;  // oldest first, expired ones too; at most kBansMax
  virtual Status remove(std::int64_t id) = 0;         // or not_found

  static constexpr int kBansMax = 100'000;
};

// Facts that the coordinator must remember about itself, as texts by name.
class SettingStore {
 public:
  virtual ~SettingStore() = default;
  // The text kept under that name. If there is none yet, `fresh` is kept and returned.
  virtual Result<std::string> keep(const std::string& name, const std::string& fresh) = 0;
  virtual Result<std::optional<std::string>> find(const std::string& name) const = 0;
  virtual Status set(const std::string& name, const std::string& value) = 0;
  virtual Status remove(const std::string& name) = 0;  // ok when there is none
};

// An operator's action. Lines are never changed.
struct AuditLine {
  std::int64_t id = 0;
  WallTime at;
  std::string who;
  std::string action;                 // for example "ban add" or "run pause"
  std::string subject;                // object of the action
  std::string note;                   // reason or result
  std::optional<Digest> digest = {};  // chains it to the line before; nothing: by an older version, not chained yet
};

// The audit log, to which lines can only be added.
class AuditStore {
 public:
  virtual ~AuditStore() = default;
  // Computes a line's digest from the digest of the line before it, all zeros for the first. It may be called twice.
  using Chain = std::function<Digest(const Digest& before, const AuditLine& line)>;
  // `line.id` and `line.digest` are ignored. Chains the lines that an older version wrote, too.
  virtual Status add(const AuditLine& line, const Chain& chain) = 0;
  virtual Result<std::vector<AuditLine>> list(int limit, std::int64_t before) const = 0;    // newest first, ids below
  virtual Result<std::vector<AuditLine>> list_on(int limit, std::int64_t after) const = 0;  // oldest first, ids above
};

// The acts that an operator may take on the page; everybody there may look.
enum class OperatorRole : std::uint8_t {
  all,
  run_manager,  // starts, pauses and retires runs, and announces maintenance
  moderator,    // lets people in and keeps them out, and posts news
  viewer,       // none
};
// "operator", "run-manager", "moderator", "viewer"; and back, invalid_argument for other names.
std::string_view name_of(OperatorRole role);
Result<OperatorRole> role_named(std::string_view name);

// A person with a password for the operator's page. It is no volunteer's account.
struct Operator {
  std::string name;
  std::string password;  // a hash
  WallTime created;
  OperatorRole role = OperatorRole::all;
};

// Accounts for the operator's own page, and browsers that are logged in there.
class OperatorStore {
 public:
  virtual ~OperatorStore() = default;
  // Adds the account, or gives the one of exactly that name a new password, which ends its sessions; already_exists if
  // another one's name is too like it.
  virtual Status set(const Operator& account) = 0;
  virtual Result<Operator> find(const std::string& name) const = 0;
  virtual Result<std::vector<Operator>> list() const = 0;
  virtual Status set_role(const std::string& name, OperatorRole role) = 0;  // at once; or not_found
  virtual Status remove(const std::string& name) = 0;                       // removes its sessions too; or not_found
  // For the operator of exactly that name. Drops expired sessions.
  virtual Status open(const Digest& token_hash, const std::string& name, WallTime now, WallTime expires) = 0;
  virtual Result<Operator> session(const Digest& token_hash, WallTime now) const = 0;  // its operator; or not_found
  virtual Status close(const Digest& token_hash) = 0;
};

// The stores of what operators decide and write: references into one Database, which must outlive them.
struct OperationStores {
  NewsStore& news;
  BanStore& bans;
  SettingStore& settings;
  AuditStore& audit;
  OperatorStore& operators;
};

}  // namespace starling::db
