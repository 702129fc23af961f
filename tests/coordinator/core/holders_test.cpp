// Who holds the state, and who only says so.
#include "coordinator/core/holders.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/coordinator/core/run_parts.h"
#include "tests/coordinator/core/swarm_harness.h"

using namespace starling;
using namespace starling::core;
using namespace starling::core::testing;
using namespace std::chrono_literals;

namespace {

using Verdict = Holding::Verdict;

Digest digest_of(std::uint8_t number) {
  Digest digest;
  digest.bytes.fill(number);
  return digest;
}

// Members that train on the canonical state, and answer the book's challenge.
struct Holders : RunParts {
  // nullopt: it proves nothing
  Member& answer(int number, std::optional<Digest> proof, int protocol = wire::kProtocolVersion) {
    wire::Heartbeat beat = training();
    beat.protocol = protocol;
    if (proof) beat.trust.holding = wire::HoldingProof{book.challenge(), *proof};
    const MemberIdentity who{peer_id(number), hosts.account_of(peer_id(number)).value(), "192.0.2.1"};
    Member& touched = members.touch(now, who, beat);
    touched.reach.verdict = wire::Reachability::reachable;
    touched.told = 1s;
    book.on_call(touched, beat, run.canonical);
    members.judge(now, touched, run.canonical);
    return touched;
  }
  std::vector<PeerId> compare() { return book.compare(now, members, run.canonical); }
  [[nodiscard]] std::vector<PeerId> sources() {
    std::vector<PeerId> peers;
    for (const wire::Endpoint& donor : members.donors(peer_id(100), 8)) peers.push_back(donor.peer);
    return peers;
  }
  [[nodiscard]] bool is_source(int number) {
    const auto peers = sources();
    return std::find(peers.begin(), peers.end(), peer_id(number)) != peers.end();
  }

  HolderBook book{7};
};

}  // namespace

TEST_CASE("a proof that contradicts most accounts' is false: its member holds nothing, and is no source") {
  Holders swarm;
  for (const int honest : {1, 2, 3}) swarm.answer(honest, digest_of(1));
  Member& liar = swarm.answer(4, digest_of(2));
  CHECK(liar.ready());
  CHECK(swarm.compare() == std::vector{peer_id(4)});
  CHECK(swarm.member(1).holding.verdict == Verdict::agreed);
  CHECK(liar.holding.refuted());
  CHECK_FALSE(liar.ready());
  CHECK(swarm.sources().size() == 3);
  CHECK_FALSE(swarm.is_source(4));
  // It repeats itself, and then gives the right one.
  swarm.answer(4, digest_of(2));
  CHECK_FALSE(liar.ready());
  swarm.answer(4, digest_of(1));
  CHECK(swarm.compare().empty());
  CHECK(liar.ready());
}

TEST_CASE("many computers of one account prove nothing against another's") {
  Holders swarm;
  for (const int own : {1, 2, 3, 4}) swarm.hosts.accounts[peer_id(own)] = 5;
  for (const int own : {1, 2, 3, 4}) swarm.answer(own, digest_of(2));
  swarm.answer(5, digest_of(1));
  CHECK(swarm.compare().empty());
  CHECK(swarm.member(5).holding.verdict == Verdict::alone);
  CHECK(swarm.sources().size() == 5);  // newcomers check what comes
  // Accounts without a voice are not counted either; but they are compared.
  for (const int newcomer : {6, 7, 8}) swarm.answer(newcomer, digest_of(2)).voice = false;
  CHECK(swarm.compare().empty());
  swarm.answer(9, digest_of(1));
  CHECK(swarm.compare().size() == 7);
}

