#include "coordinator/core/audit_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "shared/base/version.h"
#include "shared/protocol/heartbeat.h"
#include "shared/protocol/heartbeat_reply.h"
#include "shared/run/round_parts.h"

namespace starling::core {
namespace {

constexpr double kToleranceFp32 = 1e-4;
constexpr double kToleranceTf32 = 1e-2;
constexpr double kToleranceBf16 = 1e-1;
// The norm of the errors that codecs leave in a contribution, over the contribution's own (client/averaging/codec.h).
constexpr double kErrorFp16 = 5e-4;
constexpr double kErrorBf16 = 4e-3;
constexpr double kErrorInt8 = 5e-2;
constexpr double kErrorInt4 = 0.58;
constexpr Duration kPatienceMin = std::chrono::seconds(60);
constexpr Duration kPatienceMax = std::chrono::minutes(10);
constexpr int kPatienceRounds = 4;
constexpr Duration kCreditWaits = std::chrono::seconds(60);

double codec_error(wire::Codec codec) {
  switch (codec) {
    case wire::Codec::fp16:
      return kErrorFp16;
    case wire::Codec::bf16:
      return kErrorBf16;
    case wire::Codec::int8:
      return kErrorInt8;
    case wire::Codec::int4:
      return kErrorInt4;
    default:
      return 0;
  }
}

// Contributions' codecs may differ by member; the widest of them counts for all.
double codec_error_of(const wire::GroupInfo& group) {
  double error = 0;
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
    error = std::max(error, codec_error(wire::contribution_codec(group, rank)));
  }
  return error;
}

double lowest_tolerance_of(const wire::RunManifest& manifest) {
  switch (manifest.precision) {
    case wire::Precision::bf16:
      return kToleranceBf16;
    case wire::Precision::tf32:
      return kToleranceTf32;
    case wire::Precision::fp32:
      break;
  }
  return kToleranceFp32;
}

// The network that an address is in: IPv4 /24, IPv6 its first four groups. Empty: not known.
std::string network_of(const std::string& address) {
  if (address.find(':') == std::string::npos) return address.substr(0, address.rfind('.'));
  std::size_t end = 0;
  for (int group = 0; group < 4 && end != std::string::npos; ++group) end = address.find(':', end + 1);
  return address.substr(0, end);
}

std::map<PeerId, AuditStanding> standings_of(const std::vector<RecoveredAudits>& recovered) {
  std::map<PeerId, AuditStanding> standings;
  for (const RecoveredAudits& known : recovered) {
    AuditStanding& standing = standings[known.peer];
    for (int miss = 1; miss <= known.misses; ++miss) {
      (void)standing.on_miss(known.last_miss, known.last_miss, false);
      standing.told_in = -1;
    }
    standing.clean = known.clean;
    if (known.clean > 0) standing.on_self_test_passed();  // it was back
    standing.checks = known.checks;
  }
  return standings;
}

std::map<AccountId, int> misses_of(const std::vector<RecoveredAudits>& recovered, const KnownHosts& hosts) {
  std::map<AccountId, int> misses;
  for (const RecoveredAudits& known : recovered) {
    const auto account = hosts.account_of(known.peer);
    if (account && known.misses > 0) misses[*account] += known.misses;
  }
  return misses;
}

}  // namespace

AuditDesk::AuditDesk(const RunSettings& settings, const RecoveredRun& recovered)
    : settings_(settings),
      book_({settings.manifest.round.audit_rate, lowest_tolerance_of(settings.manifest),
             !settings.manifest.round.audit_never_bans},
            settings.options.audit_secret, standings_of(recovered.audits),
            misses_of(recovered.audits, settings.known_hosts)) {}

// Programs that can be checked, and check others, tell the platform of the device that they compute with.
Status AuditDesk::can_take_part(const wire::Heartbeat& heartbeat) const {
  const auto& device = heartbeat.computing.device;
  if (!active() || !device || !device->platform.empty()) return {};
  return Error{ErrorCode::unsupported,
               fmt::format("the volunteers of this run check each other's work, which this program is too old for: it "
                           "needs Starling {}",
                           kVersion)};
}

