// A member's part in audits (shared/protocol/audit.h): the state that it keeps for them, the samples that it recomputes
// for others, piece by piece, when its trainer has nothing else to do, and its answers until the coordinator has them.
// Pure.
#pragma once

#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shared/base/clock.h"
#include "shared/base/hash.h"
#include "shared/base/ids.h"
#include "shared/base/result.h"
#include "shared/protocol/audit.h"

namespace starling::session {

class Audits {
 public:
  // Takes what a reply says is due.
  void on_reply(TimePoint now, const wire::AuditsDue& due);
  // True if the state with which this round began is wanted, and not kept yet.
  [[nodiscard]] bool wants(RoundIndex round) const { return wanted_.contains(round) && !kept_.contains(round); }
  void on_kept(RoundIndex round) { kept_.insert(round); }
  // Returns the rounds whose states are kept and not wanted any more; they count as forgotten then.
  std::vector<RoundIndex> forget_unwanted();
  // Refuses orders of rounds that are over, whose state was not kept: the coordinator asks another member then.
  // `round`: the one that the replica is in.
  void refuse_unkept(RoundIndex round);

  // The next samples to recompute, `count` at most, and the parts to sketch. Both are good until the next call. Nothing
  // if no order is left whose state is kept. on_piece() has to follow.
  struct Piece {
    RoundIndex round = 0;  // the state that it began with is the one to compute at
    Digest state;          // this one
    wire::SampleRange samples;
    const std::vector<wire::SketchedPart>& parts;
  };
  std::optional<Piece> begin_piece(TimePoint now, SampleCount count);
  // The sketches of the piece, kSketchFloats numbers for each part; or why they cannot be had. A piece that was ended
  // in the middle (unavailable) is begun again later; if no pause explains that (`paused`), a few times only.
  void on_piece(TimePoint now, const Result<std::vector<double>>& sketches, bool paused);
  // True if something is left to recompute that has waited for idle moments for too long: from then on it has half of
  // the trainer's time.
  [[nodiscard]] bool is_overdue(TimePoint now) const;

  // This member's own sketches, when they were asked for.
  [[nodiscard]] const std::optional<wire::SketchRequest>& asked_for() const { return request_; }
  [[nodiscard]] bool has_own() const { return own_.has_value(); }
  void on_own(wire::OwnSketches own) { own_ = std::move(own); }

  // For the next call, whenever it is due: nothing waits for an answer.
  [[nodiscard]] wire::AuditAnswers tell() const;
  // How others find this member's work; nothing before the first word of it.
  [[nodiscard]] const std::optional<wire::CheckedWork>& checked() const { return checked_; }

 private:
  struct Work {
    wire::AuditOrder order;
    TimePoint since{};
    std::size_t range = 0;     // the next sample is in this one of the order's ranges
    SampleCount done = 0;      // samples done in that range
    SampleCount piece = 0;     // samples under way
    std::vector<double> sums;  // sketches of what is done
    int failures = 0;
    bool is_over = false;  // the coordinator wants it no more; its piece is under way still
  };
  [[nodiscard]] bool is_possible(const Work& work) const { return kept_.contains(work.order.round); }

  std::set<RoundIndex> wanted_;
  std::set<RoundIndex> kept_;
  std::deque<Work> work_;  // the first one is under way
  std::vector<wire::AuditResult> results_;
  struct Pace {
    TimePoint began{};
    TimePoint ended{};
    [[nodiscard]] Duration took() const { return ended - began; }
  };
  Pace pace_;               // the last piece's
  TimePoint not_before_{};  // after one that failed
  std::optional<wire::SketchRequest> request_;
  std::optional<wire::OwnSketches> own_;
  std::optional<wire::CheckedWork> checked_;
};

}  // namespace starling::session
