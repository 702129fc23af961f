// The findings of audits of volunteers' work. See stores.h for rules that hold for every call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/stores/records.h"
#include "shared/base/result.h"

namespace starling::db {

// The finding of a check of a computer's round, with its number in the schema.
enum class Verdict : std::uint8_t {
  clean = 0,
  missed = 1,
  unchecked = 2,  // nobody could check it in time
};
std::string_view name_of(Verdict verdict);

// A computer's round that was checked.
struct WorkCheck {
  std::int64_t id = 0;  // given by the store
  RunId run_id;
  RoundIndex round = 0;
  PeerId peer_id;
  AccountId account_id = 0;
  Verdict verdict = Verdict::clean;
  std::vector<PeerId> auditors;  // at most WorkCheckStore::kAuditorsMax are kept
  double distance = 0;           // relative, between what was sent and what was recomputed
  std::string why;               // for people; cut off after 500 bytes
  WallTime at;
};

// Where a computer stands in a run by the checks of its work so far.
struct CheckedHost {
  PeerId peer_id;
  AccountId account_id = 0;
  std::int64_t clean_in_a_row = 0;  // since its last miss
  std::int64_t missed = 0;
  RoundIndex last_miss = 0;  // the newest one's round
};

// Checks by what they found, of all times.
struct CheckSums {
  std::int64_t clean = 0;
  std::int64_t missed = 0;
  std::int64_t unchecked = 0;
  [[nodiscard]] std::int64_t checked() const { return clean + missed; }
};

// Which checks are wanted, newest first.
struct CheckQuery {
  RunId run_id = {};  // empty: of all runs
  bool missed_only = false;
  Page page = {};
};

// Checks of work. The newest are kept one by one; what they add up to is kept for good.
class WorkCheckStore {
 public:
  // A check goes when that number of later ones was stored.
  static constexpr std::int64_t kKeptMax = 100'000;
  static constexpr std::int64_t kMissedKeptMax = 1'000'000;
  static constexpr std::size_t kAuditorsMax = 64;

  virtual ~WorkCheckStore() = default;
  // One for each run, round and computer: a repeated one is ignored, unless the first was `unchecked` and this is not.
  virtual Status add(const WorkCheck& check) = 0;
  virtual Result<std::vector<WorkCheck>> list(const CheckQuery& query) const = 0;
  virtual Result<WorkCheck> find(std::int64_t id) const = 0;  // or not_found
  // Every computer of the run that was ever checked, by its account and key.
  virtual Result<std::vector<CheckedHost>> standings(const RunId& run_id) const = 0;
  virtual Result<CheckSums> sums(const RunId& run_id) const = 0;   // `run_id` empty: over all runs
  virtual Result<CheckSums> sums_of(AccountId account) const = 0;  // for its computers, over all runs
};

}  // namespace starling::db
