#include "coordinator/core/reputation.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "shared/run/model_layout.h"
#include "tests/coordinator/core/swarm_harness.h"

namespace starling::core::testing {
namespace {

using wire::Fault;

struct Says {
  int accuser = 0;
  int accused = 0;
  Fault fault = Fault::gone;
};

// A group of members 1 … n that meets every round; a member that is accused in a round does not finish it.
class Rounds {
 public:
  explicit Rounds(int members) {
    for (int i = 1; i <= members; ++i) present_.push_back({peer_id(i), true});
    for (int i = 1; i <= members; ++i) seats_.push_back({peer_id(i), i, wire::MemberRole::full});
    std::sort(seats_.begin(), seats_.end(), [](const Seat& a, const Seat& b) { return a.peer < b.peer; });
  }

  // accusations: (accuser, accused) in the group; the first `hear` of the other members report them
  void round(const std::vector<Says>& words = {}, const std::vector<std::pair<int, int>>& accusations = {},
             int hear = 1000) {
    const auto accused = [&](const PeerId& peer) {
      return std::any_of(words.begin(), words.end(), [&](const Says& word) { return peer_id(word.accused) == peer; });
    };
    for (const auto& [reporter, account, role, voice] : seats_) {
      if (accused(reporter) || reputation.of(reporter).sits_out) continue;
      wire::RoundReport report;
      report.round = round_;
      report.group.bytes.fill(static_cast<std::uint8_t>(round_ + 1));
      for (const Says& word : words) {
        if (peer_id(word.accuser) == reporter) report.complaints.push_back({peer_id(word.accused), word.fault});
      }
      reputation.on_report(reporter, report, seats_);
      wire::RoundTrouble trouble{report.round, report.group, {}, {}, {}};
      for (const auto& [accuser, victim] : accusations) {
        if (reputation.of(peer_id(accuser)).sits_out) continue;
        trouble.accusations.push_back({peer_id(accuser), peer_id(victim)});
      }
      if (!trouble.accusations.empty() && hear-- > 0) reputation.on_trouble(reporter, trouble, seats_);
    }
    reputation.judge(++round_, present_);
  }
  void rounds(int count, const std::vector<Says>& words = {}) {
    for (int i = 0; i < count; ++i) round(words);
  }
  [[nodiscard]] RoundIndex now() const { return round_; }
  [[nodiscard]] Standing of(int number) const { return reputation.of(peer_id(number)); }
  void only_caller(int number) {
    for (Reputation::Present& one : present_) one.callable = one.peer == peer_id(number);
  }
  // This member and those that follow it are on probation.
  void on_probation_from(int number) {
    for (Reputation::Present& one : present_) {
      for (int i = number; i <= static_cast<int>(present_.size()); ++i) one.voice = one.voice && one.peer != peer_id(i);
    }
    for (Seat& seat : seats_) seat.voice = seat.voice && seat.account < number;
  }

  Reputation reputation;

 private:
  std::vector<Reputation::Present> present_;
  std::vector<Seat> seats_;
  RoundIndex round_ = 0;
};

}  // namespace

TEST_CASE("one member's word ruins nobody, however often it is said") {
  for (const int members : {2, 3, 8, 40}) {
    CAPTURE(members);
    Rounds rounds(members);
    rounds.rounds(40, {{1, 2, Fault::nonsense}});
    CHECK(rounds.of(2).reliance == 1);
    CHECK_FALSE(rounds.of(2).sits_out);
    CHECK(explain(rounds.of(2)).empty());
  }
}

TEST_CASE("who has the others lose members that are well is at odds with these, and they are not blamed") {
  constexpr int kMembers = 16;
  constexpr int kLiars = 5;
  Rounds rounds(kMembers);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::pair<int, int>> accusations;  // each liar names another one
    for (int liar = 1; liar <= kLiars; ++liar) accusations.emplace_back(liar, kLiars + 1 + (round + liar) % 11);
    rounds.round({}, accusations);
    for (int honest = kLiars + 1; honest <= kMembers; ++honest) CHECK_FALSE(rounds.of(honest).sits_out);
  }
  for (int liar = 1; liar <= kLiars; ++liar) CHECK(rounds.of(liar).sits_out);
}

