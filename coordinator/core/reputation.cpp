#include "coordinator/core/reputation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace starling::core {
namespace {

constexpr std::size_t kWordsMax = 8192;  // for one meeting
constexpr double kAtOddsWeight = 2;
// A member that was waited for as long as a round, and called on, sits out after the second time within a few rounds.
constexpr double kAbsentWeightMax = 2.4;
constexpr double kAbsentWeightMin = 1;
// None of the faults that put a member out, and weigh anything, is forgotten within this time.
constexpr RoundIndex kAcquittedWithin = kRemembered / 2;
// No machine that errs signs two seals: who does sits out as if it had sat out this many times before.
constexpr int kTimesOutForProof = 5;
// a volunteer hears of it when it is relied on less than this: not for having stopped once
constexpr double kShown = 0.45;

double weight_of(wire::Fault fault) {
  switch (fault) {
    case wire::Fault::nonsense:
      return 3;
    case wire::Fault::slow:
      return 2;
    case wire::Fault::absent:
      return 0.25;  // the others wait for it no longer than for most that come, and a lost packet is enough
    case wire::Fault::gone:
    case wire::Fault::silent:
      break;
  }
  return 1;  // ordinary for computers that come and go
}

bool is_of_absence(wire::Fault fault) { return fault == wire::Fault::absent; }

std::string_view describe(const Standing& standing) {
  if (standing.at_odds) return "it and several others lost each other, and with those the rest had no trouble";
  switch (standing.fault) {
    case wire::Fault::absent:
      return "it did not come although it was expected";
    case wire::Fault::gone:
      return "its connections broke";
    case wire::Fault::silent:
      return "it fell silent";
    case wire::Fault::slow:
      return "it was far slower than the others";
    case wire::Fault::nonsense:
      break;
  }
  return "the others could not use what it sent; is this version of Starling the newest, and its memory sound?";
}

double decayed(double weight, RoundIndex age) { return weight * std::exp2(-static_cast<double>(age) / kFaultHalfLife); }

double limit(int times_out) { return std::max(kSitsOutMin, kSitsOut * std::exp2(-times_out)); }
RoundIndex rounds_out(int times_out) { return std::min(kRoundsOutMax, kRoundsOut << std::clamp(times_out - 1, 0, 16)); }

}  // namespace

std::string explain(const Standing& standing) {
  if (!standing.kept_out.empty()) return standing.kept_out;
  if (!standing.sits_out && standing.reliance >= kShown) return {};
  if (!standing.sits_out && standing.rounds == 0) {
    return "what this computer told of the parts that it added up for others differed from what these found: it "
           "contributes as before, but adds up nothing for a while";
  }
  const std::string why = fmt::format("in {} of the last {} rounds the others could not rely on this computer: {}",
                                      standing.rounds, kRemembered, describe(standing));
  if (standing.sits_out) {
    return fmt::format("{}. It takes part again after {} more rounds", why, standing.rounds_out);
  }
  if (standing.reliance <= 0)
    return why + ". It contributes as before, but adds up nothing for others until that fades";
  return fmt::format("{}. It adds up {:.0f} % of what it could for others until that fades", why,
                     100 * standing.reliance);
}

bool Reputation::has_heard(const PeerId& reporter, const wire::RoundReport& report) const {
  const auto meetings = meetings_of(report.round, report.group);
  return std::any_of(meetings.begin(), meetings.end(),
                     [&](const Meeting* meeting) { return meeting->reporters.contains(reporter); });
}

std::vector<const Reputation::Meeting*> Reputation::meetings_of(RoundIndex round, const GroupId& group) const {
  std::vector<const Meeting*> meetings;
  for (auto entry = meetings_.lower_bound({round, group, PeerId{}}); entry != meetings_.end(); ++entry) {
    if (std::get<0>(entry->first) != round || std::get<1>(entry->first) != group) break;
    meetings.push_back(&entry->second);
  }
  return meetings;
}

std::set<PeerId> Reputation::unseen_by_most(RoundIndex round, const GroupId& group) const {
  std::set<PeerId> unseen;
  for (const Meeting* meeting : meetings_of(round, group)) {
    std::map<PeerId, std::set<AccountId>> missed_by;
    for (const Word& word : meeting->words) {
      if (word.told && word.fault == wire::Fault::absent) {
        missed_by[word.accused].insert(meeting->seats.at(word.accuser).account);
      }
    }
    for (const auto& [peer, accounts] : missed_by) {
      std::set<AccountId> others;
      for (const PeerId& reporter : meeting->reporters) {
        const Seat& seat = meeting->seats.at(reporter);
        if (seat.voice && seat.account != meeting->seats.at(peer).account) others.insert(seat.account);
      }
      const std::size_t own = accounts.count(meeting->seats.at(peer).account);
      const std::size_t missed = accounts.size() - own;
      if (missed >= kVoicesMin && 2 * missed > others.size()) unseen.insert(peer);
    }
  }
  return unseen;
}

