#include "coordinator/core/audit_book.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "coordinator/core/drawn_samples.h"
#include "shared/state/audit_number.h"
#include "shared/swarm/measured_members.h"
#include "shared/swarm/owner_check.h"

namespace starling::core {
namespace {

constexpr Duration kToldWithin = std::chrono::seconds(6);      // owners' reports, after the decision
constexpr Duration kOwnToldWithin = std::chrono::seconds(12);  // the member's own sketches
constexpr std::size_t kEarlyMax = 4096;                        // reports of rounds that are not decided
constexpr RoundIndex kEarlyRounds = 8;
constexpr double kCoveredMin = 0.25;      // the fraction of the vector that owners of other accounts have to tell about
constexpr SampleCount kComputedMax = 64;  // times the weight
// Accounts that have to find a miss, and owners that have to have received something else, if there are as many others:
// more than three in sixteen that lie in one voice.
constexpr std::size_t kAgreeing = 4;
constexpr std::size_t kAgreeingOnBan = 5;
constexpr std::size_t kAgreeingMin = 2;
// Auditors are checked, too: these fractions of audits have one more than it takes, or are about samples that make no
// member's whole contribution, so that nobody else could tell an auditor the answer.
constexpr double kByThree = 0.01;
constexpr double kOnAuditors = 0.01;
constexpr std::size_t kByThreeAuditors = 3;
constexpr std::size_t kSpareAuditors = 1;         // for one that cannot, or is gone
constexpr std::size_t kSpareAuditorsInDoubt = 4;  // for those that confirm whatever it is, too
constexpr std::size_t kSlicesMax = 16;
constexpr RoundIndex kAuditsNothingFor = 256;

swarm::RandomStream draws_of(const AuditedRound& round) {
  const Hash128 seed = state::audit_seed(round.number, round.result_digest);
  std::uint64_t word = 0;
  std::memcpy(&word, seed.bytes.data(), sizeof word);
  return swarm::RandomStream(mix64(word));
}

std::optional<std::size_t> rank_in(const std::unordered_map<PeerId, std::size_t>& ranks, const PeerId& peer) {
  const auto rank = ranks.find(peer);
  return rank != ranks.end() ? std::optional(rank->second) : std::nullopt;
}

swarm::Sketch sketch_at(const std::vector<float>& floats, std::size_t place) {
  swarm::Sketch sketch{};
  std::copy_n(floats.begin() + static_cast<std::ptrdiff_t>(place * wire::kSketchFloats), wire::kSketchFloats,
              sketch.begin());
  return sketch;
}

// The parts of the member's contribution, as others received them, and the whole by its own word: a computer that
// computes wrong tells what it has contributed, a liar may tell something else.
std::vector<ToldPart> told_parts(const AuditedRound& round, const std::map<std::size_t, wire::MeasuredParts>& measured,
                                 const wire::OwnSketches* own, std::size_t rank) {
  std::vector<ToldPart> parts;
  const Hash128 seed = state::audit_seed(round.number, round.result_digest);
  const std::vector<std::size_t> owners = swarm::sketched_parts(seed, round.plan);
  for (const auto& [owner, told] : measured) {
    if (!std::ranges::binary_search(owners, owner)) continue;
    const auto place = std::find(told.members.begin(), told.members.end(), static_cast<std::int64_t>(rank));
    if (place == told.members.end() || owner == rank) continue;
    const RoundMember& by = round.members[owner];
    parts.push_back({{by.part_first, by.part_floats, told.seed},
                     by.account,
                     by.decides,
                     sketch_at(told.sketches, static_cast<std::size_t>(place - told.members.begin()))});
  }
  const bool told = own != nullptr && own->whole.size() == wire::kSketchFloats;
  parts.push_back({{0, round.plan.vector_floats, seed},
                   round.members[rank].account,
                   false,
                   told ? sketch_at(own->whole, 0) : swarm::Sketch{},
                   told});
  return parts;
}

// The fraction of the vector, or of the parts of it that are looked at, that owners of other accounts have told about.
double covered(const AuditedRound& round, const std::vector<ToldPart>& parts, AccountId account) {
  std::int64_t all = 0;
  std::int64_t told = 0;
  const Hash128 seed = state::audit_seed(round.number, round.result_digest);
  for (const std::size_t owner : swarm::sketched_parts(seed, round.plan)) all += round.members[owner].part_floats;
  for (const ToldPart& part : parts) told += part.told_by != account ? part.part.floats : 0;
  return all > 0 ? static_cast<double>(told) / static_cast<double>(all) : 0;
}

// A computer has as much to recompute as it computes itself in a round.
std::size_t slices_for(const AuditedRound& round, SampleCount samples, std::size_t auditors) {
  std::vector<SampleCount> usual;
  for (const RoundMember& member : round.members) {
    if (member.may_audit && member.samples > 0) usual.push_back(member.samples);
  }
  if (usual.empty()) return 1;
  std::nth_element(usual.begin(), usual.begin() + static_cast<std::ptrdiff_t>(usual.size() / 2), usual.end());
  const SampleCount each = usual[usual.size() / 2];
  const auto wanted = static_cast<std::size_t>((samples + each - 1) / each);
  const std::size_t possible = std::min(kSlicesMax, auditors > 1 ? (auditors - 1) / 2 : 0);
  return std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(1, possible));
}

}  // namespace

