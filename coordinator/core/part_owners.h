// Which accounts may own parts of the vector, by what audits have found about their parts. Pure.
//
// Nobody is at fault for one finding: an owner's word is against a member's, or a link was slow. Who is at odds with
// many is at fault; and an account whose parts nobody can believe, or check, owns none for a while. A liar has to spoil
// somebody else's part then, and an owner that lies has none.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "shared/base/ids.h"

namespace starling::core {

class PartOwners {
 public:
  [[nodiscard]] bool may_own(AccountId account, RoundIndex round) const;

  // These owners say that they received something else from the member than it has computed.
  struct Fault {
    bool of_member = false;
    std::vector<AccountId> of_owners{};
  };
  // many: accounts that one has to be at odds with, to be at fault.
  Fault on_dispute(RoundIndex round, AccountId member, std::span<const AccountId> owners, std::size_t many);
  // The account's part was not the mean of what members say that they have contributed.
  void on_off(RoundIndex round, AccountId account);
  // It has told, or has not, what it received and what it contributed itself.
  void on_word(RoundIndex round, AccountId account, bool told);

 private:
  struct Dispute {
    int times = 0;
    RoundIndex last = 0;
  };
  using Disputes = std::map<AccountId, std::map<AccountId, Dispute>>;
  static Dispute& note(Disputes& disputes, AccountId account, AccountId other, RoundIndex round);

  Disputes of_members_;                               // by member and owner
  Disputes of_owners_;                                // by owner and member
  std::map<AccountId, std::vector<RoundIndex>> off_;  // ascending, of late
  std::map<AccountId, std::deque<bool>> told_;        // words of late
  std::map<AccountId, RoundIndex> owns_nothing_until_;
};

}  // namespace starling::core