TEST_CASE("each column of a grid is heard about its own members") {
  const std::vector<std::vector<Seat>> columns{{{peer_id(1), 1}, {peer_id(2), 2}, {peer_id(3), 3}},
                                               {{peer_id(4), 4}, {peer_id(5), 5}, {peer_id(6), 6}}};
  Reputation reputation;
  for (RoundIndex round = 0; round < 3; ++round) {
    for (const auto& column : columns) {
      for (std::size_t i = 0; i < 2; ++i) {
        wire::RoundReport report;
        report.round = round;
        report.group.bytes.fill(static_cast<std::uint8_t>(round + 1));
        if (column[i].account > 3) report.complaints = {{peer_id(6), Fault::absent}};
        reputation.on_report(column[i].peer, report, column);
        CHECK(reputation.has_heard(column[i].peer, report));
      }
    }
    GroupId group;
    group.bytes.fill(static_cast<std::uint8_t>(round + 1));
    CHECK(reputation.unseen_by_most(round, group) == std::set<PeerId>{peer_id(6)});
    reputation.judge(round + 1, {});
  }
  CHECK(reputation.of(peer_id(6)).rounds == 3);
  CHECK(reputation.of(peer_id(3)).rounds == 0);
}

TEST_CASE("a member has not come when most of those that were with it say so, two accounts at least") {
  std::vector<Seat> seats;
  for (int i = 1; i <= 6; ++i) seats.push_back({peer_id(i), i});
  seats[1].account = 1;  // the first two are one account's
  Reputation reputation;
  const GroupId group{};
  const auto report = [&](int reporter, bool misses) {
    wire::RoundReport own;
    if (misses) own.complaints = {{peer_id(6), Fault::absent}};
    reputation.on_report(peer_id(reporter), own, seats);
  };
  report(1, true);
  report(2, true);
  CHECK(reputation.unseen_by_most(0, group).empty());
  report(3, true);
  CHECK(reputation.unseen_by_most(0, group).size() == 1);
  report(4, false);
  CHECK(reputation.unseen_by_most(0, group).size() == 1);
  report(5, false);
  CHECK(reputation.unseen_by_most(0, group).empty());
  CHECK(reputation.unseen_by_most(1, group).empty());
}

TEST_CASE("an accusation counts only if most of the others had no trouble with the accused") {
  Rounds rounds(8);
  for (int round = 0; round < 20; ++round) rounds.round({}, {{1, 2 + round % 7}}, 3);
  CHECK(rounds.of(1).reliance == 1);
  // One link that fails again and again is the fault of neither end.
  Rounds pair(8);
  for (int round = 0; round < 20; ++round) pair.round({}, {{1, 2}});
  CHECK(pair.of(1).reliance == 1);
  CHECK(pair.of(2).reliance == 1);
}

TEST_CASE("an accusation that fewer than most have heard is forgotten when the others have reported") {
  std::vector<Seat> seats;
  for (int i = 1; i <= 12; ++i) seats.push_back({peer_id(i), i});
  Reputation reputation;
  const auto report = [&](RoundIndex round, int reporter, bool heard) {
    wire::RoundReport own;
    own.round = round;
    own.group.bytes.fill(static_cast<std::uint8_t>(round + 1));
    reputation.on_report(peer_id(reporter), own, seats);
    const wire::Accusation accusation{peer_id(1), peer_id(2 + static_cast<int>(round))};
    if (heard) reputation.on_trouble(peer_id(reporter), {own.round, own.group, {}, {}, {accusation}}, seats);
  };
  for (RoundIndex round = 0; round < 6; ++round) {
    for (const int reporter : {10, 11, 12}) report(round, reporter, true);
  }
  reputation.judge(6, {});
  CHECK(reputation.of(peer_id(1)).at_odds);
  for (RoundIndex round = 0; round < 6; ++round) {
    for (int reporter = 2; reporter <= 9; ++reporter) report(round, reporter, false);
  }
  reputation.judge(6, {});
  CHECK(reputation.of(peer_id(1)).reliance == 1);
}

