#include "coordinator/core/lease_book.h"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <set>

#include "coordinator/core/interval_set.h"
#include "tests/coordinator/core/small_run.h"

namespace starling::core::testing {
namespace {

constexpr std::int64_t kProcess = 7;

// Deals like the coordinator does, with a store that takes everything at once.
struct Book {
  LeaseBook book;
  std::vector<SampleTried> tried;  // in the store
  explicit Book(const std::vector<std::int64_t>& shards, const RecoveredLeases& recovered = {})
      : book(shards, 4, recovered) {}

  std::vector<wire::SampleLease> deal(int peer, SampleCount wanted, RoundIndex round, SampleCount next_draw = 1,
                                      std::int64_t process = kProcess) {
    if (const auto dealt = book.deal({peer_id(peer), peer, process}, next_draw, wanted, round)) book.on_stored(*dealt);
    return book.held(peer_id(peer), process, next_draw, round);
  }
  std::vector<SampleSetAside> pass_over(int peer, const std::vector<SampleCount>& draws,
                                        std::int64_t process = kProcess) {
    LeaseBook::PassedOver passed = book.pass_over({peer_id(peer), peer, process}, draws);
    tried.insert(tried.end(), passed.tried.tries.begin(), passed.tried.tries.end());
    return passed.set_aside;
  }
  std::vector<CountedSamples> count(int peer, RoundIndex round, SampleCount samples, SampleCount draw) {
    return book.count(round, {peer_id(peer), samples, draw});
  }
};

}  // namespace

TEST_CASE("intervals join when they touch and part when something is taken out") {
  IntervalSet set;
  set.add({0, 10});
  set.add({20, 30});
  set.add({10, 20});
  CHECK(set.front() == Interval{0, 30});
  CHECK(set.size() == 30);
  CHECK(set.remove({5, 8}) == std::vector<Interval>{{5, 8}});
  CHECK(set.common({0, 100}) == std::vector<Interval>{{0, 5}, {8, 30}});
  CHECK(set.remove({3, 9}) == std::vector<Interval>{{3, 5}, {8, 9}});
  CHECK(set.size() == 24);
  set.add({2, 12});
  CHECK(set.front() == Interval{0, 30});
  set.remove({0, 30});
  CHECK(set.empty());
}

TEST_CASE("members are leased different samples, numbered on, and told when they are stored") {
  Book book({100});
  const auto dealt = book.book.deal({peer_id(1), 1, kProcess}, 1, 10, 0);
  REQUIRE(dealt.has_value());
  CHECK(book.book.held(peer_id(1), kProcess, 1, 0).empty());
  book.book.on_stored(*dealt);
  const auto first = book.book.held(peer_id(1), kProcess, 1, 0);
  REQUIRE(first.size() == 1);
  CHECK(first[0] == wire::SampleLease{1, 0, 0, 12, 3});  // a multiple of 4
  CHECK(book.deal(2, 8, 0)[0].first == 12);
  CHECK(book.deal(1, 10, 0) == first);  // it has enough, and a lost answer is repeated
  const auto more = book.deal(1, 10, 1, 9);
  REQUIRE(more.size() == 2);
  CHECK(more[1] == wire::SampleLease{13, 0, 20, 8, 4});
}

TEST_CASE("what was accepted counts once, in the order of the draws, and the rest is drawn again") {
  Book book({16});
  book.deal(1, 8, 0);
  book.deal(2, 8, 0);
  CHECK(book.count(1, 0, 3, 1) == std::vector<CountedSamples>{{peer_id(1), 0, 0, 3}});
  CHECK(book.count(1, 0, 3, 1).empty());
  book.book.on_round_stored(2);
  CHECK(book.deal(3, 4, 2)[0].epoch == 1);  // all of the first are leased
  book.book.on_round_stored(3);
  const auto again = book.deal(3, 20, 3, 5);
  CHECK(again[0] == wire::SampleLease{5, 0, 3, 13, 6});
  CHECK(book.count(1, 4, 4, 4).empty());  // its lease is over
}

TEST_CASE("samples of another member, or of none, count nothing") {
  Book book({100});
  book.deal(1, 8, 0);
  book.deal(2, 8, 0);
  CHECK(book.count(2, 0, 8, 0).empty());
  CHECK(book.count(3, 0, 8, 1).empty());
  CHECK(book.count(2, 0, 100, 5) == std::vector<CountedSamples>{{peer_id(2), 0, 12, 4}});
}

TEST_CASE("a round that the store refuses counts nothing") {
  Book book({8});
  book.deal(1, 8, 0);
  CHECK(book.count(1, 0, 8, 1).size() == 1);
  book.book.on_round_refused(0);
  book.book.on_round_stored(3);
  CHECK(book.deal(2, 8, 4)[0] == wire::SampleLease{1, 0, 0, 8, 7});
}

TEST_CASE("leases that the store refuses are free again") {
  Book book({8});
  const auto dealt = book.book.deal({peer_id(1), 1, kProcess}, 1, 8, 0);
  book.book.on_refused(*dealt);
  CHECK(book.deal(2, 8, 0)[0].epoch == 0);
}

TEST_CASE("a new process of a member is not told what an earlier one was dealt") {
  Book book({100});
  book.deal(1, 8, 0);
  const auto fresh = book.deal(1, 8, 0, 1, kProcess + 1);
  REQUIRE(fresh.size() == 1);
  CHECK(fresh[0].first == 8);
  CHECK(fresh[0].number == 9);
  CHECK(book.count(1, 0, 4, 1).size() == 1);  // the earlier one's gradient may still be accepted
}

TEST_CASE("members keep to a shard while it lasts, and spread over the shards") {
  Book book({40, 40, 40});
  std::set<std::int64_t> shards;
  for (int peer = 1; peer <= 3; ++peer) {
    const auto leases = book.deal(peer, 20, 0);
    REQUIRE(leases.size() == 1);
    shards.insert(leases[0].first / 40);
    CHECK(book.deal(peer, 20, 0, 21).back().first / 40 == leases[0].first / 40);
  }
  CHECK(shards.size() == 3);
}

TEST_CASE("who brings nothing can not keep an epoch from its end") {
  Book book({8});
  for (RoundIndex round = 0; round < 40; round += 4) {
    book.deal(1, 4, round, 1 + 4 * round);  // asks first, every time
    for (const wire::SampleLease& lease : book.deal(2, 4, round, 1 + 4 * round)) {
      book.count(2, round, lease.count, lease.number);
    }
    book.book.on_round_stored(round + 3);
  }
  CHECK(book.deal(3, 4, 41)[0].epoch >= 2);
}

TEST_CASE("what three accounts can not use is set aside, and the rest of the epoch counts") {
  Book book({8});
  book.book.set_accounts(3);
  constexpr SampleCount kDraw = 3;
  RoundIndex round = 0;
  SampleCount next_draw = 1;
  std::vector<SampleSetAside> set_aside;
  for (int peer = 1; peer <= 3; ++peer, round += 4, next_draw += 8) {
    CHECK(set_aside.empty());
    const auto leases = book.deal(peer, 8, round, next_draw);
    REQUIRE(leases[0].epoch == 0);
    const SampleCount draw = peer == 1 ? kDraw : leases[0].number;
    set_aside = book.pass_over(peer, {draw});
    CHECK(book.pass_over(peer, {draw}).empty());  // it was reported before
    const wire::Contribution contribution{peer_id(peer), 8, next_draw};
    CHECK(book.book.passed_over(round, contribution) == 1);
    const auto counted = book.book.count(round, contribution);
    if (peer == 1) CHECK(counted == std::vector<CountedSamples>{{peer_id(1), 0, 0, 2}, {peer_id(1), 0, 3, 5}});
    book.book.on_round_stored(round + 3);
  }
  CHECK(set_aside == std::vector<SampleSetAside>{{0, 2}});
  CHECK(book.deal(4, 8, round)[0].epoch > 0);
  CHECK(book.pass_over(4, {1}, kProcess + 1).empty());  // another process's
}

TEST_CASE("what one can not use and another can was not unusable") {
  Book book({8});
  book.book.set_accounts(3);
  RoundIndex round = 0;
  const auto pass_over = [&](int peer) {
    const SampleCount next_draw = 1 + round;
    book.deal(peer, 8, round, next_draw);
    auto set_aside = book.pass_over(peer, {next_draw});
    book.book.on_round_stored(round + 3);
    round += 4;
    return set_aside;
  };
  CHECK(pass_over(1).empty());
  CHECK(pass_over(2).empty());
  book.deal(3, 8, round);
  CHECK(book.count(3, round, 1, 1).size() == 1);
  CHECK(book.pass_over(3, {1}).empty());
  book.book.on_round_stored(round + 3);
  CHECK(book.deal(3, 8, round + 4, 9)[0].first == 1);
}

TEST_CASE("who is alone, or lies, sets few samples of an epoch aside") {
  constexpr std::int64_t kSamples = 64;
  for (const std::size_t accounts : {std::size_t{1}, std::size_t{2}}) {
    Book book({kSamples});
    book.book.set_accounts(accounts);
    std::set<std::int64_t> set_aside;
    SampleCount next_draw = 1;
    for (RoundIndex round = 0; round < 120; round += 4) {
      std::vector<SampleCount> draws;
      for (const wire::SampleLease& lease : book.deal(1, kSamples / 4, round, next_draw)) {
        for (SampleCount k = 0; k < lease.count; ++k) draws.push_back(lease.number + k);
        next_draw = lease.number + lease.count;
      }
      for (const SampleSetAside& sample : book.pass_over(1, draws)) {
        CHECK(set_aside.insert(sample.place).second);
      }
      book.book.on_round_stored(round + 3);
    }
    CHECK(set_aside.size() == (accounts == 1 ? 8U : 0U));
  }
}

TEST_CASE("a book knows what the store says was set aside") {
  RecoveredLeases store;
  store.next_epoch = 1;
  store.open_epochs = {0};
  store.set_aside = {{0, 0}};
  store.counted = {{peer_id(1), 0, 1, 3}};
  Book book({8}, store);
  CHECK(book.deal(2, 8, 0)[0] == wire::SampleLease{1, 0, 4, 4, 3});
}

TEST_CASE("a restart forgets no tries, nor what a gradient that is under way went over") {
  RecoveredLeases store;
  store.next_epoch = 1;
  store.open_epochs = {0};
  RoundIndex round = 0;
  std::vector<SampleSetAside> set_aside;
  for (int peer = 1; peer <= 3; ++peer, round += 4) {
    CHECK(set_aside.empty());
    auto before = std::make_unique<Book>(std::vector<std::int64_t>{8}, store);
    before->book.set_accounts(3);
    const auto leases = before->deal(peer, 8, round);
    REQUIRE(leases.front().first == (peer == 1 ? 0 : 2));  // the doubtful one first
    const SampleCount draw = leases.front().number + 2 - leases.front().first;
    set_aside = before->pass_over(peer, {draw});
    store.tried.insert(store.tried.end(), before->tried.begin(), before->tried.end());
    if (peer > 1) continue;
    store.held = {{peer_id(peer), kProcess, leases}};
    Book after({8}, store);
    after.book.set_accounts(3);
    CHECK(after.book.passed_over(round, {peer_id(peer), 8, leases.front().number}) == 1);
    CHECK(after.pass_over(peer, {draw}).empty());
    CHECK(after.tried.empty());  // it is known
    CHECK(after.deal(2, 1, round).front().first == 2);
    const auto counted = after.count(peer, round, 8, leases.front().number);
    CHECK(counted == std::vector<CountedSamples>{{peer_id(peer), 0, 0, 2}, {peer_id(peer), 0, 3, 5}});
    store.held.clear();
  }
  CHECK(set_aside == std::vector<SampleSetAside>{{0, 2}});
}

TEST_CASE("a book goes on where the store is: with members that come and go, each sample counts exactly once") {
  const std::uint32_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::vector<std::int64_t> shards{50, 30, 45};
  const auto whole = [](const std::vector<std::int64_t>& counts) { return counts[0] + counts[1] + counts[2]; };
  auto living = std::make_unique<Book>(shards);
  RecoveredLeases store;
  std::map<std::int64_t, std::set<std::int64_t>> counted;
  std::vector<std::pair<SampleCount, std::int64_t>> members(6, {1, kProcess});  // next draw and process
  constexpr RoundIndex kCalmFrom = 200;
  std::int64_t begun = 0;  // number of epochs, before it is calm
  for (RoundIndex round = 0; round < kCalmFrom + 60; ++round) {
    const auto happens = [&, stormy = round < kCalmFrom](unsigned once_in) {
      return stormy && random() % once_in == 0;
    };
    if (round == kCalmFrom) begun = store.next_epoch;
    Book& book = *living;
    std::vector<CountedSamples> rows;
    for (int peer = 0; peer < 6; ++peer) {
      auto& [next_draw, process] = members[static_cast<std::size_t>(peer)];
      if (happens(10)) next_draw = 1, ++process;
      if (const auto dealt = book.book.deal({peer_id(peer), peer, process}, next_draw, 12, round)) {
        if (happens(8)) continue;  // the coordinator never stores it, and dies at some time
        book.book.on_stored(*dealt);
        for (const wire::SampleLease& lease : dealt->leases) {
          store.held.push_back({peer_id(peer), process, {lease}});
          store.next_epoch = std::max(store.next_epoch, lease.epoch + 1);
        }
      }
      const auto leases = book.book.held(peer_id(peer), process, next_draw, round);
      if (leases.empty()) continue;
      const SampleCount draw = std::max(next_draw, leases[0].number);
      const auto brought = std::min<SampleCount>(9, leases.back().number + leases.back().count - draw);
      next_draw = draw + brought;
      const SampleCount accepted = happens(4) ? static_cast<SampleCount>(random() % 9) : brought;
      const auto mine = book.count(peer, round, std::min(accepted, brought), draw);
      rows.insert(rows.end(), mine.begin(), mine.end());
    }
    const bool dies = happens(12);
    if (!dies || happens(2)) {  // the store takes the round
      for (const CountedSamples& row : rows) {
        for (std::int64_t place = row.first; place < row.first + row.count; ++place) {
          REQUIRE(counted[row.epoch].insert(place).second);
        }
      }
      store.counted.insert(store.counted.end(), rows.begin(), rows.end());
      std::erase_if(store.held, [&](const LeasesDealt& dealt) { return dealt.leases[0].last_round <= round; });
      if (!dies) book.book.on_round_stored(round);
    }
    if (!dies) continue;
    store.open_epochs.clear();
    for (std::int64_t epoch = 0; epoch < store.next_epoch; ++epoch) {
      if (std::ssize(counted[epoch]) < whole(shards)) store.open_epochs.push_back(epoch);
    }
    living = std::make_unique<Book>(shards, store);
  }
  REQUIRE(begun > 4);
  for (std::int64_t epoch = 0; epoch < begun; ++epoch) {
    CHECK(std::ssize(counted[epoch]) == whole(shards));
  }
}

}  // namespace starling::core::testing