AuditBook::AuditBook(const AuditRules& rules, const Digest& secret, std::map<PeerId, AuditStanding> standings,
                     std::map<AccountId, int> misses)
    : rules_(rules),
      secret_(secret),
      classes_(rules.lowest_tolerance),
      standings_(std::move(standings)),
      misses_(std::move(misses)) {}

Digest AuditBook::number(const GroupId& group) const { return state::audit_number(secret_, group); }

Digest AuditBook::commitment(const GroupId& group) const { return state::audit_commitment(number(group)); }

void AuditBook::on_report(const PeerId& reporter, const wire::RoundReport& report) {
  if (!active() || (!report.measured && !report.own)) return;
  Told told{report.round, reporter, report.group, report.own, report.measured};
  for (Round& round : rounds_) {
    if (take(round, told)) return;
  }
  early_.push_back(std::move(told));
  if (early_.size() > kEarlyMax) early_.pop_front();
}

// Takes what a member of the round has told about it, once. False if it is about another one.
bool AuditBook::take(Round& round, Told& told) {
  const auto rank = told.group == round.facts.group ? rank_in(round.ranks, told.reporter) : std::nullopt;
  if (!rank) return false;
  if (told.own) round.terms.try_emplace(*rank, *told.own);
  if (!told.measured) return true;
  const wire::MeasuredParts& parts = *told.measured;
  const bool sound =
      parts.sketches.size() == parts.members.size() * wire::kSketchFloats && round.facts.members[*rank].part_floats > 0;
  if (sound) round.measured.try_emplace(*rank, std::move(*told.measured));
  return true;
}

void AuditBook::on_decided(TimePoint now, AuditedRound facts) {
  if (!active()) return;
  Round round;
  round.facts = std::move(facts);
  round.decided_at = now;
  for (std::size_t rank = 0; rank < round.facts.members.size(); ++rank) {
    round.ranks.emplace(round.facts.members[rank].peer, rank);
  }
  std::erase_if(early_, [&](Told& told) { return take(round, told) || told.round + kEarlyRounds < round.facts.round; });
  draw(round);
  round.owners_checked = !round.facts.checks_owners;
  rounds_.push_back(std::move(round));
}

