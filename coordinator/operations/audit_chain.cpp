#include "coordinator/operations/audit_chain.h"

#include <fmt/core.h>

#include <string_view>

#include "shared/base/calendar.h"
#include "shared/crypto/digest.h"

namespace starling::operations {
namespace {

// Each text goes in after its length, so that no two lines have the same bytes.
void add(crypto::Sha256& sum, std::string_view text) {
  sum.update(fmt::format("{}:", text.size()));
  sum.update(text);
}

std::string problem_of(const db::AuditLine& line, std::string_view what) {
  return fmt::format("line {} ({}, {}: {} {}) {}", line.id, utc(line.at), line.who, line.action, line.subject, what);
}

// Walks over the lines, oldest first.
class Walk {
 public:
  explicit Walk(const std::optional<Digest>& noted) : noted_(noted) {}

  // Returns false when nothing after this line is worth a look.
  bool step(const db::AuditLine& line) {
    ++check_.lines;
    if (!line.digest) {
      ++check_.unchained;
      if (check_.unchained < check_.lines) check_.problem = problem_of(line, "is not chained to the line before it");
      return check_.problem.empty();
    }
    if (check_.unchained > 0) {
      check_.problem = problem_of(first_, "is not chained to the line before it");
    } else if (*line.digest != chain(check_.last, line)) {
      check_.problem = problem_of(line, "does not follow from the line before it: one of them was changed or removed");
    }
    check_.last = *line.digest;
    seen_ = seen_ || line.digest == noted_;
    return check_.problem.empty();
  }
  void remember_first(const db::AuditLine& line) { first_ = line; }

  AuditCheck finish() {
    if (check_.problem.empty() && noted_ && !seen_) {
      check_.problem =
          fmt::format("no line has the digest {}: lines were removed, or all were chained again", noted_->hex());
    }
    return check_;
  }

 private:
  const std::optional<Digest> noted_;
  AuditCheck check_;
  db::AuditLine first_;
  bool seen_ = false;
};

}  // namespace

Digest chain(const Digest& before, const db::AuditLine& line) {
  crypto::Sha256 sum;
  sum.update(std::span<const std::uint8_t>(before.bytes));
  add(sum, fmt::format("{}", line.at.unix_ms));
  for (const std::string* text : {&line.who, &line.action, &line.subject, &line.note}) add(sum, *text);
  return sum.finish();
}

Result<AuditCheck> check_audit(const db::AuditStore& audit, const std::optional<Digest>& noted) {
  Walk walk(noted);
  std::int64_t after = 0;
  for (;;) {
    STARLING_ASSIGN(const auto lines, audit.list_on(db::kPageRowsMax, after));
    if (lines.empty()) return walk.finish();
    if (after == 0) walk.remember_first(lines.front());
    for (const db::AuditLine& line : lines) {
      if (!walk.step(line)) return walk.finish();
    }
    after = lines.back().id;
  }
}

}  // namespace starling::operations