void Reputation::on_report(const PeerId& reporter, const wire::RoundReport& report, std::span<const Seat> seats) {
  hear(reporter, {report.round, report.group, report.complaints}, seats);
}

void Reputation::on_trouble(const PeerId& reporter, const wire::RoundTrouble& trouble, std::span<const Seat> seats) {
  if (!trouble.complaints.empty()) hear(reporter, {trouble.round, trouble.group, trouble.complaints}, seats);
  Meeting& meeting = meeting_of(trouble.round, trouble.group, seats);
  const auto own = meeting.seats.find(reporter);
  if (own == meeting.seats.end() || !own->second.voice) return;
  for (const wire::Accusation& heard : trouble.accusations) {
    const auto accuser = meeting.seats.find(heard.accuser);
    const auto accused = meeting.seats.find(heard.accused);
    if (accuser == meeting.seats.end() || accused == meeting.seats.end() || accuser == accused) continue;
    const AccountId account = own->second.account;
    if (account == accuser->second.account || account == accused->second.account) continue;
    if (meeting.accusations.size() >= kWordsMax) return;
    meeting.accusations[{heard.accuser, heard.accused}].insert(account);
  }
}

Reputation::Meeting& Reputation::meeting_of(RoundIndex round, const GroupId& group, std::span<const Seat> seats) {
  Meeting& meeting = meetings_[{round, group, seats.empty() ? PeerId{} : seats.front().peer}];
  if (meeting.seats.empty()) {
    for (const Seat& seat : seats) meeting.seats.emplace(seat.peer, seat);
  }
  return meeting;
}

void Reputation::hear(const PeerId& reporter, const Account& account, std::span<const Seat> seats) {
  Meeting& meeting = meeting_of(account.round, account.group, seats);
  const auto own = meeting.seats.find(reporter);
  if (own == meeting.seats.end() || !meeting.reporters.insert(reporter).second || !own->second.voice) return;
  for (const wire::Complaint& complaint : account.complaints) {
    const bool is_member = meeting.seats.contains(complaint.peer);
    if (complaint.peer == reporter || !is_member || meeting.words.size() >= kWordsMax) continue;
    meeting.words.push_back({reporter, complaint.peer, complaint.fault});
  }
}

void Reputation::on_absence(RoundIndex round, const PeerId& peer, double rounds) {
  double& weight = absences_[round][peer];
  weight = std::max(weight, std::clamp(kAbsentWeightMax * rounds, kAbsentWeightMin, kAbsentWeightMax));
}

bool Reputation::on_false_word(RoundIndex round, const PeerId& peer, int times) {
  return false_words_[round].try_emplace(peer, times).second;
}

bool Reputation::on_proven_lie(RoundIndex round, const PeerId& peer) {
  if (!proven_lies_[round].insert(peer).second) return false;
  records_[peer].times_out += kTimesOutForProof;
  return true;
}

Seat Reputation::newest_seat(const PeerId& peer) const {
  for (auto meeting = meetings_.rbegin(); meeting != meetings_.rend(); ++meeting) {
    const auto seat = meeting->second.seats.find(peer);
    if (seat != meeting->second.seats.end()) return with_voice_of_now(seat->second);
  }
  return {{}, 0, wire::MemberRole::full, false};
}

Seat Reputation::with_voice_of_now(const Seat& seat) const {
  Seat now = seat;
  if (const auto voice = voices_.find(seat.peer); voice != voices_.end()) now.voice = voice->second;
  return now;
}

void Reputation::Voices::add(const Seat& seat) {
  if (!seat.voice) return;
  if (seat.account == about) {
    own.insert(seat.peer);
  } else {
    accounts.insert(seat.account);
  }
}

std::size_t Reputation::voices_among(const std::set<PeerId>& others, const PeerId& about) const {
  Voices voices{newest_seat(about).account, {}, {}};
  for (const PeerId& peer : others) voices.add(newest_seat(peer));
  return voices.count();
}