TEST_CASE(
    "who passes on that another has lost a member is not at odds with that member: the other tells of it itself") {
  Rounds rounds(16);
  bool sat_out = false;
  for (int round = 0; round < 20; ++round) {
    if (rounds.of(1).sits_out) {
      rounds.round();
      continue;
    }
    const int victim = 3 + round % 13;
    rounds.round({{1, victim, Fault::gone}}, {{2, victim}});
    CHECK(rounds.of(2).reliance == 1);
    CHECK(rounds.of(victim).reliance == 1);
    sat_out = sat_out || rounds.of(1).sits_out;
  }
  CHECK(sat_out);
}

TEST_CASE("a member is back at once when those that put it out turn out to be the ones at fault") {
  constexpr int kVictim = 16;
  Rounds rounds(16);
  std::vector<Says> words;
  for (int accuser = 1; accuser <= 6; ++accuser) words.push_back({accuser, kVictim, Fault::nonsense});
  while (!rounds.of(kVictim).sits_out) rounds.round(words);
  const RoundIndex out_from = rounds.now();
  // One of the six was mistaken. The five that lied accuse others.
  for (int next = 7; rounds.of(kVictim).sits_out; next += 2) {
    REQUIRE(next < 15);
    words.clear();
    for (int liar = 1; liar <= 5; ++liar) {
      words.push_back({liar, next, Fault::nonsense});
      words.push_back({liar, next + 1, Fault::nonsense});
    }
    rounds.round(words);
  }
  CHECK(rounds.now() < out_from + kRoundsOut);
  CHECK(rounds.of(kVictim).waited_for);
  for (int liar = 1; liar <= 5; ++liar) CHECK(rounds.of(liar).sits_out);
  rounds.rounds(static_cast<int>(kRoundsOut));
  CHECK_FALSE(rounds.of(kVictim).sits_out);
}

TEST_CASE("who is accused by most of the others owns less, then nothing, then sits out") {
  Rounds rounds(4);
  rounds.round({{1, 4, Fault::slow}, {2, 4, Fault::slow}});
  CHECK(rounds.of(4).reliance == doctest::Approx(1.0 / 3));
  rounds.round({{1, 4, Fault::slow}, {3, 4, Fault::slow}});
  CHECK(rounds.of(4).reliance == 0);
  CHECK_FALSE(rounds.of(4).sits_out);
  rounds.round({{2, 4, Fault::slow}});
  CHECK(rounds.of(4).reliance == 0);
  CHECK(rounds.of(4).sits_out);
  CHECK(explain(rounds.of(4)).find("3 of the last 32 rounds") != std::string::npos);
  CHECK(explain(rounds.of(4)).find("far slower") != std::string::npos);
  for (const int other : {1, 2, 3}) CHECK(rounds.of(other).reliance == 1);
}

TEST_CASE(
    "who is out, or owns nothing, for what audits have found is told that, and nothing of rounds that it spoiled") {
  Standing standing;
  CHECK(explain(standing).empty());
  standing.reliance = 0;
  CHECK(explain(standing).find("added up for others differed") != std::string::npos);
  standing.kept_out = "its self-test has not passed";
  CHECK(explain(standing) == standing.kept_out);
}

TEST_CASE("voices from different rounds add up") {
  Rounds rounds(6);
  rounds.round({{1, 6, Fault::nonsense}});
  rounds.round({{2, 6, Fault::nonsense}});
  CHECK(rounds.of(6).reliance == 1);
  rounds.round({{3, 6, Fault::nonsense}});
  CHECK(rounds.of(6).reliance == 0);
  CHECK(rounds.of(6).sits_out);
}

TEST_CASE("an accuser at odds with most of the others loses itself") {
  Rounds rounds(6);
  for (const int victim : {2, 3, 4, 5, 6}) rounds.round({{1, victim, Fault::nonsense}});
  CHECK(rounds.of(1).sits_out);
  CHECK(rounds.of(1).at_odds);
  for (const int victim : {2, 3, 4, 5, 6}) CHECK(rounds.of(victim).reliance == 1);
}