void AuditDesk::bind(wire::HeartbeatReply& reply) const {
  if (!active() || !reply.group) return;
  wire::GroupInfo& group = *reply.group;
  group.audit_commitment = book_.commitment(group.grid ? group.grid->id : group.id);
}

RoundIndex AuditDesk::final_below(RoundIndex round) const {
  const RoundIndex below = book_.final_below(round);
  return decided_.empty() ? below : std::min(below, decided_.front().first);
}

void AuditDesk::forget_decided(TimePoint now) {
  while (!decided_.empty() && decided_.front().second + kCreditWaits <= now) decided_.pop_front();
}

void AuditDesk::on_call(const PeerId& peer, const wire::Heartbeat& heartbeat) {
  for (const wire::RoundReport& report : heartbeat.reports) book_.on_report(peer, report);
  book_.on_answers(peer, heartbeat.trust.audits);
}

void AuditDesk::on_decided(TimePoint now, const Round& round, const MemberTable& members, const LeaseBook* leases) {
  if (!active()) return;
  final_below_ = final_below(round.round);
  forget_decided(now);
  decided_.emplace_back(round.round, now);
  for (const wire::Contribution& line : round.decision.credited) {
    const auto account = settings_.known_hosts.account_of(line.peer);
    if (account && book_.keeps_out(line.peer, round.round)) late_.push_back({line.peer, *account, round.round, "", {}});
  }
  if (round.plan == nullptr || round.plan->id != round.decision.group) return;
  for (const wire::GroupInfo& group : round.plan->groups) {
    AuditedRound facts;
    facts.round = round.round;
    facts.plan = group;
    // A column's average is averaged again, and nobody keeps it.
    facts.checks_owners =
        !group.grid && settings_.manifest.round.averaging.aggregation != wire::Aggregation::centered_clip;
    facts.group = round.decision.group;
    facts.base_digest = round.base_digest;
    facts.number = book_.number(facts.group);
    facts.result_digest = round.decision.result_digest;
    facts.codec_error = codec_error_of(group);
    const std::int64_t round_ms = std::clamp<std::int64_t>(round.decision.averaging_ms, 0, to_ms(kPatienceMax));
    facts.patience = std::clamp<Duration>(kPatienceRounds * from_ms(round_ms), kPatienceMin, kPatienceMax);
    std::int64_t first = 0;
    for (const wire::GroupMember& place : group.members) {
      RoundMember member = audited_member(now, round, place, members, leases);
      member.part_first = std::exchange(first, first + place.part_floats);
      facts.members.push_back(std::move(member));
    }
    book_.on_decided(now, std::move(facts));
  }
}

RoundMember AuditDesk::audited_member(TimePoint now, const Round& round, const wire::GroupMember& place,
                                      const MemberTable& members, const LeaseBook* leases) const {
  const PeerId& peer = place.endpoint.peer;
  const Member* member = members.find(peer);
  const auto account = settings_.known_hosts.account_of(peer);
  RoundMember one{peer, account.value_or(0)};
  if (account) {
    const AccountStanding standing = settings_.known_hosts.standing_of(*account);
    one.decides = standing.auditor;
    one.watched = standing.watched;
  }
  one.part_floats = place.part_floats;
  if (member != nullptr) {
    one.network = network_of(member->who.address);
    one.arithmetic = numeric_class_of(member->reported.device);
    one.may_audit = (member->voice || one.decides) && member->works() && !member->sits_out(now) &&
                    member->has_computed() && place.role != wire::MemberRole::auxiliary;
  }
  const std::vector<wire::Contribution>& lines = round.decision.contributions;
  const auto line = std::ranges::find(lines, peer, &wire::Contribution::peer);
  if (line == lines.end() || !account) return one;
  one.samples = line->samples;
  if (leases != nullptr) {
    one.drawn = leases->drawn_from(round.round, peer, line->draw);
  } else if (member != nullptr) {
    one.drawn = {{{round.round, member->lane, 0, kMemberSamplesMax}}};
  }
  return one;
}