// Counts the voices of now that were with it and could tell. More than half of them are needed, or kVoicesEnough; and
// more than a third, or kVoicesMost.
std::size_t Reputation::voices_needed(const PeerId& about) const {
  Voices voices{newest_seat(about).account, {}, {}};
  for (const auto& [key, meeting] : meetings_) {
    if (!meeting.seats.contains(about)) continue;
    for (const PeerId& reporter : meeting.reporters) {
      if (reporter != about) voices.add(with_voice_of_now(meeting.seats.at(reporter)));
      if (voices.count() >= 3 * kVoicesMost) return kVoicesMost;
    }
  }
  const std::size_t half = std::clamp(voices.count() / 2 + 1, kVoicesMin, kVoicesEnough);
  return std::max(half, std::min(voices.count() / 3 + 1, kVoicesMost));
}

// The accusation counts as the accuser's word when most of those that reported the meeting, the two and their accounts
// apart, had no trouble with the accused. Where a member has told the coordinator that it lost the accused itself,
// others may have passed on what it said: it alone stands for it.
void Reputation::confirm_accusations(Meeting& meeting) {
  std::erase_if(meeting.words, [](const Word& word) { return !word.told; });  // more members may have reported since
  for (const auto& [pair, heard_by] : meeting.accusations) {
    const auto& [accuser, accused] = pair;
    const AccountId between[] = {meeting.seats.at(accuser).account, meeting.seats.at(accused).account};
    std::set<AccountId> reporters;
    for (const PeerId& reporter : meeting.reporters) {
      const Seat& seat = meeting.seats.at(reporter);
      if (seat.voice && std::find(std::begin(between), std::end(between), seat.account) == std::end(between)) {
        reporters.insert(seat.account);
      }
    }
    const bool is_told =
        std::any_of(meeting.words.begin(), meeting.words.end(),
                    [&, about = pair.second](const Word& word) { return word.told && word.accused == about; });
    if (is_told || heard_by.size() < kVoicesMin || 2 * heard_by.size() <= reporters.size()) continue;
    meeting.words.push_back({accuser, accused, wire::Fault::silent, false});
  }
}

Reputation::Culprits Reputation::culprits(Matter matter) const {
  const bool of_absence = matter == Matter::absence;
  Pairs accusers;
  Pairs named;  // in groups, by each
  Pairs odds;
  for (const auto& [key, meeting] : meetings_) {
    for (const Word& word : meeting.words) {
      if (is_of_absence(word.fault) != of_absence) continue;
      (word.told ? accusers[word.accused] : named[word.accuser]).insert(word.told ? word.accuser : word.accused);
      odds[word.accused].insert(word.accuser);
      if (!of_absence) odds[word.accuser].insert(word.accused);
    }
  }
  Culprits found;
  std::map<PeerId, std::size_t> needed;
  for (const auto& [peer, others] : odds) needed.emplace(peer, std::max(kVoicesMin, voices_needed(peer)));
  while (true) {
    // Voices of all with whom a member is at odds; in a tie of those that complain about it, then of those it named.
    std::array<std::size_t, 3> most{};
    std::set<PeerId> worst;
    for (const auto& [peer, others] : odds) {
      const std::array voices{voices_among(others, peer), voices_among(accusers[peer], peer),
                              voices_among(named[peer], peer)};
      if (voices[0] < needed.at(peer) || voices < most) continue;
      if (voices > most) worst.clear();
      most = voices;
      worst.insert(peer);
    }
    if (worst.empty()) return found;
    for (const PeerId& peer : worst) {
      const bool told = voices_among(accusers[peer], peer) >= needed.at(peer);
      (told ? found.guilty : found.at_odds).insert(peer);
    }
    // The rest is between others.
    for (const PeerId& peer : worst) {
      odds.erase(peer);
      for (auto& [other, with] : odds) with.erase(peer);
      for (auto& [other, by] : accusers) by.erase(peer);
    }
  }
}

void Reputation::judge(RoundIndex round, std::span<const Present> present) {
  std::erase_if(meetings_, [round](const auto& entry) { return std::get<0>(entry.first) + kRemembered < round; });
  std::erase_if(absences_, [round](const auto& entry) { return entry.first + kRemembered < round; });
  std::erase_if(false_words_, [round](const auto& entry) { return entry.first + kRemembered < round; });
  std::erase_if(proven_lies_, [round](const auto& entry) { return entry.first + kRemembered < round; });
  for (auto& [key, meeting] : meetings_) confirm_accusations(meeting);
  voices_.clear();
  for (const Present& one : present) voices_.emplace(one.peer, one.voice);
  weigh(round, culprits(Matter::absence), culprits(Matter::all_else));
  acquit(round);
  seat(round, present);
}