// Everybody draws whether it is audited, and the order of those who could do it, also where nobody has to.
void AuditBook::draw(Round& round) {
  swarm::RandomStream random = draws_of(round.facts);
  struct Drawn {
    double probability = 0;
    std::size_t rank = 0;
    std::uint64_t order = 0;
    double kind = 1;
  };
  std::vector<Drawn> drawn;
  const std::vector<std::size_t> measured =
      swarm::measured_members(round.facts.result_digest, round.facts.members.size());
  for (std::size_t rank = 0; rank < round.facts.members.size(); ++rank) {
    const RoundMember& member = round.facts.members[rank];
    const double lot = random.uniform();
    const double kind = random.uniform();
    const std::uint64_t order = random.next();
    if (member.samples == 0 || count_of(member.drawn) < member.samples) continue;
    if (!std::ranges::binary_search(measured, rank)) continue;
    const auto standing = standings_.find(member.peer);
    const AuditStanding known = standing != standings_.end() ? standing->second : AuditStanding{};
    // A computer that an account brings after misses of another one is no better than that.
    const bool watched = member.watched || (known.clean < kCleanEnough && misses_.contains(member.account));
    const double probability = watched ? 1 : known.probability(rules_.rate, round.facts.round);
    if (lot < probability) drawn.push_back({probability, rank, order, kind});
  }
  // There may be too few auditors for all: those come first whose work is in doubt.
  std::ranges::stable_sort(drawn, [](const Drawn& a, const Drawn& b) { return a.probability > b.probability; });
  Keepers keepers;
  for (const auto& [peer, states] : keepers_of_states()) {
    if (states >= wire::kAuditStatesMax) keepers.busy.insert(peer);
  }
  for (const Drawn& one : drawn) {
    swarm::RandomStream order(one.order);
    std::vector<std::size_t> auditors = auditors_for(round, one.rank, order, keepers);
    const bool is_decided = !auditors.empty() && round.facts.members[auditors.front()].decides;
    if (auditors.size() < kAgreeingMin && !is_decided) continue;
    for (const std::size_t auditor : auditors) keepers.here.insert(round.facts.members[auditor].peer);
    Open open{one.rank, one.kind < kByThree};
    const bool on_auditors = !open.by_three && one.kind < kByThree + kOnAuditors && one.probability < 1;
    if (on_auditors) open.on_auditors = (one.kind - kByThree) / kOnAuditors;
    open.reserve = std::move(auditors);
    round.open.push_back(std::move(open));
  }
}

// Those that keep the round's state already come first, and members of other networks, each of another account. Too few
// for a verdict would only keep states from other audits.
std::vector<std::size_t> AuditBook::auditors_for(const Round& round, std::size_t rank, swarm::RandomStream& random,
                                                 const Keepers& keepers) const {
  const std::vector<RoundMember>& members = round.facts.members;
  std::vector<std::size_t> able;
  std::set<AccountId> all;
  for (std::size_t other = 0; other < members.size(); ++other) {
    const RoundMember& member = members[other];
    const auto until = audits_nothing_until_.find(member.peer);
    const bool trusted = until == audits_nothing_until_.end() || round.facts.round >= until->second;
    const bool free = trusted && !keeps_out(member.peer, round.facts.round);
    if (!member.may_audit || member.account == members[rank].account || !free) continue;
    all.insert(member.account);
    if (keepers.here.contains(member.peer) || !keepers.busy.contains(member.peer)) able.push_back(other);
  }
  random.shuffle(std::span(able));
  std::ranges::stable_partition(able, [&](std::size_t one) { return keepers.here.contains(members[one].peer); });
  std::vector<std::size_t> chosen;
  std::set<AccountId> accounts;
  std::set<std::string> networks = {members[rank].network};
  for (const bool elsewhere : {true, false}) {
    for (const std::size_t other : able) {
      if (accounts.contains(members[other].account)) continue;
      if (elsewhere && !networks.insert(members[other].network).second) continue;
      accounts.insert(members[other].account);
      chosen.push_back(other);
    }
  }
  const std::size_t slices = slices_for(round.facts, members[rank].samples, chosen.size());
  const AuditBar bar = bar_for(round.facts, rank);
  const bool doubt = is_in_doubt(round, rank);
  const auto decides = [&](std::size_t one) { return members[one].decides; };
  if (doubt) std::ranges::stable_partition(chosen, decides);
  const std::size_t least = doubt ? bar.agreeing + kAgreeingMin : kAgreeingMin;
  const bool is_decided = doubt && !chosen.empty() && decides(chosen.front());
  if (chosen.size() < std::min(least, all.size()) && !is_decided) return {};
  const std::size_t spare = doubt ? kSpareAuditorsInDoubt : kSpareAuditors;
  chosen.resize(std::min(chosen.size(), kAgreeingMin * slices + bar.wanted - kAgreeingMin + spare));
  return chosen;
}

