// The page that explains how credit is counted, with the figures of the run that is served.
#pragma once

#include <optional>
#include <string>

#include "coordinator/web/run_page.h"

namespace starling::web {

struct CreditPageData {
  std::string project;
  std::optional<ShownRun> run;
  db::Totals totals;  // sums over the whole project
  std::int64_t volunteers = 0;
  WallTime now;
  db::Totals pending{};  // part of the totals
};

std::string render_credit_page(const CreditPageData& data);
// "; 1.2k pending", for the owner of credit and everybody who looks at it; empty if all of it is final.
std::string pending_note(const db::Totals& pending);
// A paragraph about work that somebody's computers claimed and no group confirmed; empty if there is none.
std::string unconfirmed_claims(const db::ClaimSums& sums);
// A paragraph for their owner about checks of their computers' work; empty if there were none.
std::string checked_work(const db::CheckSums& sums);

}  // namespace starling::web
