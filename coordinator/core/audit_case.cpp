#include "coordinator/core/audit_case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

namespace starling::core {
namespace {

constexpr std::size_t kAgreeingMin = 2;  // to find the work right

double norm_of(std::span<const double> numbers) {
  double square = 0;
  for (const double number : numbers) square += number * number;
  return std::sqrt(square);
}

double distance_of(std::span<const double> a, std::span<const double> b) {
  double square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) square += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(square);
}

// Zero for two vectors of zeros.
double relative(double distance, double norm) { return distance == 0 ? 0 : distance / norm; }

void add_once(std::vector<AccountId>& accounts, AccountId account) {
  if (std::find(accounts.begin(), accounts.end(), account) == accounts.end()) accounts.push_back(account);
}

}  // namespace

AuditCase::AuditCase(AuditedClaim claim, std::vector<ToldPart> parts,
                     std::vector<std::vector<wire::SampleRange>> slices, const AuditBar& bar)
    : claim_(std::move(claim)), parts_(std::move(parts)), bar_(bar) {
  for (std::vector<wire::SampleRange>& samples : slices) slices_.push_back({std::move(samples), {}});
}

std::vector<wire::SketchedPart> AuditCase::parts() const {
  std::vector<wire::SketchedPart> parts;
  for (const ToldPart& told : parts_) parts.push_back(told.part);
  return parts;
}

std::vector<const AuditCase::Answer*> AuditCase::agreeing(const Slice& slice) const {
  std::vector<const Answer*> largest;
  for (const Answer& one : slice.answers) {
    if (one.sketches.empty()) continue;
    std::vector<const Answer*> with_it = {&one};
    for (const Answer& other : slice.answers) {
      if (&other == &one || other.sketches.empty()) continue;
      const double norm = std::max(norm_of(one.sketches), norm_of(other.sketches));
      if (relative(distance_of(one.sketches, other.sketches), norm) <= bar_.tolerance) with_it.push_back(&other);
    }
    if (one.auditor.decides) return with_it;
    if (with_it.size() > largest.size()) largest = std::move(with_it);
  }
  return largest;
}

bool AuditCase::is_decided(const std::vector<const Answer*>& agreeing) {
  return !agreeing.empty() && agreeing.front()->auditor.decides;
}

std::optional<std::vector<double>> AuditCase::recomputed(std::size_t needed) const {
  const double scale = static_cast<double>(claim_.weight) / static_cast<double>(claim_.computed);
  std::vector<double> sum(parts_.size() * wire::kSketchFloats, 0.0);
  for (const Slice& slice : slices_) {
    const std::vector<const Answer*> answers = agreeing(slice);
    if (answers.size() < needed && !is_decided(answers)) return std::nullopt;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += answers.front()->sketches[i] * scale;
  }
  return sum;
}

AuditCase::Comparison AuditCase::compare(const std::vector<double>& recomputed) const {
  Comparison comparison;
  std::vector<double> told;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const auto* const own = recomputed.data() + i * wire::kSketchFloats;
    const double* const sketch = parts_[i].told ? parts_[i].sketch.data() : own;
    told.insert(told.end(), sketch, sketch + wire::kSketchFloats);
  }
  const double norm = norm_of(recomputed);
  const double share = bound() / std::sqrt(static_cast<double>(std::max<std::size_t>(1, parts_.size())));
  comparison.distance = relative(distance_of(told, recomputed), std::max(norm, norm_of(told)));
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::size_t at = i * wire::kSketchFloats;
    const double apart = distance_of(std::span(told).subspan(at, wire::kSketchFloats),
                                     std::span(recomputed).subspan(at, wire::kSketchFloats));
    if (relative(apart, norm) <= share) continue;  // by the right values' norm: an owner may tell sketches of any size
    add_once(comparison.against, parts_[i].told_by);
    comparison.decides = comparison.decides || parts_[i].decides;
  }
  return comparison;
}

bool AuditCase::is_contested() const {
  return std::ranges::any_of(slices_, [&](const Slice& slice) {
    const auto given = std::ranges::count_if(slice.answers, [](const Answer& one) { return !one.sketches.empty(); });
    return static_cast<std::size_t>(given) > agreeing(slice).size();
  });
}

// More have to agree once two have found that the work is not right, or somebody something else than others.
bool AuditCase::is_doubtful() const {
  if (is_contested() || bar_.on_auditors) return is_contested();
  const auto by_two = recomputed(kAgreeingMin);
  return by_two && compare(*by_two).distance > bound();
}