bool AuditBook::is_in_doubt(const Round& round, std::size_t rank) const {
  const RoundMember& member = round.facts.members[rank];
  const auto standing = standings_.find(member.peer);
  return member.watched || (standing != standings_.end() && standing->second.is_watched(round.facts.round));
}

AuditBar AuditBook::bar_for(const AuditedRound& round, std::size_t rank) const {
  std::set<AccountId> auditors;
  for (const RoundMember& member : round.members) {
    if (member.account != round.members[rank].account && member.may_audit) auditors.insert(member.account);
  }
  const auto standing = standings_.find(round.members[rank].peer);
  const bool may_end_in_ban = standing != standings_.end() && standing->second.misses > 1;
  AuditBar bar;
  bar.tolerance = classes_.tolerance(round.members[rank].arithmetic);
  bar.codec_error = round.codec_error;
  bar.agreeing = std::clamp(auditors.size(), kAgreeingMin, kAgreeing);
  bar.wanted = std::clamp(auditors.size(), kAgreeingMin, may_end_in_ban ? kAgreeingOnBan : kAgreeing);
  bar.owners = bar.agreeing;  // also where fewer own a part: those of later rounds are others
  return bar;
}

AuditBar AuditBook::bar_for(const Round& round, const Open& open) const {
  AuditBar bar = bar_for(round.facts, open.rank);
  for (const std::size_t auditor : open.reserve) {
    bar.tolerance = std::max(bar.tolerance, classes_.tolerance(round.facts.members[auditor].arithmetic));
  }
  if (open.by_three || open.on_auditors) bar.first = std::min(kByThreeAuditors, bar.agreeing);
  bar.on_auditors = open.on_auditors.has_value();
  return bar;
}

// How many states each of them keeps.
std::map<PeerId, std::size_t> AuditBook::keepers_of_states() const {
  std::map<PeerId, std::size_t> keepers;
  for (const Round& round : rounds_) {
    std::set<PeerId> here;
    for (const Open& open : round.open) {
      for (const std::size_t rank : open.reserve) here.insert(round.facts.members[rank].peer);
    }
    for (const PeerId& peer : here) ++keepers[peer];
  }
  return keepers;
}

std::vector<PeerId> AuditBook::asked() const {
  std::vector<PeerId> asked;
  for (const auto& [peer, states] : keepers_of_states()) asked.push_back(peer);
  return asked;
}

void AuditBook::on_answers(const PeerId& peer, const wire::AuditAnswers& answers) {
  if (!active()) return;
  if (answers.self_test_passed) {
    if (const auto standing = standings_.find(peer); standing != standings_.end())
      standing->second.on_self_test_passed();
  }
  for (Round& round : rounds_) {
    const auto rank = rank_in(round.ranks, peer);
    if (!rank) continue;
    const bool own = answers.own && answers.own->round == round.facts.round;
    if (own) round.own.try_emplace(*rank, *answers.own);
    for (Open& open : round.open) {
      if (own && open.rank == *rank && open.work && answers.own->whole.size() == wire::kSketchFloats) {
        open.work->on_own_word(sketch_at(answers.own->whole, 0));
      }
      std::erase_if(open.orders, [&](const Order& order) {
        if (!(order.auditor.peer == peer)) return false;
        const auto result = std::find_if(answers.results.begin(), answers.results.end(),
                                         [&](const wire::AuditResult& one) { return one.number == order.number; });
        if (result == answers.results.end()) return false;
        open.work->on_answer(order.number, result->sketches);
        return true;
      });
    }
  }
}

void AuditBook::on_gone(const PeerId& peer) {
  for (Round& round : rounds_) {
    for (Open& open : round.open) {
      std::erase_if(open.orders, [&](const Order& order) {
        if (!(order.auditor.peer == peer)) return false;
        open.work->on_answer(order.number, {});
        return true;
      });
      std::erase_if(open.reserve, [&](std::size_t rank) { return round.facts.members[rank].peer == peer; });
    }
  }
}