TEST_CASE("a few that lie together ruin few in a large group before they are at odds with many") {
  Rounds rounds(60);
  int out = 0;
  for (int victim = 20; victim < 50; ++victim) {
    rounds.round({{1, victim, Fault::nonsense}, {2, victim, Fault::nonsense}, {3, victim, Fault::nonsense}});
    for (int liar : {1, 2, 3}) out += rounds.of(liar).sits_out ? 1 : 0;
  }
  CHECK(out >= 3 * 10);
  for (int victim = 20; victim < 50; ++victim) CHECK(rounds.of(victim).reliance == 1);
}

TEST_CASE("five of sixteen that complain in one voice put nobody out, and six do") {
  for (const int voices : {5, 6}) {
    CAPTURE(voices);
    Rounds rounds(16);
    for (int round = 0; round < 6; ++round) {
      std::vector<Says> words;
      for (int accuser = 1; accuser <= voices; ++accuser) words.push_back({accuser, 16, Fault::nonsense});
      rounds.round(words);
    }
    CHECK(rounds.of(16).sits_out == (voices == 6));
    CHECK(rounds.of(1).reliance == 1);
  }
}

TEST_CASE("whom all missed once is not believed to be lost by the few that say so") {
  Rounds rounds(16);
  std::vector<Says> missed;
  for (int other = 1; other <= 15; ++other) missed.push_back({other, 16, Fault::absent});
  rounds.round(missed);
  const double once = rounds.of(16).reliance;
  CHECK(once < 1);
  for (int round = 0; round < 8; ++round) {
    rounds.round({{1, 16, Fault::gone}, {2, 16, Fault::gone}});
    CHECK(rounds.of(16).reliance > once);
  }
}

TEST_CASE("words from before are weighed among the accounts that have a voice now") {
  Rounds rounds(10);
  std::vector<Says> words;
  for (int other = 1; other <= 7; ++other) words.push_back({other, 8, Fault::gone});
  rounds.round(words);
  rounds.on_probation_from(4);
  rounds.round();
  CHECK(rounds.of(8).reliance < 1);
  CHECK_FALSE(rounds.of(8).at_odds);
}

TEST_CASE("accounts that complain about one after the other in one voice sit out themselves") {
  Rounds rounds(16);
  for (int victim = 6; victim <= 13; ++victim) {
    std::vector<Says> words;
    for (int liar = 1; liar <= 5; ++liar) words.push_back({liar, victim, Fault::nonsense});
    rounds.round(words);
  }
  for (int liar = 1; liar <= 5; ++liar) CHECK(rounds.of(liar).sits_out);
  for (int honest = 6; honest <= 16; ++honest) CHECK_FALSE(rounds.of(honest).sits_out);
}

TEST_CASE("a computer that slept is soon as good as any") {
  Rounds rounds(5);
  rounds.rounds(2, {{1, 5, Fault::silent}, {2, 5, Fault::silent}, {3, 5, Fault::silent}, {4, 5, Fault::absent}});
  const double after = rounds.of(5).reliance;
  CHECK(after > 0.3);
  CHECK(after < 0.7);
  rounds.rounds(6);
  CHECK(rounds.of(5).reliance == doctest::Approx(1 - (1 - after) / 2));  // a half-life
  rounds.rounds(15);
  CHECK(rounds.of(5).reliance > 0.9);
  CHECK(explain(rounds.of(5)).empty());
  rounds.rounds(kRemembered);
  CHECK(rounds.of(5).reliance == 1);
}

TEST_CASE("who sits out is back after some rounds, and after more of them each time it relapses") {
  Rounds rounds(5);
  const std::vector<Says> garbage = {{1, 5, Fault::nonsense}, {2, 5, Fault::nonsense}, {3, 5, Fault::nonsense}};
  for (int relapse = 0; relapse < 4; ++relapse) {
    int bad = 0;
    for (; !rounds.of(5).sits_out; ++bad) rounds.round(garbage);
    CHECK(bad <= (relapse == 0 ? 2 : 1));
    CHECK(rounds.of(5).rounds_out == kRoundsOut << relapse);
    for (RoundIndex waited = 0; waited < kRoundsOut << relapse; ++waited) {
      CHECK(rounds.of(5).sits_out);
      rounds.round();
    }
    CHECK_FALSE(rounds.of(5).sits_out);
  }
  // Good behaviour makes up for all of it.
  rounds.rounds(4 * kForgiven);
  CHECK(rounds.of(5).reliance == 1);
  rounds.round(garbage);
  CHECK_FALSE(rounds.of(5).sits_out);
}

