// Compiled statements that are not in use, by their SQL. Inside db/sqlite and db/postgres only.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>

namespace starling::db {

// Compiled::sql() is the text that it was made of, and stays where it is.
template <typename Compiled>
class StatementCache {
 public:
  explicit StatementCache(std::size_t statements_max) : statements_max_(statements_max) {}

  // Null: none there.
  std::unique_ptr<Compiled> take(std::string_view sql) {
    const auto found = idle_.find(sql);
    if (found == idle_.end()) return nullptr;
    auto compiled = std::move(found->second);
    idle_.erase(found);
    return compiled;
  }
  // Dropped where there is one of that text already, or too many.
  void give_back(std::unique_ptr<Compiled> compiled) {
    const std::string_view sql = compiled->sql();
    if (idle_.size() < statements_max_) idle_.try_emplace(sql, std::move(compiled));
  }

 private:
  const std::size_t statements_max_;
  std::unordered_map<std::string_view, std::unique_ptr<Compiled>> idle_;
};

}  // namespace starling::db
