// How credit is counted, in words and with the figures of the run that is served.
#pragma once

#include <optional>
#include <string>

#include "coordinator/web/run_page.h"

namespace starling::web {

struct CreditPageData {
  std::string project;
  std::optional<ShownRun> run;
  db::Totals totals;  // of the whole project
  std::int64_t volunteers = 0;
  WallTime now;
};

std::string render_credit_page(const CreditPageData& data);
// What somebody's computers claimed and nobody was credited with, as a paragraph; empty when there is nothing.
std::string unconfirmed_claims(const db::ClaimSums& sums);

}  // namespace starling::web
