#include "client/policy/turns.h"

#include <algorithm>
#include <limits>

#include "shared/base/verify.h"

namespace starling::policy {
namespace {

// Training time relative to the share; the claim with the smallest value is next.
double served(const Claim& claim) {
  return claim.share > 0 ? claim.trained_s / claim.share : std::numeric_limits<double>::infinity();
}

}  // namespace

std::size_t whose_turn(std::span<const Claim> claims, std::size_t current, const Turn& turn,
                       const TurnOptions& options) {
  VERIFY(current < claims.size());
  const bool idle = turn.untrained >= options.patience;
  if (!idle && turn.lasted < options.turn) return current;
  std::size_t best = current;
  bool best_is_idle = idle;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (i == current || claims[i].resting) continue;
    if (!best_is_idle && served(claims[i]) >= served(claims[best])) continue;
    if (best_is_idle || served(claims[i]) < served(claims[best])) best = i;
    best_is_idle = false;
  }
  return best;
}

double trained_at_start(std::span<const Claim> others) {
  double least = std::numeric_limits<double>::infinity();
  for (const Claim& claim : others) least = std::min(least, served(claim));
  return least < std::numeric_limits<double>::infinity() ? least : 0;
}

}  // namespace starling::policy
