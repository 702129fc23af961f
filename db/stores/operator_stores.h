// What an operator writes: news for volunteers, and bans. See stores.h for what holds for every call.
#pragma once

#include <string>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

struct News {
  std::int64_t id = 0;
  WallTime at;
  std::string title;
  std::string body;  // plain text; an empty line ends a paragraph
};

class NewsStore {
 public:
  virtual ~NewsStore() = default;
  virtual Result<std::int64_t> add(const News& news) = 0;       // its id; `news.id` is ignored
  virtual Result<std::vector<News>> list(int limit) const = 0;  // newest first
  virtual Status remove(std::int64_t id) = 0;                   // or not_found
};

enum class BanKind : std::uint8_t { user, host, address, team };

struct Ban {
  std::int64_t id = 0;
  BanKind kind = BanKind::user;
  std::string subject;  // a number of an account or team, a computer's digest in hex, a range of addresses
  std::string reason;   // told to whoever is kept out
  WallTime created;
  WallTime expires;  // kNoExpiry: never
};
constexpr WallTime kNoExpiry{INT64_MAX};

std::string_view name_of(BanKind kind);

class BanStore {
 public:
  virtual ~BanStore() = default;
  // Its id. A subject that is banned already gets the new reason and expiry.
  virtual Result<std::int64_t> add(const Ban& ban) = 0;
  virtual Result<std::vector<Ban>> list() const = 0;  // oldest first, expired ones too; at most kBansMax
  virtual Status remove(std::int64_t id) = 0;         // or not_found

  static constexpr int kBansMax = 100'000;
};

}  // namespace starling::db
