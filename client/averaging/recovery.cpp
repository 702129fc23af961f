#include "client/averaging/recovery.h"

#include <algorithm>
#include <iterator>

namespace starling::averaging {

void Recovery::enter_view(const wire::LostSet& set) {
  wire::Inventory own{set.lost, table_.held_bits(), {}, {}, set.signature, set.judged};
  noted_.assign(roster_.size(), false);
  noted_count_ = 0;
  expected_ = 0;
  mine_.clear();
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    expected_ += roster_.live(rank) ? 1 : 0;
    if (!roster_.lost(rank)) continue;
    own.weights.push_back(roster_.weight_known(rank) ? roster_.weight(rank) : wire::kWeightUnknown);
    own.draws.push_back(roster_.terms(rank).draw);
    for (SegmentIndex segment = table_.first(rank); segment < table_.first(rank + 1); ++segment) {
      if (roster_.new_owner(segment) == roster_.self()) mine_.push_back(segment);
    }
  }
  inventory_ = wire::encode(own);
  holder_.assign(mine_.size(), kNobody);
  holders_.assign(mine_.size(), wire::RankSet(roster_.size()));
}

bool Recovery::note(Rank from, const wire::Inventory& inventory) {
  if (inventory.lost != roster_.lost_set()) {
    put_off_[from] = inventory;
    return false;
  }
  if (!in_view() || noted_[from]) return false;
  noted_[from] = true;
  ++noted_count_;
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    const SegmentIndex segment = mine_[i];
    if ((inventory.held[segment / 8] >> segment % 8 & 1) == 0) continue;
    holder_[i] = std::min(holder_[i], from);
    holders_[i].set(from);
  }
  return true;
}

std::vector<Rank> Recovery::lacking(std::size_t i) const {
  std::vector<Rank> lacking;
  for (Rank rank = 0; i < mine_.size() && rank < roster_.size(); ++rank) {
    if (roster_.live(rank) && !holders_[i].test(rank)) lacking.push_back(rank);
  }
  return lacking;
}

std::vector<std::pair<Rank, wire::Inventory>> Recovery::take_put_off() {
  std::vector<std::pair<Rank, wire::Inventory>> taken;
  for (auto each = put_off_.begin(); each != put_off_.end();) {
    const bool in_view = each->second.lost == roster_.lost_set();
    if (in_view && !roster_.lost(each->first)) taken.emplace_back(each->first, std::move(each->second));
    each = in_view || roster_.lost(each->first) ? put_off_.erase(each) : std::next(each);
  }
  return taken;
}

std::size_t Recovery::position(SegmentIndex segment) const {
  const auto found = std::lower_bound(mine_.begin(), mine_.end(), segment);
  if (found == mine_.end() || *found != segment) return mine_.size();
  return static_cast<std::size_t>(found - mine_.begin());
}

}  // namespace starling::averaging