void Reputation::weigh(RoundIndex round, const Culprits& absent, const Culprits& faulty) {
  for (auto& [peer, record] : records_) {
    record.faults = 0;
    record.standing.rounds = 0;
    record.standing.at_odds = false;
  }
  struct Worst {
    double weight = 0;
    wire::Fault fault = wire::Fault::gone;
  };
  std::map<PeerId, Worst> worst;  // over all rounds
  const auto hold_against = [&](const PeerId& peer, RoundIndex then, const Worst& fault) {
    Record& record = records_[peer];
    record.faults += decayed(fault.weight, std::max<RoundIndex>(0, round - 1 - then));
    ++record.standing.rounds;
    record.good_from = std::max(record.good_from, then + 1);
    if (worst[peer].weight < fault.weight) worst[peer] = fault;
  };
  for (auto entry = meetings_.begin(); entry != meetings_.end();) {
    const RoundIndex then = std::get<0>(entry->first);
    std::map<PeerId, Worst> spoiled;
    for (; entry != meetings_.end() && std::get<0>(entry->first) == then; ++entry) {
      for (const Word& word : entry->second.words) {
        const auto count = [&](const PeerId& peer, const Worst& fault) {
          if (spoiled[peer].weight < fault.weight) spoiled[peer] = fault;
        };
        const Culprits& culprits = is_of_absence(word.fault) ? absent : faulty;
        const bool heard = !faulty.contains(word.accuser);
        if (culprits.contains(word.accused) && heard) count(word.accused, {weight_of(word.fault), word.fault});
        if (culprits.at_odds.contains(word.accuser) && !culprits.guilty.contains(word.accused)) {
          count(word.accuser, {kAtOddsWeight, wire::Fault::nonsense});
        }
      }
    }
    for (const auto& [peer, fault] : spoiled) {
      hold_against(peer, then, fault);
      records_[peer].standing.at_odds = faulty.at_odds.contains(peer);
    }
  }
  for (const auto& [then, peers] : false_words_) {
    for (const auto& [peer, times] : peers) {
      hold_against(peer, then, {times * weight_of(wire::Fault::nonsense), wire::Fault::nonsense});
    }
  }
  for (const auto& [then, peers] : proven_lies_) {
    for (const PeerId& peer : peers) hold_against(peer, then, {kSitsOut, wire::Fault::nonsense});
  }
  for (const auto& [then, peers] : absences_) {
    for (const auto& [peer, weight] : peers) hold_against(peer, then, {weight, wire::Fault::absent});
  }
  for (auto& [peer, record] : records_) {
    record.standing.fault = worst[peer].fault;
    record.standing.reliance = std::max(0.0, 1 - record.faults / kOwnsNothing);
    if (record.times_out > 0 && round >= record.good_from + kForgiven) {
      --record.times_out;
      record.good_from = round;
    }
  }
  std::erase_if(records_, [round](const auto& entry) {
    const Record& record = entry.second;
    return record.standing.rounds == 0 && record.times_out == 0 && round >= record.out_until;
  });
}

// All faults fade alike, so those of the time when it was put out can be told from what is left of them.
void Reputation::acquit(RoundIndex round) {
  for (auto& [peer, record] : records_) {
    const RoundIndex since = round - record.out_from;
    if (round >= record.out_until || since <= 0 || since > kAcquittedWithin) continue;
    if (record.faults >= decayed(limit(record.times_out - 1), since)) continue;
    --record.times_out;
    record.out_until = record.good_from = round;
  }
}

void Reputation::seat(RoundIndex round, std::span<const Present> present) {
  const auto sits_out = [round](const Record& record) {
    const bool relapsed = record.good_from > record.out_until && record.faults >= limit(record.times_out);
    return round < record.out_until || relapsed;
  };
  std::size_t with_voice = 0;
  std::size_t out = 0;  // with a voice
  std::set<PeerId> on_probation;
  bool callable = false;
  for (const Present& one : present) {
    const auto record = records_.find(one.peer);
    const bool goes = record != records_.end() && sits_out(record->second);
    with_voice += one.voice ? 1 : 0;
    out += one.voice && goes ? 1 : 0;
    callable = callable || (one.callable && !goes);
    if (!one.voice) on_probation.insert(one.peer);
  }
  const bool few = 3 * out <= with_voice;
  for (auto& [peer, record] : records_) {
    record.standing.sits_out = callable && (few || on_probation.contains(peer)) && sits_out(record);
    if (record.standing.sits_out && round >= record.out_until) {
      record.out_from = round;
      record.out_until = record.good_from = round + rounds_out(++record.times_out);
    }
    record.standing.waited_for = record.times_out == 0 && record.standing.rounds < kNotWaitedFor;
    record.standing.rounds_out = record.standing.sits_out ? record.out_until - round : 0;
  }
}

Standing Reputation::of(const PeerId& peer) const {
  const auto record = records_.find(peer);
  return record == records_.end() ? Standing{} : record->second.standing;
}

}  // namespace starling::core