wire::AuditsDue AuditBook::due(const PeerId& peer) const {
  wire::AuditsDue due;
  for (const Round& round : rounds_) {
    const auto rank = rank_in(round.ranks, peer);
    if (!rank) continue;
    if (!round.own.contains(*rank) && round.facts.round == rounds_.back().facts.round) {
      due.sketches = wire::SketchRequest{round.facts.round, round.facts.number};
    }
    for (const Open& open : round.open) {
      const bool keeps = std::find(open.reserve.begin(), open.reserve.end(), *rank) != open.reserve.end();
      if (keeps && (due.keep_states.empty() || due.keep_states.back() != round.facts.round)) {
        due.keep_states.push_back(round.facts.round);
      }
      for (const Order& order : open.orders) {
        if (!(order.auditor.peer == peer) || due.orders.size() == wire::kAuditOrdersMax) continue;
        due.orders.push_back({order.number, round.facts.round, round.facts.base_digest, open.work->slice(order.slice),
                              open.work->parts()});
      }
    }
  }
  return due;
}

bool AuditBook::is_told(const Round& round, const Open& open, TimePoint now) {
  if (!round.terms.contains(open.rank) && now < round.decided_at + round.facts.patience) return false;
  if (now >= round.decided_at + kToldWithin) return true;
  for (std::size_t rank = 0; rank < round.facts.members.size(); ++rank) {
    const bool owes = rank != open.rank && round.facts.members[rank].part_floats > 0;
    if (owes && !round.measured.contains(rank)) return false;
  }
  return true;
}

// True if each owner that tells about this round has received the member's contribution.
bool AuditBook::is_received_whole(const Round& round, std::size_t rank) {
  const auto told = std::ranges::count_if(round.measured, [&](const auto& by) { return by.first != rank; });
  return told > 0 && std::ranges::all_of(round.measured, [&](const auto& by) {
           return by.first == rank || std::ranges::count(by.second.members, static_cast<std::int64_t>(rank)) > 0;
         });
}

Result<AuditCase> AuditBook::case_of(const Round& round, const Open& open) const {
  const auto unknown = [](std::string why) { return Error{ErrorCode::failed_precondition, std::move(why)}; };
  const auto untold = [](std::string why) { return Error{ErrorCode::invalid_argument, std::move(why)}; };
  const RoundMember& member = round.facts.members[open.rank];
  const auto terms = round.terms.find(open.rank);
  if (terms == round.terms.end()) return untold("it has not reported its own terms");
  AuditedClaim claim{member.peer, member.account, terms->second.weight, terms->second.computed, {}};
  // Only what counted whole is compared: of anything else nobody knows how much it was.
  if (claim.weight < member.samples || (claim.weight > member.samples && is_received_whole(round, open.rank))) {
    return untold("its weight by its own word is not the one that its group knows");
  }
  if (claim.weight > member.samples) return unknown("a part of its contribution did not count");
  if (claim.computed < claim.weight || claim.computed > kComputedMax * claim.weight) {
    return untold("it says that it computed fewer samples than it brought, or far more");
  }
  if (count_of(member.drawn) < claim.computed) return untold("it computed more samples than it is known to have drawn");
  claim.samples = first_of(member.drawn, claim.computed);
  if (claim.samples.empty()) return unknown("none of its samples has a gradient");
  const auto own = round.own.find(open.rank);
  std::vector<ToldPart> parts =
      told_parts(round.facts, round.measured, own != round.own.end() ? &own->second : nullptr, open.rank);
  if (parts.size() > wire::kAuditPartsMax || covered(round.facts, parts, member.account) < kCoveredMin) {
    return unknown("too few owners have told what they received from it");
  }
  if (open.on_auditors) claim.samples = others_than(claim.samples, member.drawn, *open.on_auditors);
  const SampleCount count = count_of(claim.samples);
  const std::size_t slices = slices_for(round.facts, count, open.reserve.size());
  std::vector<std::vector<wire::SampleRange>> pieces;
  for (std::size_t i = 0; i < slices; ++i) {
    const auto at = [&](std::size_t edge) {
      return count * static_cast<SampleCount>(edge) / static_cast<SampleCount>(slices);
    };
    std::vector<wire::SampleRange> piece = cut(claim.samples, at(i), at(i + 1) - at(i));
    if (piece.empty()) continue;
    if (piece.size() > wire::kAuditRangesMax) return unknown("its samples are of too many leases");
    pieces.push_back(std::move(piece));
  }
  return AuditCase(std::move(claim), std::move(parts), std::move(pieces), bar_for(round, open));
}