TEST_CASE("no more than a third sits out, and not all whom others can call") {
  std::vector<Says> words;
  for (const int accused : {4, 5, 6}) {
    for (const int accuser : {1, 2, 3}) words.push_back({accuser, accused, Fault::nonsense});
  }
  Rounds half(6);
  half.rounds(3, words);
  for (const int accused : {4, 5, 6}) {
    CHECK(half.of(accused).reliance == 0);
    CHECK_FALSE(half.of(accused).sits_out);
  }
  Rounds callers(6);
  callers.only_caller(6);
  callers.rounds(3, {{1, 6, Fault::nonsense}, {2, 6, Fault::nonsense}, {3, 6, Fault::nonsense}});
  CHECK_FALSE(callers.of(6).sits_out);
}

TEST_CASE("members on probation that lie sit out however many they are, and their number shields nobody") {
  constexpr int kEstablished = 6;
  constexpr int kAll = 24;
  Rounds rounds(kAll);
  rounds.on_probation_from(kEstablished + 1);
  for (int round = 0; round < 2; ++round) {
    for (int liar = kEstablished; liar <= kAll; ++liar) rounds.reputation.on_false_word(rounds.now(), peer_id(liar));
    rounds.round();
  }
  for (int liar = kEstablished; liar <= kAll; ++liar) CHECK(rounds.of(liar).sits_out);
  for (int honest = 1; honest < kEstablished; ++honest) CHECK_FALSE(rounds.of(honest).sits_out);
}

TEST_CASE("nobody is heard twice on a round, nor as a stranger to the group, nor about one") {
  Reputation reputation;
  std::vector<Seat> members;
  for (int i = 1; i <= 4; ++i) members.push_back({peer_id(i), i});
  wire::RoundReport report;
  report.group.bytes.fill(1);
  report.complaints = {{peer_id(9), Fault::nonsense}, {peer_id(1), Fault::nonsense}};
  reputation.on_report(peer_id(1), report, members);
  report.complaints = {{peer_id(4), Fault::nonsense}};
  reputation.on_report(peer_id(1), report, members);
  reputation.on_report(peer_id(8), report, members);
  reputation.on_report(peer_id(9), report, members);
  CHECK(reputation.has_heard(peer_id(1), report));
  CHECK_FALSE(reputation.has_heard(peer_id(8), report));
  reputation.judge(1, {});
  for (const int number : {1, 4, 8, 9}) CHECK(reputation.of(peer_id(number)).reliance == 1);
}

TEST_CASE("a member that lets others wait for as long as a round sits out after the second time") {
  Rounds rounds(8);
  const auto wait_for = [&](double usual_rounds) {
    rounds.reputation.on_absence(rounds.now(), peer_id(2), usual_rounds);
    rounds.round();
  };
  SUBCASE("long waits") {
    wait_for(1.5);
    CHECK_FALSE(rounds.of(2).sits_out);
    CHECK(rounds.of(2).reliance < 1);
    wait_for(1.5);
    CHECK(rounds.of(2).sits_out);
    rounds.rounds(static_cast<int>(kRoundsOut));
    CHECK_FALSE(rounds.of(2).sits_out);
  }
  SUBCASE("computers that crash twice do not") {
    wait_for(0);
    wait_for(0);
    CHECK_FALSE(rounds.of(2).sits_out);
  }
}

TEST_CASE("others count by account, and accounts on probation do not count") {
  const auto group = [](int accounts, bool voice) {
    std::vector<Seat> seats;
    for (int i = 1; i <= 8; ++i) seats.push_back({peer_id(i), 100 + i % accounts, wire::MemberRole::full, voice});
    seats.push_back({peer_id(9), 9});
    for (int i = 10; i <= 13; ++i) seats.push_back({peer_id(i), i});
    return seats;
  };
  const auto blamed = [](const std::vector<Seat>& seats) {
    Reputation reputation;
    for (RoundIndex round = 0; round < 6; ++round) {
      wire::RoundReport report;
      report.round = round;
      report.group.bytes.fill(static_cast<std::uint8_t>(round + 1));
      for (int i = 1; i <= 13; ++i) {
        report.complaints.clear();
        if (i <= 8) report.complaints = {{peer_id(9), Fault::nonsense}};
        reputation.on_report(peer_id(i), report, seats);
      }
      reputation.judge(round + 1, {});
    }
    return reputation.of(peer_id(9));
  };
  CHECK(blamed(group(8, true)).reliance < 1);
  CHECK(blamed(group(1, true)).reliance == 1);
  CHECK(blamed(group(8, false)).reliance == 1);
  // Computers of one account are believed about each other.
  std::vector<Seat> own = group(1, true);
  for (Seat& seat : own) seat.account = 100;
  CHECK(blamed(own).reliance < 1);
}

