#include "coordinator/core/audit_standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace starling::core {
namespace {

constexpr double kPendingFactor = 3;
constexpr RoundIndex kCheckRounds = 32;  // a check takes seconds, and rounds may, too
constexpr int kMissesUntilOut = 2;
constexpr int kMissesUntilBan = 3;
constexpr RoundIndex kOutRounds =
    64;  // after a third miss that too few have found for a ban, doubled by each further one
constexpr int kOutDoubledMax = 6;
// Four checks that were right make up for one round that was not told, and five such rounds are too many.
constexpr int kUntoldStep = 4;
constexpr int kUntoldMax = 5 * kUntoldStep;

}  // namespace

RoundIndex rounds_pending(double audit_rate) {
  return audit_rate > 0 ? kCheckRounds + static_cast<RoundIndex>(std::ceil(kPendingFactor / audit_rate)) : 0;
}

RoundIndex final_below(double audit_rate, RoundIndex round) {
  return audit_rate > 0 ? std::max<RoundIndex>(0, round + 1 - rounds_pending(audit_rate)) : 0;
}

double AuditStanding::probability(double rate, RoundIndex round) const {
  if (is_watched(round)) return 1;
  if (clean < kCleanEnough) return std::max(rate, kNewcomerAuditRate);
  return std::max(rate, 1.0 / clean);
}

bool AuditStanding::is_watched(RoundIndex round) const {
  return round < watched_until || (misses >= kMissesUntilOut && clean < kCleanEnough);
}

void AuditStanding::on_clean() {
  ++clean;
  ++checks;
  untold = std::max(0, untold - 1);
}

bool AuditStanding::on_untold(RoundIndex round) {
  on_suspicion(round);
  untold += kUntoldStep;
  if (untold < kUntoldMax) return false;
  untold = 0;
  out_until = std::max(out_until, round + 1 + kOutRounds);
  return true;
}

void AuditStanding::on_suspicion(RoundIndex round, RoundIndex rounds) {
  watched_until = std::max(watched_until, round + 1 + rounds);
}

AuditStanding::Consequence AuditStanding::on_miss(RoundIndex round, RoundIndex newest, bool may_ban) {
  clean = 0;
  if (misses > 0 && round <= told_in) return Consequence::none_further;
  ++misses;
  told_in = std::max(round, newest) + 1;
  watched_until = std::max(watched_until, round + 1 + kWatchedRounds);
  if (misses >= kMissesUntilBan && may_ban) return Consequence::banned;
  awaits_self_test = misses >= kMissesUntilOut;
  if (misses >= kMissesUntilBan) {
    out_until = round + 1 + (kOutRounds << std::min(misses - kMissesUntilBan, kOutDoubledMax));
  }
  return awaits_self_test ? Consequence::out_until_self_test : Consequence::told;
}

std::string AuditStanding::advice(RoundIndex round) const {
  if (is_out(round) && misses == 0) {
    return fmt::format(
        "this computer does not tell what its contributions are made of, so that nobody can check its work: it has no "
        "part in rounds before round {}, and its credit that was not final is taken back. Its program may be damaged: "
        "install it again",
        out_until);
  }
  if (is_out(round)) {
    const std::string before = round < out_until ? fmt::format(" before round {}", out_until) : std::string();
    const std::string until = awaits_self_test ? " until 'starling doctor --self-test' finds nothing wrong" : "";
    return fmt::format(
        "others computed something else from the same samples than this computer, {} times: it has no part in "
        "rounds{}{}{}. Memory or a card that is overclocked, too hot or broken is the usual cause",
        misses, before, before.empty() || until.empty() ? "" : ", nor", until);
  }
  if (misses == 0 || round >= watched_until) return {};
  return "others computed something else from the same samples than this computer: its credit that was not final is "
         "taken back. Memory or a card that is overclocked, too hot or broken is the usual cause; 'starling doctor "
         "--self-test' looks for that";
}

}  // namespace starling::core