std::size_t AuditBook::orders_at(const PeerId& peer) const {
  std::size_t orders = 0;
  for (const Round& round : rounds_) {
    for (const Open& open : round.open) {
      orders += static_cast<std::size_t>(
          std::ranges::count_if(open.orders, [&](const Order& order) { return order.auditor.peer == peer; }));
    }
  }
  return orders;
}

bool AuditBook::hand_out(TimePoint now, const Round& round, Open& open) {
  std::erase_if(open.orders, [&](const Order& order) {
    if (now < order.given + round.facts.patience) return false;
    open.work->on_answer(order.number, {});
    return true;
  });
  // Those come first that have the least to do; where there is doubt, those that decide, and then computers that
  // compute as the member does.
  const bool doubtful = open.work->is_doubtful();
  const auto cost = [&](std::size_t rank) {
    const bool other = round.facts.members[rank].arithmetic != round.facts.members[open.rank].arithmetic;
    return std::tuple(doubtful && !round.facts.members[rank].decides, orders_at(round.facts.members[rank].peer),
                      doubtful && other);
  };
  bool all = true;
  for (const std::size_t slice : open.work->wanted()) {
    std::optional<Auditor> best;
    bool waits = false;
    auto least = cost(open.rank);
    for (const std::size_t rank : open.reserve) {
      const RoundMember& member = round.facts.members[rank];
      const Auditor auditor{member.peer, member.account, member.decides};
      if (!open.work->may_ask(slice, auditor)) continue;
      if (orders_at(member.peer) >= wire::kAuditOrdersMax) {
        waits = true;
      } else if (!best || cost(rank) < least) {
        best = auditor;
        least = cost(rank);
      }
    }
    all = all && (best || waits);
    if (!best) continue;
    // Hardly one is a number of before a restart, which members may still work at.
    orders_made_ = std::max(orders_made_ + 1, to_ms(now.time_since_epoch()));
    open.work->ask(slice, *best, orders_made_);
    open.orders.push_back({orders_made_, slice, *best, now});
  }
  return all;
}

std::optional<AuditFinding> AuditBook::conclude(TimePoint now, const Round& round, Open& open) {
  const RoundMember& member = round.facts.members[open.rank];
  if (!open.work) {
    if (!is_told(round, open, now)) return std::nullopt;
    Result<AuditCase> work = case_of(round, open);
    if (!work.ok()) {
      AuditFinding none = close(round, {member.peer, member.account, member.samples, member.samples, {}}, {});
      none.why = work.error().message;
      const bool own_fault = work.error().code == ErrorCode::invalid_argument;
      none.untold_too_often = own_fault && standings_[member.peer].on_untold(round.facts.round);
      return none;
    }
    open.work = std::move(work).value();
  }
  if (now >= round.decided_at + kOwnToldWithin) open.work->give_up_own_word();
  const bool possible = hand_out(now, round, open);
  const auto finding = open.work->finding(!possible && open.orders.empty());
  if (!finding) return std::nullopt;
  note_classes(round, open.work->claim(), *finding);
  if (open.on_auditors) {
    set_aside(round, finding->contradicted);
    AuditFinding about{round.facts.round, open.work->claim(), *finding, {}};
    about.finding.verdict = AuditCase::Verdict::unchecked;
    about.why = finding->contradicted.empty() ? "its auditors were checked, and agree"
                                              : "its auditors were checked, and one is at fault";
    return about;
  }
  AuditFinding closed = close(round, open.work->claim(), *finding);
  if (closed.finding.verdict == AuditCase::Verdict::unchecked) closed.why = "too few have recomputed it";
  return closed;
}

