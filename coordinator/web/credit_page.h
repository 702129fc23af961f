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
};

std::string render_credit_page(const CreditPageData& data);
// A paragraph about work that somebody's computers claimed and no group confirmed; empty if there is none.
std::string unconfirmed_claims(const db::ClaimSums& sums);

}  // namespace starling::web
