#include "client/averaging/accusations.h"

#include <fmt/core.h>

#include <algorithm>

namespace starling::averaging {
namespace {

constexpr Duration kTime = Patience::kAccusationTime;
constexpr Duration kLongerTime = kTime * 3 / 2;
// For others to confirm it after the accused has answered: those to whom the accused is unwell say so as soon as they
// hear that it is lost, so this has to be longer than a frame's way there and back, and not by much.
constexpr Duration kTimeAfterAnswer = std::chrono::milliseconds(300);
// For the begin of a member that others have lost; less than half of stall_floor, within which they want an inventory.
constexpr Duration kTimeToBegin = std::chrono::seconds(4);

}  // namespace

std::vector<LostMember> Accusations::confirmed(TimePoint now) {
  const Roster& roster = parts_.roster;
  std::vector<LostMember> confirmed;
  const std::vector<bool> owing = parts_.progress.owing_results();
  for (Rank rank = 0; rank < roster.size(); ++rank) {
    if (rank == roster.self() || roster.lost(rank) || !sets_.accused(rank)) continue;
    const std::vector<Rank> accusers = sets_.accusers(rank);
    const Patience::Health health = parts_.patience.health(now, rank, owing[rank]);
    const bool absent =
        !accusers.empty() && roster.linked(rank) && !roster.begun(rank) && now >= sets_.accused_at(rank) + kTimeToBegin;
    const bool unwell = parts_.seals.is_proven(rank) || absent || health == Patience::Health::unwell;
    // About one that accuses this member the others know better: it may send nothing here so that both look at fault.
    const bool confirmed_here = unwell && !accusers.empty() && !sets_.accuses(rank, roster.self());
    if (!sets_.believed(rank) && !confirmed_here) continue;
    const bool blamed = !accusers.empty() && !roster.late(rank) && !sets_.accuses(rank, rank);
    // When two lose each other, only the one that said so first complains.
    const bool mutual = sets_.accuses(rank, roster.self());
    if (const auto fault = parts_.patience.about_to_complain(now, rank, owing[rank])) {
      if (!mutual) parts_.losses.saw(rank, *fault);
    } else if (blamed && !disputed() && parts_.patience.is_well(now, rank)) {
      parts_.losses.accuse(accusers.front(), rank);
    }
    confirmed.push_back({rank, accusers.empty() ? "others lost it" : fmt::format("member {} lost it", accusers[0])});
  }
  return confirmed;
}

Result<bool> Accusations::take(TimePoint now, Rank sender, const wire::LostSet& said) {
  STARLING_ASSIGN(const bool news, sets_.take(now, said));
  const bool of_itself = sender != said.rank && said.lost.test(sender) && sets_.accuses(said.rank, sender);
  if (!of_itself) return news;
  TimePoint& answered = answered_at_[sender];
  if (answered != kNever && answered >= sets_.accused_at(sender)) return news;
  answered = now;
  parts_.patience.wake_by(now + kTimeAfterAnswer);
  return news;
}

void Accusations::on_overslept(Duration slept) {
  sets_.on_overslept(slept);
  for (TimePoint& at : answered_at_) at += at == kNever ? Duration::zero() : slept;
}

void Accusations::note(TimePoint now) {
  sets_.note_accused(now);
  for (Rank rank = 0; rank < parts_.roster.size(); ++rank) {
    sets_.set_undecided(rank, begins_by(rank).value_or(TimePoint::min()));
  }
}

std::optional<TimePoint> Accusations::begins_by(Rank accused) const {
  const Roster& roster = parts_.roster;
  const bool absent = roster.linked(accused) && !roster.begun(accused) && !parts_.begins.has(accused);
  if (!absent || sets_.accused_at(accused) == kNever) return std::nullopt;
  const TimePoint last = sets_.accused_at(accused) + kTimeToBegin;
  // The others may have been ready later than this member, and still wait for it.
  return roster.lost(accused) ? last : std::min(parts_.patience.begin_deadline(), last);
}

TimePoint Accusations::ends(Rank accused) const {
  const TimePoint began = sets_.accused_at(accused);
  const bool linked = accused == parts_.roster.self() || parts_.roster.linked(accused);
  // Those who cannot tell wait for the judgement of those who can.
  TimePoint ends = began + (linked ? kTime : kLongerTime);
  const TimePoint answered = answered_at_[accused];
  if (answered != kNever && answered >= began) ends = std::min(ends, answered + kTimeAfterAnswer);
  const TimePoint odds = sets_.at_odds_since(accused);
  return odds == kNever ? ends : std::max(ends, odds + kTime);
}

std::vector<LostMember> Accusations::ended(TimePoint now) {
  const Roster& roster = parts_.roster;
  for (Rank accused = 0; accused < roster.size(); ++accused) {
    if (!sets_.accused(accused) || roster.lost(accused) || sets_.accusers(accused).empty()) continue;
    const bool self = accused == roster.self();
    // Who has begun with others begins here in a moment, or never. Nobody can tell that of anybody else for a while.
    if (const auto by = begins_by(accused); by && now < *by) {
      parts_.patience.wake_by(*by);
      continue;
    }
    if (now < ends(accused)) {
      parts_.patience.wake_by(ends(accused));
    } else if (!self || sets_.at_odds_since(accused) == kNever) {
      return unconfirmed(accused);
    }
  }
  return {};
}

std::vector<LostMember> Accusations::unconfirmed(Rank accused) {
  const bool linked = parts_.roster.linked(accused);
  // Who is well passes on what is said of it, however little it has to say otherwise.
  const bool heard = parts_.patience.watch().heard_since(sets_.accused_at(accused), accused);
  if (linked && !heard) return {{accused, "others lost it, and it has not been heard since"}};
  const std::vector<Rank> accusers = sets_.accusers(accused);
  std::vector<LostMember> out;
  for (const Rank accuser : accusers) {
    if (!sets_.accuses(accused, accuser) || sets_.follows(accused, accuser)) continue;
    const Rank goes = sets_.weaker(accused, accuser);
    out.push_back({goes, fmt::format("it and member {} lost each other", goes == accused ? accuser : accused), true});
  }
  if (!out.empty()) return out;
  if (sets_.at_odds_since(accused) != kNever) {
    return {{accused, fmt::format("it lost others that are well, and member {} lost it", accusers.front()), true}};
  }
  for (const Rank accuser : accusers) {
    if (linked && !disputed()) parts_.losses.accuse(accuser, accused);
    out.push_back({accuser, fmt::format("it lost member {}, which is well", accused), true});
  }
  return out;
}

std::string Accusations::out(TimePoint now) const {
  const Rank self = parts_.roster.self();
  const std::vector<Rank> accusers = sets_.accusers(self);
  if (accusers.empty()) return {};
  const TimePoint odds = sets_.at_odds_since(self);
  if (!sets_.believed(self) && (odds == kNever || now < odds + kTime)) return {};
  return fmt::format("member {} says so", accusers.front());
}

}  // namespace starling::averaging