TEST_CASE("what members say of each other decides who owns parts of the next plan, and who is in it") {
  Swarm swarm;
  for (int i = 1; i <= 5; ++i) swarm.add(i, 30);
  swarm.run_for(std::chrono::seconds(5));
  const auto part_of = [&](int number) -> std::int64_t {
    for (const wire::GroupMember& seat : swarm.member(1).group->members) {
      if (seat.endpoint.peer == peer_id(number)) return seat.part_floats;
    }
    return -1;
  };
  const auto next_plan = [&] {
    const std::size_t rounds = swarm.decided.size();
    while (swarm.decided.size() == rounds) swarm.run_for(std::chrono::milliseconds(5));
    while (!swarm.member(1).group) swarm.run_for(std::chrono::milliseconds(5));
  };
  next_plan();
  CHECK(part_of(5) == 200);
  for (const int accuser : {1, 2, 3}) swarm.complaints[peer_id(accuser)] = {{peer_id(5), Fault::slow}};
  next_plan();
  swarm.complaints.clear();
  next_plan();
  CHECK(part_of(5) > 0);
  CHECK(part_of(5) < 150);
  CHECK(swarm.member(5).last_reply.notice.find("far slower") != std::string::npos);
  CHECK(swarm.coordinator->view(swarm.now).less_relied_on == 1);
  for (const int accuser : {1, 2, 3}) swarm.complaints[peer_id(accuser)] = {{peer_id(5), Fault::nonsense}};
  next_plan();
  next_plan();
  swarm.complaints.clear();
  next_plan();
  CHECK(part_of(5) == -1);
  CHECK(swarm.coordinator->view(swarm.now).sitting_out == 1);
  CHECK(swarm.member(5).last_reply.donors.empty());
  const std::size_t rounds = swarm.decided.size();
  while (part_of(5) < 0 && swarm.decided.size() < rounds + 3 * kRemembered) next_plan();
  CHECK(part_of(5) >= 0);
  CHECK(swarm.decided.size() <= rounds + 2 * kRemembered);
}

TEST_CASE("who sat out is back soon, although its line has shown less than the state needs between two rounds") {
  const wire::RunManifest manifest = small_manifest();
  Swarm swarm(manifest);
  for (int i = 1; i <= 5; ++i) swarm.add(i, 30);
  swarm.run_for(std::chrono::seconds(5));
  const auto contributes = [&] {
    const auto& all = swarm.decided.back().contributions;
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.peer == peer_id(5); });
  };
  for (const int accuser : {1, 2, 3}) swarm.complaints[peer_id(accuser)] = {{peer_id(5), Fault::nonsense}};
  while (swarm.coordinator->view(swarm.now).sitting_out == 0) swarm.run_for(std::chrono::milliseconds(5));
  swarm.complaints.clear();
  VirtualMember& back = swarm.member(5);
  back.line_bytes_per_s = static_cast<double>(wire::state_size(manifest) * sizeof(float)) / 3;
  back.download_takes = std::chrono::milliseconds(100);
  while (contributes()) swarm.run_for(std::chrono::milliseconds(5));
  CHECK(back.last_reply.notice.find("could not use what it sent") != std::string::npos);
  const std::size_t rounds = swarm.decided.size();
  while (!contributes() && swarm.decided.size() < rounds + kForgiven) swarm.run_for(std::chrono::milliseconds(5));
  CHECK(swarm.decided.size() < rounds + 2 * kRoundsOut);
}

}  // namespace starling::core::testing