std::vector<std::size_t> AuditCase::wanted() const {
  std::vector<std::size_t> wanted;
  const std::size_t needed = is_doubtful() ? bar_.wanted : bar_.first;
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    const std::vector<Answer>& answers = slices_[i].answers;
    const auto open = static_cast<std::size_t>(std::ranges::count_if(answers, &Answer::open));
    const std::vector<const Answer*> found = agreeing(slices_[i]);
    const bool asks_one_that_decides =
        std::ranges::any_of(answers, [](const Answer& one) { return one.open && one.auditor.decides; });
    if (asks_one_that_decides || is_decided(found)) continue;
    const std::size_t have = found.size() + open;
    if (have < needed) wanted.insert(wanted.end(), needed - have, i);
  }
  return wanted;
}

bool AuditCase::may_ask(std::size_t slice, const Auditor& auditor) const {
  if (auditor.account == claim_.account) return false;
  const std::vector<Answer>& answers = slices_[slice].answers;
  return std::none_of(answers.begin(), answers.end(),
                      [&](const Answer& answer) { return answer.auditor.account == auditor.account; });
}

void AuditCase::ask(std::size_t slice, const Auditor& auditor, std::int64_t number) {
  slices_[slice].answers.push_back({auditor, number});
}

bool AuditCase::is_open(std::int64_t number) const {
  return std::any_of(slices_.begin(), slices_.end(), [&](const Slice& slice) {
    return std::any_of(slice.answers.begin(), slice.answers.end(),
                       [&](const Answer& answer) { return answer.number == number && answer.open; });
  });
}

void AuditCase::on_answer(std::int64_t number, const std::vector<float>& sketches) {
  for (Slice& slice : slices_) {
    for (Answer& answer : slice.answers) {
      if (answer.number != number || !answer.open) continue;
      answer.open = false;
      if (sketches.size() == parts_.size() * wire::kSketchFloats)
        answer.sketches.assign(sketches.begin(), sketches.end());
    }
  }
}

void AuditCase::on_own_word(const swarm::Sketch& sketch) {
  for (ToldPart& part : parts_) {
    if (!std::exchange(part.told, true)) part.sketch = sketch;
  }
}

std::optional<AuditCase::Finding> AuditCase::finding(bool nobody_left) const {
  const bool told = std::ranges::all_of(parts_, [](const ToldPart& part) { return part.told; });
  if (!told && waits_for_own_word_ && !bar_.on_auditors) return std::nullopt;
  Finding finding;
  const auto by_two = recomputed(kAgreeingMin);
  auto by_all = recomputed(is_doubtful() ? bar_.wanted : bar_.first);
  if (!by_all && nobody_left) by_all = is_doubtful() ? recomputed(bar_.agreeing) : by_two;
  if (!by_all && by_two && !bar_.on_auditors) finding.distance = compare(*by_two).distance;  // too few have found it
  if (!by_all) return nobody_left ? std::optional(finding) : std::nullopt;
  const Comparison comparison = bar_.on_auditors ? Comparison{} : compare(*by_all);
  finding.distance = comparison.distance;
  finding.agreeing = std::numeric_limits<std::size_t>::max();
  for (const Slice& slice : slices_) {
    const std::vector<const Answer*> answers = agreeing(slice);
    if (!is_decided(answers)) finding.agreeing = std::min(finding.agreeing, answers.size());
    for (std::size_t i = 1; i < answers.size(); ++i) {
      const std::vector<double>& one = answers.front()->sketches;
      const double distance = relative(distance_of(one, answers[i]->sketches), norm_of(one));
      finding.pairs.push_back({answers.front()->auditor.peer, answers[i]->auditor.peer, distance});
    }
    for (const Answer& answer : slice.answers) {
      if (answer.sketches.empty()) continue;
      const bool agrees = std::find(answers.begin(), answers.end(), &answer) != answers.end();
      (agrees ? finding.agreed : finding.contradicted).push_back(answer.auditor);
    }
  }
  if (comparison.distance <= bound()) {
    finding.verdict = Verdict::clean;
    return finding;
  }
  std::vector<AccountId> others = comparison.against;
  std::erase(others, claim_.account);
  const bool by_own_word = others.size() < comparison.against.size();
  const bool is_sure = by_own_word || comparison.decides || others.size() >= bar_.owners;
  finding.verdict = is_sure ? Verdict::missed : Verdict::disputed;
  if (!is_sure) finding.disputes = std::move(others);
  return finding;
}

}  // namespace starling::core
