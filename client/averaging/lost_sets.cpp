#include "client/averaging/lost_sets.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "shared/swarm/plan.h"

namespace starling::averaging {

LostSets::LostSets(const wire::GroupInfo& group, const Roster& roster, const AllReduceOptions& options)
    : group_(group),
      roster_(roster),
      plan_digest_(swarm::plan_digest(group)),
      signer_(options.signer),
      sets_(roster.size()),
      said_(roster.size(), wire::RankSet(roster.size())),
      ever_(roster.size()),
      judged_(roster.size(), wire::RankSet(roster.size())),
      accused_(roster.size()),
      accused_at_(roster.size(), kNever),
      undecided_until_(roster.size(), TimePoint::min()) {}

const wire::LostSet& LostSets::sign_own(TimePoint now) {
  const Rank self = roster_.self();
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!roster_.lost(rank)) continue;
    if (accused_at_[rank] == kNever) accused_at_[rank] = now;
    said_at_.try_emplace({self, rank}, now);
  }
  wire::LostSet own{static_cast<std::uint32_t>(self), plan_digest_, roster_.lost_set()};
  if (judged_[self].count() > 0) own.judged = judged_[self];
  own.signature = signer_->sign(wire::signed_text(own));
  said_[self].merge(own.lost);
  return sets_[self].emplace(std::move(own));
}

void LostSets::sign_off() {
  wire::LostSet own{static_cast<std::uint32_t>(roster_.self()), plan_digest_, wire::RankSet(roster_.size())};
  own.lost.set(roster_.self());
  own.signature = signer_->sign(wire::signed_text(own));
  sets_[roster_.self()] = std::move(own);
}

Result<bool> LostSets::take(TimePoint now, const wire::LostSet& said) {
  if (said.rank >= roster_.size() || said.lost.size() != roster_.size() || said.plan_digest != plan_digest_) {
    return nonsense("a lost set is refused: it is of another plan");
  }
  if (said.rank == roster_.self()) return false;
  bool first = false;
  bool news = false;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!said.lost.test(rank) || accuses(said.rank, rank)) continue;
    first = true;  // a vote, also about a member that is lost here: it shows that others have lost it as well
    news = news || !roster_.lost(rank);
  }
  if (!first) return false;
  const PeerId& peer = group_.members[said.rank].endpoint.peer;
  if (const Status proven = signer_->verify(wire::signed_text(said), said.signature, peer); !proven.ok()) {
    return nonsense(fmt::format("a lost set is refused: {}", proven.error().message));
  }
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!said.lost.test(rank)) continue;
    const bool is_first = said_at_.try_emplace({said.rank, rank}, now).second;
    if (is_first && said.judged.size() > 0 && said.judged.test(rank)) judged_[said.rank].set(rank);
  }
  said_[said.rank].merge(said.lost);
  ever_.merge(said.lost);
  sets_[said.rank] = said;
  note_accused(now);
  return news;
}

void LostSets::note_accused(TimePoint now) {
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    const bool accused = !accusers(rank).empty();
    if (accused && !accused_[rank]) accused_at_[rank] = now;
    accused_[rank] = accused;
  }
}

void LostSets::on_overslept(Duration slept) {
  for (TimePoint& at : accused_at_) at += at == kNever ? Duration::zero() : slept;
  for (auto& [who, at] : said_at_) at += slept;
}

bool LostSets::follows(Rank accuser, Rank accused) const {
  if (!judged_[accuser].test(accused)) return false;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (accuses(accused, rank) && !judged_[accused].test(rank) && !roster_.lost(rank)) return true;
  }
  return false;
}

std::vector<Rank> LostSets::accusers(Rank accused) const {
  std::vector<Rank> accusers;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (!roster_.lost(rank) && accuses(rank, accused) && !follows(rank, accused)) accusers.push_back(rank);
  }
  return accusers;
}

bool LostSets::believed(Rank accused) const {
  if (roster_.late(accused) || accuses(accused, accused)) return true;
  Votes against = 0;
  Votes all = 0;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (rank != accused && !roster_.linked(rank, accused)) continue;
    if (accuses(rank, accused)) {
      against += roster_.votes(rank);
      all += roster_.votes(rank);
    } else if (rank == accused || !roster_.lost(rank)) {
      all += roster_.votes(rank);
    }
  }
  return against > 0 && 2 * against >= all;
}

TimePoint LostSets::at_odds_since(Rank accuser) const {
  TimePoint since = kNever;
  for (Rank rank = 0; rank < roster_.size(); ++rank) {
    if (rank == accuser || !accuses(accuser, rank) || follows(accuser, rank) || believed(rank)) continue;
    if (accuser != roster_.self() && roster_.lost(rank)) continue;
    since = std::min(since, std::max(said_at_.at({accuser, rank}), undecided_until_[rank]));
  }
  return since;
}

Rank LostSets::weaker(Rank one, Rank other) const {
  if (roster_.votes(one) != roster_.votes(other)) return roster_.votes(one) < roster_.votes(other) ? one : other;
  return std::min(one, other);
}

}  // namespace starling::averaging