void AuditBook::note_classes(const Round& round, const AuditedClaim& claim, const AuditCase::Finding& finding) {
  const auto arithmetic = [&](const PeerId& peer) -> const std::string& {
    return round.facts.members[round.ranks.at(peer)].arithmetic;
  };
  for (const AgreedPair& pair : finding.pairs) {
    classes_.on_agreed(arithmetic(pair.one), arithmetic(pair.other), pair.distance);
  }
  const bool right = finding.verdict == AuditCase::Verdict::clean;
  if (right || finding.verdict == AuditCase::Verdict::missed)
    classes_.on_checked(arithmetic(claim.peer), claim.peer, right);
}

void AuditBook::set_aside(const Round& round, const std::vector<Auditor>& contradicted) {
  for (const Auditor& auditor : contradicted) {
    audits_nothing_until_[auditor.peer] = round.facts.round + 1 + kAuditsNothingFor;
  }
}

AuditFinding AuditBook::close(const Round& round, const AuditedClaim& claim, AuditCase::Finding finding) {
  using Verdict = AuditCase::Verdict;
  if (finding.verdict == Verdict::disputed) settle_dispute(round, claim, finding);
  AuditFinding closed{round.facts.round, claim, std::move(finding), {}};
  const AuditBar bar = bar_for(round.facts, round.ranks.at(claim.peer));
  set_aside(round, closed.finding.contradicted);
  AuditStanding& standing = standings_[claim.peer];
  switch (closed.finding.verdict) {
    case Verdict::clean:
      standing.on_clean();
      break;
    case Verdict::missed:
      closed.consequence = standing.on_miss(round.facts.round, rounds_.back().facts.round,
                                            rules_.bans && closed.finding.agreeing >= bar.wanted);
      misses_[claim.account] += *closed.consequence != AuditStanding::Consequence::none_further ? 1 : 0;
      break;
    case Verdict::disputed:
    case Verdict::unchecked:
      if (closed.finding.distance > bar.tolerance + bar.codec_error)
        standing.on_suspicion(round.facts.round, kWatchedRounds);
      break;
  }
  return closed;
}

// The words of a few owners stand against the member's.
void AuditBook::settle_dispute(const Round& round, const AuditedClaim& claim, AuditCase::Finding& finding) {
  const std::size_t many = bar_for(round.facts, round.ranks.at(claim.peer)).owners;
  const PartOwners::Fault fault = owners_.on_dispute(round.facts.round, claim.account, finding.disputes, many);
  if (fault.of_member) finding.verdict = AuditCase::Verdict::missed;
  for (const RoundMember& one : round.facts.members) {
    const bool at_fault = std::ranges::find(fault.of_owners, one.account) != fault.of_owners.end();
    if (at_fault && one.part_floats > 0) finding.contradicted.push_back({one.peer, one.account});
  }
}

std::vector<AuditFinding> AuditBook::sweep(TimePoint now) {
  std::vector<AuditFinding> closed;
  for (Round& round : rounds_) {
    std::erase_if(round.open, [&](Open& open) {
      std::optional<AuditFinding> finding = conclude(now, round, open);
      if (finding) closed.push_back(std::move(*finding));
      return finding.has_value();
    });
  }
  while (rounds_.size() > kAuditedRoundsMax) {
    for (const Open& open : rounds_.front().open) {
      const RoundMember& member = rounds_.front().facts.members[open.rank];
      closed.push_back(close(rounds_.front(), {member.peer, member.account, member.samples, member.samples, {}}, {}));
    }
    rounds_.pop_front();
  }
  return closed;
}

bool AuditBook::is_sketched(const Round& round, TimePoint now) {
  if (now >= round.decided_at + kOwnToldWithin) return true;
  for (std::size_t rank = 0; rank < round.facts.members.size(); ++rank) {
    if (round.facts.members[rank].samples > 0 && !round.own.contains(rank)) return false;
  }
  return true;
}

std::optional<RoundIndex> AuditBook::oldest_open() const {
  std::optional<RoundIndex> oldest;
  for (const Round& round : rounds_) {
    if (!round.open.empty()) oldest = std::min(round.facts.round, oldest.value_or(round.facts.round));
  }
  return oldest;
}

RoundIndex AuditBook::final_below(RoundIndex round) const {
  return core::final_below(rules_.rate, std::min(round, oldest_open().value_or(round)));
}

