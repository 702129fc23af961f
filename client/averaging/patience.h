// How long this member waits for the others, and which of them it then complains about. Watch has the limits that come
// from each member's rhythm. Patience adds the limits that do not: the time for begins, broken links about which the
// other end should complain first, time for which this process itself stood still, and doubt about oneself when most of
// the others are silent. It also judges members that others have lost.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "client/averaging/peer_progress.h"
#include "client/averaging/roster.h"
#include "client/averaging/watch.h"
#include "shared/wire/frames.h"

namespace starling::averaging {

class Patience {
 public:
  // A member whose deadline has passed.
  struct Due {
    Rank rank = 0;
    Watch::Deadline deadline;
  };

  // The references outlive this object.
  Patience(const AllReduceOptions& options, const Roster& roster, const PeerProgress& progress);

  // `begin_within`: the time that the others have for their begins.
  void start(TimePoint now, Duration begin_within);
  [[nodiscard]] Watch& watch() { return watch_; }
  [[nodiscard]] const Watch& watch() const { return watch_; }

  // When to look at the limits next; kNever before the start and after stop().
  [[nodiscard]] TimePoint wake_at() const { return wake_at_; }
  void wake_by(TimePoint at) { wake_at_ = std::min(wake_at_, at); }
  // This member has looked: the next time is a ping's interval from now, at the latest.
  void on_woken(TimePoint now) { wake_at_ = now + options_.ping_interval; }
  void stop() { wake_at_ = kNever; }
  // Timers that fire much too late mean that this process was stopped or starved. Frames that the others sent meanwhile
  // may still wait in the sockets, so all limits move by the time returned.
  Duration notice_oversleeping(TimePoint now);

  // A link's lower-ranked end complains first; its other end waits before it does.
  [[nodiscard]] bool yields_to(Rank rank) const { return yield(rank) > Duration::zero(); }
  // The link to the member is gone: this member will complain about it, after yielding. The first reason counts.
  void suspect(TimePoint now, LostMember member, wire::Fault fault);

  // `owes_results`: the member owns segments that are not held here.
  [[nodiscard]] Watch::Deadline deadline(TimePoint now, Rank rank, bool owes_results) const;
  // The members to complain about now, out of those that are due. When most of the others are quiet too, this member
  // may be the one that hears nobody. It then waits, within a limit, until their deadlines have passed too or they are
  // heard again. So it complains about all at once, and nobody who hears them believes that. (Local health as in
  // Lifeguard, 1707.00788, section 4.)
  [[nodiscard]] std::vector<Due> casualties(TimePoint now, const std::vector<Due>& due) const;
  // The member is about to be lost on the word of others: its fault, if this member was about to say the same.
  [[nodiscard]] std::optional<wire::Fault> about_to_complain(TimePoint now, Rank rank, bool owes_results) const;
  // The member has begun, and is heard or need not be.
  [[nodiscard]] bool is_well(TimePoint now, Rank rank) const;
  // How a member does that another one has lost, as far as this member can tell: it is unwell once half of the patience
  // with it is used up, and for a while when it began in the last moments.
  enum class Health : std::uint8_t { well, unwell, unknown };
  [[nodiscard]] Health health(TimePoint now, Rank rank, bool owes_results) const;
  // When the time for begins is over here.
  [[nodiscard]] TimePoint begin_deadline() const { return begin_deadline_; }
  // Members that one account alone has lost are watched for this long. Then they are well, or lost after all.
  static constexpr Duration kAccusationTime = std::chrono::seconds(1);
  // Whether another member's complaint is that of one that hears nobody. It is if about half of all members or more are
  // complained about, this member among them, and this member hears most of the others well.
  [[nodiscard]] bool is_false_accusation(TimePoint now, const wire::RankSet& accused) const;

 private:
  struct Suspicion {
    TimePoint at = kNever;  // complain at this time
    std::string reason;
    wire::Fault fault = wire::Fault::gone;
  };
  [[nodiscard]] Duration yield(Rank rank) const;

  AllReduceOptions options_;
  const Roster& roster_;
  const PeerProgress& progress_;
  Watch watch_;
  std::vector<Suspicion> suspicions_;  // by rank
  Duration begin_within_{};
  TimePoint begin_deadline_ = kNever;
  TimePoint wake_at_ = kNever;
};

}  // namespace starling::averaging
