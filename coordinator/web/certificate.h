// A certificate of what a volunteer has given, and the code that proves it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/stores/credit_stores.h"
#include "shared/base/clock.h"

namespace starling::web {

// What a code says.
struct Certified {
  AccountId account_id = 0;
  std::int64_t day = 0;  // since 1970 UTC
  db::Totals total;
  friend bool operator==(const Certified&, const Certified&) = default;
};

// The figures, and a proof that the holder of `secret` has written them: nothing needs to be kept for it.
std::string certificate_code(const Certified& certified, std::string_view secret);
// Nothing when no such code was ever given out.
std::optional<Certified> read_certificate_code(std::string_view code, std::string_view secret);

struct CertificateData {
  std::string project;
  std::string name;
  Certified certified;
  std::string code;
  std::string check_at;  // the address of the page that checks codes
};
// A page of SVG, upright enough to be printed on A4 or Letter across.
std::string render_certificate(const CertificateData& data);

// Floating-point operations of so much credit: 200 credits are a day at one GFLOPS.
double flop_of(const db::Totals& total);
// "1.23 × 10^15" as HTML or SVG text.
std::string power_text(double number);

}  // namespace starling::web
