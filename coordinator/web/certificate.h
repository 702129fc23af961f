// A certificate of a volunteer's contribution, and the code that proves it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/stores/credit_stores.h"
#include "shared/base/clock.h"

namespace starling::web {

// The content of a code.
struct Certified {
  AccountId account_id = 0;
  std::int64_t day = 0;  // days since 1970-01-01 UTC
  db::Totals total;      // final credit only
  friend bool operator==(const Certified&, const Certified&) = default;
};

// The figures, with a proof that the holder of `secret` wrote them; nothing needs to be stored for it.
std::string certificate_code(const Certified& certified, std::string_view secret);
// Empty if no such code was ever given out.
std::optional<Certified> read_certificate_code(std::string_view code, std::string_view secret);

// The certified figures, and the texts around them in plain text.
struct CertificateData {
  std::string project;
  std::string name;
  Certified certified;
  std::string code;
  std::string check_at;     // the address of the page that checks codes
  bool more_waits = false;  // there is credit that is not final yet, and not certified
};
// An SVG page, in landscape, that can be printed on A4 or Letter.
std::string render_certificate(const CertificateData& data);

// The floating-point operations for this credit: 200 credits are a day at one GFLOPS.
double flop_of(const db::Totals& total);
// "1.23 × 10^15" as HTML or SVG text.
std::string power_text(double number);

}  // namespace starling::web