TEST_CASE("a source has proven that it holds the state, where any has") {
  Holders swarm;
  swarm.answer(1, std::nullopt);
  CHECK(swarm.is_source(1));  // nobody was asked yet
  swarm.answer(2, digest_of(1));
  (void)swarm.compare();
  CHECK(swarm.sources() == std::vector{peer_id(2)});
  swarm.answer(3, digest_of(1));
  swarm.answer(4, digest_of(2));
  swarm.answer(5, std::nullopt);
  swarm.answer(6, std::nullopt);
  (void)swarm.compare();
  CHECK(swarm.member(2).holding.verdict == Verdict::alone);  // two of six accounts
  CHECK(swarm.sources().size() == 3);
  for (const int honest : {5, 6}) swarm.answer(honest, digest_of(1));
  (void)swarm.compare();
  CHECK(swarm.sources().size() == 4);
  CHECK_FALSE(swarm.is_source(4));
  CHECK_FALSE(swarm.is_source(1));
}

TEST_CASE("a member that goes on proving nothing is no holder until it does; older programs are not asked") {
  Holders swarm;
  for (int calls = 0; calls < 6; ++calls) {
    swarm.answer(1, std::nullopt);
    swarm.answer(2, std::nullopt, 1);
  }
  CHECK_FALSE(swarm.member(1).ready());
  CHECK(swarm.compare().empty());  // silence is no false word
  CHECK_FALSE(swarm.member(1).ready());
  CHECK(swarm.member(2).ready());
  CHECK(swarm.sources() == std::vector{peer_id(2)});
  CHECK(swarm.answer(1, digest_of(1)).ready());
  (void)swarm.compare();
  CHECK(swarm.sources() == std::vector{peer_id(1)});
}

TEST_CASE("agreement outlives a new challenge, and proofs of the last one still count") {
  Holders swarm;
  for (const int honest : {1, 2, 3}) swarm.answer(honest, digest_of(1));
  (void)swarm.compare();
  const Hash128 before = swarm.book.challenge();
  swarm.book.sweep(swarm.now);
  CHECK(swarm.book.challenge() == before);
  swarm.now += 61s;
  swarm.book.sweep(swarm.now);
  CHECK(swarm.book.challenge() != before);
  swarm.answer(1, digest_of(3));
  CHECK(swarm.compare().empty());
  for (const int honest : {1, 2, 3}) CHECK(swarm.member(honest).holding.verdict == Verdict::agreed);
  swarm.answer(2, digest_of(3));
  CHECK(swarm.compare().empty());
  swarm.answer(3, digest_of(1));
  CHECK(swarm.compare() == std::vector{peer_id(3)});
}

TEST_CASE(
    "members that say they hold the state and do not: out of plans at once, and their accounts' words are false") {
  Swarm swarm;
  for (int number = 1; number <= 9; ++number) swarm.add(number);
  swarm.member(8).lies = digest_of(9);
  swarm.member(9).proves = false;
  swarm.run_for(10s);
  REQUIRE(swarm.decided.size() > 5);
  CHECK(swarm.decided.back().contributions.size() == 7);
  CHECK(swarm.member(8).last_reply.notice.find("could not rely") != std::string::npos);
  CHECK(swarm.member(9).last_reply.notice.find("has not shown") != std::string::npos);
  for (int number = 1; number <= 7; ++number) CHECK(swarm.member(number).last_reply.notice.empty());
}

TEST_CASE("newcomers are told of the kept copy beside a source whose proof nobody shares") {
  RecoveredRun recovered = running_run(100, digest_of(100));
  recovered.checkpoint = wire::Checkpoint{100, digest_of(100), {digest_of(200), 400}};
  core::testing::Swarm swarm(small_manifest(), recovered);
  for (const int number : {1, 2}) {
    VirtualMember& holder = swarm.add(number);
    holder.state = digest_of(100);
    holder.state_round = 100;
    swarm.run_for(500ms);
    VirtualMember& newcomer = swarm.add(10 + number);
    newcomer.download_takes = 10s;
    swarm.run_for(250ms);
    CHECK(newcomer.last_reply.donors.size() == static_cast<std::size_t>(number));
    CHECK(newcomer.last_reply.kept.checkpoint.has_value() == (number == 1));
  }
}