std::vector<OwnersFinding> AuditBook::check_owners(TimePoint now) {
  std::vector<OwnersFinding> findings;
  for (Round& round : rounds_) {
    if (round.owners_checked || !is_sketched(round, now)) continue;
    round.owners_checked = true;
    findings.push_back(check(round));
    note_silence(round);
  }
  std::erase_if(rounds_, [](const Round& round) { return round.open.empty() && round.owners_checked; });
  return findings;
}

// An owner that is off, or a member that says so, is not known by that. The work of all of them is checked in the next
// rounds, and an owner that is off again and again owns nothing for a while.
OwnersFinding AuditBook::check(const Round& round) {
  const AuditedRound& facts = round.facts;
  std::vector<SampleCount> samples;
  swarm::SketchedRound sketched{facts.plan, state::audit_seed(facts.number, facts.result_digest), samples, {}, {}};
  for (std::size_t rank = 0; rank < facts.members.size(); ++rank) {
    samples.push_back(facts.members[rank].samples);
    const auto measured = round.measured.find(rank);
    const auto own = round.own.find(rank);
    sketched.measured.push_back(measured != round.measured.end() ? &measured->second : nullptr);
    sketched.own.push_back(own != round.own.end() ? &own->second : nullptr);
  }
  sketched.samples = samples;
  OwnersFinding finding{facts.round};
  std::size_t off = 0;
  for (const swarm::PartCheck& part : swarm::check_owners(sketched)) {
    ++finding.checked;
    if (!part.residual.is_off()) continue;
    finding.off.push_back(facts.members[part.owner].peer);
    finding.residual = std::max(finding.residual, part.residual.residual);
    off = part.owner;
  }
  // Where several parts are off, a member may have told false sketches of all that it contributed.
  if (finding.off.size() == 1) owners_.on_off(facts.round, facts.members[off].account);
  for (const RoundMember& member : facts.members) {
    if (!finding.off.empty() && member.samples > 0) standings_[member.peer].on_suspicion(facts.round);
  }
  return finding;
}

// Nobody can check the part of an owner that tells nothing of what it received, leaves somebody out of it, or does not
// sketch what it contributed itself. Others own its part, after some rounds of that.
void AuditBook::note_silence(const Round& round) {
  const AuditedRound& facts = round.facts;
  const std::vector<std::size_t> due = swarm::measured_members(facts.result_digest, facts.members.size());
  const auto is_whole = [&](std::size_t rank) {
    const auto terms = round.terms.find(rank);
    return facts.members[rank].samples > 0 && terms != round.terms.end() &&
           terms->second.weight == facts.members[rank].samples;
  };
  // The last round's contribution can be sketched, an older one's not: where rounds are short, few are in time.
  const auto contributed = std::ranges::count_if(facts.members, [](const RoundMember& one) { return one.samples > 0; });
  const bool most_sketched = 4 * std::ssize(round.own) >= 3 * contributed;
  for (std::size_t owner = 0; owner < facts.members.size(); ++owner) {
    const RoundMember& member = facts.members[owner];
    if (member.part_floats == 0) continue;
    const auto measured = round.measured.find(owner);
    const auto tells_of = [&](std::size_t rank) {
      return measured != round.measured.end() &&
             std::ranges::count(measured->second.members, static_cast<std::int64_t>(rank)) > 0;
    };
    const bool leaves_out =
        std::ranges::any_of(due, [&](std::size_t rank) { return rank != owner && is_whole(rank) && !tells_of(rank); });
    const bool hides_its_own = most_sketched && member.samples > 0 && !round.own.contains(owner);
    owners_.on_word(facts.round, member.account, !leaves_out && !hides_its_own);
  }
}

bool AuditBook::keeps_out(const PeerId& peer, RoundIndex round) const {
  const auto standing = standings_.find(peer);
  return standing != standings_.end() && standing->second.is_out(round);
}

std::string AuditBook::advice(const PeerId& peer, RoundIndex round) const {
  const auto standing = standings_.find(peer);
  return standing != standings_.end() ? standing->second.advice(round) : std::string();
}

}  // namespace starling::core