std::vector<PeerId> AuditDesk::sweep(TimePoint now, WallTime wall, const MemberTable& members,
                                     std::vector<StoreOp>& ops) {
  std::vector<PeerId> liars;
  if (!active()) return liars;
  forget_decided(now);
  for (const PeerId& peer : book_.asked()) {
    if (members.find(peer) == nullptr) book_.on_gone(peer);
  }
  for (const AuditFinding& finding : book_.sweep(now)) {
    conclude(finding, wall, ops);
    for (const Auditor& auditor : finding.finding.contradicted) liars.push_back(auditor.peer);
  }
  for (CreditVoided& late : std::exchange(late_, {})) {
    late.reason = fmt::format("round {}: planned before its work was found false", late.from);
    late.wall = wall;
    ops.emplace_back(std::move(late));
  }
  for (const OwnersFinding& finding : book_.check_owners(now)) owners_off_ += finding.off.empty() ? 0 : 1;
  return liars;
}

void AuditDesk::conclude(const AuditFinding& finding, WallTime wall, std::vector<StoreOp>& ops) {
  using Verdict = AuditCase::Verdict;
  using Consequence = AuditStanding::Consequence;
  const AuditedClaim& claim = finding.claim;
  AuditStored stored{
      finding.round, claim.peer, claim.account, AuditVerdict::unchecked, {}, finding.finding.distance, {}, wall};
  for (const Auditor& auditor : finding.finding.agreed) stored.auditors.push_back(auditor.peer);
  stored.why = finding.why;
  if (finding.finding.verdict == Verdict::clean) stored.verdict = AuditVerdict::clean;
  if (finding.finding.verdict == Verdict::disputed) {
    stored.why =
        fmt::format("accounts {} say that they received something else", fmt::join(finding.finding.disputes, ", "));
  }
  if (finding.finding.verdict == Verdict::missed) {
    const bool again = finding.consequence == Consequence::none_further;
    stored.verdict = again ? AuditVerdict::unchecked : AuditVerdict::missed;
    stored.why = again ? "false like a round that it was told of meanwhile: it counts as one with that"
                 : finding.consequence == Consequence::banned ? "once more: its account is banned"
                 : finding.consequence == Consequence::out_until_self_test
                     ? "once more: it is out until its computer's self-test finds nothing wrong"
                     : "for the first time: it is told";
    const std::string reason =
        fmt::format("round {}: others computed something else from the same samples", finding.round);
    ops.emplace_back(CreditVoided{claim.peer, claim.account, final_below_, reason, wall});
    if (finding.consequence == Consequence::banned) ops.emplace_back(AccountBanned{claim.account, reason, wall});
  }
  if (finding.untold_too_often) {
    stored.why += ", too often: it is out for a while";
    ops.emplace_back(CreditVoided{claim.peer, claim.account, final_below_,
                                  fmt::format("round {}: what it was made of was not told, too often", finding.round),
                                  wall});
  }
  ops.emplace_back(std::move(stored));
}

void AuditDesk::judge(RoundIndex round, MemberTable& members) const {
  if (!active()) return;
  for (auto& [peer, member] : members.all()) judge(round, member);
}

void AuditDesk::judge(RoundIndex round, Member& member) const {
  if (!active()) return;
  if (book_.keeps_out(member.who.peer, round)) {
    member.standing.kept_out = book_.advice(member.who.peer, round);
    member.standing.waited_for = false;
  }
  if (!book_.owners().may_own(member.who.account, round)) member.standing.reliance = 0;
}

wire::AuditsDue AuditDesk::due(RoundIndex round, const PeerId& peer, SampleCount pending) const {
  if (!active()) return {};
  wire::AuditsDue due = book_.due(peer);
  const auto standing = book_.standings().find(peer);
  wire::CheckedWork checked;
  checked.pending = pending;
  if (standing != book_.standings().end()) {
    checked.times = standing->second.checks;
    checked.missed = standing->second.misses;
    checked.verdict = standing->second.advice(round);
  }
  due.checked = std::move(checked);
  return due;
}

}  // namespace starling::core
