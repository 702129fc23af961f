// A cache of compiled statements that are not in use, by their SQL. Used inside db/sqlite and db/postgres only.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

namespace starling::db {

// Compiled::sql() must return the text it was compiled from, at an address that never changes.
template <typename Compiled>
class StatementCache {
 public:
  explicit StatementCache(std::size_t statements_max) : statements_max_(statements_max) {}

  // Null: the cache has none.
  std::unique_ptr<Compiled> take(std::string_view sql) {
    const auto found = idle_.find(sql);
    if (found == idle_.end()) return nullptr;
    auto compiled = std::move(found->second);
    idle_.erase(found);
    return compiled;
  }
  // Drops the statement if one with its text is there already, or if the cache is full.
  void give_back(std::unique_ptr<Compiled> compiled) {
    const std::string_view sql = compiled->sql();
    if (idle_.size() < statements_max_) idle_.try_emplace(sql, std::move(compiled));
  }

 private:
  const std::size_t statements_max_;
  std::unordered_map<std::string_view, std::unique_ptr<Compiled>> idle_;
};

}  // namespace starling::db
