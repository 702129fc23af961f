#include "client/serving/desk.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "tests/client/serving/callers.h"

using namespace starling;
using namespace starling::serving;
using Reason = Refusal::Reason;

namespace {

constexpr std::uint64_t kBytesOfUnit = 2 * kWidth * sizeof(float);  // forth: an input and a result

DeskOptions options() {
  DeskOptions options;
  options.width = kWidth;
  options.bytes_max = 1000 * kBytesOfUnit;
  options.keep = std::chrono::seconds(20);
  options.calls_max_per_caller = 4;
  options.units_max = 200;
  options.batch_units = 50;
  return options;
}

// A desk that holds the cells 0 and 1.
struct Bench {
  explicit Bench(const DeskOptions& with = options()) : desk(with) {
    for (wire::CellIndex cell = 0; cell < 2; ++cell) desk.hold(cell, kExperts, 7);
  }

  std::optional<Reason> reason(TimePoint now, const Call& call) {
    const Admission admission = desk.admit(now, call);
    return admission.refusal ? std::optional(admission.refusal->reason) : std::nullopt;
  }
  // Makes a call, with all its values: `value` and the numbers that follow.
  bool send(TimePoint now, const Call& call, float value = 1) {
    const Admission admission = desk.admit(now, call);
    if (admission.refusal) return false;
    CHECK(desk.floats_to_come(call.key) == admission.floats);
    std::vector<float> values(admission.floats);
    std::iota(values.begin(), values.end(), value);
    return desk.on_received(call.key, std::move(values)).ok();
  }
  // Computes the next batch, which takes this long.
  std::vector<Answered> compute(TimePoint now, double seconds = 0.001) {
    const std::optional<Batch> batch = desk.take(now);
    if (!batch) return {};
    return desk.on_computed(now, seconds, computed(*batch));
  }

  Desk desk;
};

std::set<CallKey> keys(const std::vector<Answered>& answered) {
  std::set<CallKey> keys;
  for (const Answered& one : answered) keys.insert(one.key);
  return keys;
}

}  // namespace

TEST_CASE("a call is admitted, received, computed and answered") {
  Bench made;
  const Call call = call_of(1, 1, 2);
  const Admission admission = made.desk.admit(at(0), call);
  CHECK_FALSE(admission.refusal);
  CHECK(admission.floats == 2 * kWidth);
  CHECK(made.desk.bytes() == 2 * kBytesOfUnit);
  CHECK_FALSE(made.desk.take(at(0)));  // its values are not here
  CHECK(made.desk.on_received(call.key, {1, 2, 3, 4}).ok());
  CHECK(made.desk.floats_to_come(call.key) == 0);
  const std::optional<Batch> batch = made.desk.take(at(0));
  REQUIRE(batch);
  CHECK_FALSE(made.desk.take(at(0)));  // one at a time
  CHECK(made.desk.view(at(0)).calls == 1);
  const auto answered = made.desk.on_computed(at(1), 1, computed(*batch));
  REQUIRE(answered.size() == 1);
  CHECK(answered[0].key == call.key);
  CHECK(answered[0].values == std::vector<float>{1, 2, 3, 4});
  CHECK(made.desk.view(at(1)).calls == 0);
  CHECK(made.desk.view(at(1)).bytes_kept == 2 * kWidth * sizeof(float));
  CHECK(made.desk.bytes() == made.desk.view(at(1)).bytes_kept);
  const auto served = made.desk.take_served();
  REQUIRE(served.size() == 1);
  CHECK(served[0].units_forth == 2);
}

TEST_CASE("each refusal has its reason") {
  Bench made;
  Call call = call_of(1, 1, 2);
  SUBCASE("not held") {
    call.cell = 2;
    CHECK(made.reason(at(0), call) == Reason::not_held);
  }
  SUBCASE("stepping") {
    call.round = 8;
    CHECK(made.reason(at(0), call) == Reason::stepping);
    CHECK(made.desk.admit(at(0), call).refusal->wait > Duration{});
    made.desk.set_round(0, 8);
    CHECK_FALSE(made.reason(at(0), call));
  }
  SUBCASE("forgotten") { CHECK(made.reason(at(0), back_of(call, 2)) == Reason::forgotten); }
  SUBCASE("paused") {
    CHECK(made.desk.pause().empty());
    CHECK(made.reason(at(0), call) == Reason::paused);
    made.desk.resume();
    CHECK_FALSE(made.reason(at(0), call));
  }
  SUBCASE("too large for this desk") {
    DeskOptions small = options();
    small.bytes_max = kBytesOfUnit;
    Bench other(small);
    CHECK(other.reason(at(0), call) == Reason::busy);
  }
}

TEST_CASE("a breach of protocol is refused with its name") {
  Bench made;
  Call call = call_of(1, 1, 3);
  std::string what;
  SUBCASE("experts") {
    call.counts = {3};
    what = "experts";
  }
  SUBCASE("negative") {
    call.counts = {4, -1, 0};
    what = "negative";
  }
  SUBCASE("sum") {
    call.counts = {3, 1, 0};
    what = "add up";
  }
  SUBCASE("a row outside") {
    call.rows[1] = 3;
    what = "name all";
  }
  SUBCASE("a row below") {
    call.rows[1] = -1;
    what = "name all";
  }
  SUBCASE("an input without units") {
    call.rows[1] = 0;
    what = "name all";
  }
  SUBCASE("more inputs than units") {
    call.inputs = std::numeric_limits<std::int32_t>::max();
    what = "name all";
  }
  SUBCASE("none") {
    call = call_of(1, 1, 0);
    what = "no units";
  }
  SUBCASE("too many") {
    call = call_of(1, 1, 201);
    what = "201 units";
  }
  SUBCASE("no budget") {
    call.budget = Duration{};
    what = "time";
  }
  SUBCASE("kept forth") {
    call.kept = id_of(9);
    what = "forth";
  }
  SUBCASE("open twice") {
    REQUIRE(made.send(at(0), call));
    SUBCASE("waiting") {}
    SUBCASE("under way") { REQUIRE(made.desk.take(at(0))); }
    what = "open";
  }
  SUBCASE("too many calls") {
    for (int number = 2; number <= 5; ++number) REQUIRE(made.send(at(0), call_of(1, number, 1)));
    SUBCASE("waiting") {}
    SUBCASE("under way") { REQUIRE(made.desk.take(at(0))); }
    what = "too many";
  }
  const Admission admission = made.desk.admit(at(0), call);
  REQUIRE(admission.refusal);
  CHECK(admission.refusal->reason == Reason::invalid);
  CHECK(admission.refusal->breach.message.find(what) != std::string::npos);
  call = call_of(2, 1, 3);
  CHECK_FALSE(made.reason(at(0), call));  // another caller may
}

TEST_CASE("calls of one cell and way are computed together up to the limit, and each gets its own answer") {
  Bench made;
  Call one = call_of(1, 1, 3), two = call_of(2, 1, 2);
  one.counts = {1, 1, 1};
  two.counts = {0, 0, 2};
  Call elsewhere = call_of(3, 1, 1);
  elsewhere.cell = 1;
  REQUIRE(made.send(at(0), one, 1));
  REQUIRE(made.send(at(0), elsewhere, 1));
  REQUIRE(made.send(at(0), two, 11));
  REQUIRE(made.send(at(0), call_of(4, 1, 46)));  // it would be 51
  REQUIRE(made.send(at(0), call_of(5, 1, 45)));
  const std::uint64_t before = made.desk.bytes();
  const std::optional<Batch> batch = made.desk.take(at(0));
  REQUIRE(batch);
  CHECK(batch->rows.size() == 50);
  CHECK(made.desk.bytes() == before + 50 * kWidth * sizeof(float));  // a copy
  const auto answered = made.desk.on_computed(at(1), 1, computed(*batch));
  REQUIRE(answered.size() == 3);
  CHECK(answered[0].key == one.key);
  CHECK(answered[0].values == std::vector<float>{1, 2, 2 * 3, 2 * 4, 3 * 5, 3 * 6});
  CHECK(answered[1].key == two.key);
  CHECK(answered[1].values == std::vector<float>{3 * 11, 3 * 12, 3 * 13, 3 * 14});
  CHECK(keys(made.compute(at(1))) == std::set{elsewhere.key});
  CHECK(keys(made.compute(at(1))) == std::set{key_of(4, 1)});
  CHECK(made.compute(at(1)).empty());
}

TEST_CASE("calls are not computed together where there is no memory for a copy") {
  DeskOptions small = options();
  small.bytes_max = 40 * kBytesOfUnit;
  Bench made(small);
  for (const int caller : {1, 2, 3}) REQUIRE(made.send(at(0), call_of(caller, 1, 10)));
  // Ten units are left, which is a copy of twenty inputs.
  const auto answered = made.compute(at(0));
  CHECK(answered.size() == 2);
  CHECK(made.compute(at(0)).size() == 1);
}

TEST_CASE("the way back uses the inputs that were kept, once") {
  Bench made;
  Call forth = call_of(1, 1, 2);
  forth.counts = {1, 0, 1};
  REQUIRE(made.send(at(0), forth));
  CHECK(made.compute(at(0)).size() == 1);
  const Call back = back_of(forth, 2);
  CHECK(made.reason(at(0), back_of(call_of(2, 1, 2), 2)) == Reason::forgotten);  // another caller
  REQUIRE(made.send(at(0), back, 5));
  CHECK(made.reason(at(0), back_of(forth, 3)) == Reason::forgotten);
  const std::optional<Batch> batch = made.desk.take(at(0));
  REQUIRE(batch);
  CHECK(batch->is_back);
  CHECK(std::vector(batch->inputs.begin(), batch->inputs.end()) == std::vector<float>{1, 2, 3, 4});
  CHECK(std::vector(batch->upstream.begin(), batch->upstream.end()) == std::vector<float>{5, 6, 7, 8});
  const auto answered = made.desk.on_computed(at(0), 1, computed(*batch));
  REQUIRE(answered.size() == 1);
  CHECK(answered[0].values == std::vector<float>{5, 6, 3 * 7, 3 * 8});
  CHECK(made.desk.bytes() == 0);
  // Without kept inputs, all come again.
  Call whole = back_of(forth, 4);
  whole.kept.reset();
  CHECK(made.desk.admit(at(0), whole).floats == 4 * kWidth);
}

TEST_CASE("kept inputs are forgotten when their time is over, or the oldest first where memory is needed") {
  DeskOptions small = options();
  small.bytes_max = 20 * kBytesOfUnit;
  Bench made(small);
  const Call first = call_of(1, 1, 10), second = call_of(1, 2, 10);
  for (const Call& call : {first, second}) {
    REQUIRE(made.send(at(0), call));
    CHECK(made.compute(at(0)).size() == 1);
  }
  CHECK(made.desk.view(at(0)).bytes_kept == 10 * kBytesOfUnit);
  SUBCASE("memory") {
    REQUIRE(made.send(at(1), call_of(2, 1, 11)));
    CHECK(made.desk.bytes() == 16 * kBytesOfUnit);
    CHECK(made.reason(at(1), back_of(first, 3)) == Reason::forgotten);
    CHECK(made.reason(at(1), back_of(second, 3)) == Reason::busy);  // the inputs are here, without room for the rest
    CHECK(made.compute(at(1)).size() == 1);
    CHECK_FALSE(made.reason(at(1), back_of(second, 3)));
  }
  SUBCASE("time") {
    CHECK(made.desk.next_deadline() == at(20));
    made.desk.on_timer(at(20));
    CHECK(made.desk.bytes() == 0);
    CHECK(made.desk.next_deadline() == kNever);
    CHECK(made.reason(at(20), back_of(second, 3)) == Reason::forgotten);
  }
  SUBCASE("the caller is gone") {
    made.desk.on_gone(peer(1));
    CHECK(made.desk.bytes() == 0);
  }
}

TEST_CASE("a call whose budget is over is not computed, unless it is under way") {
  Bench made;
  Call slow = call_of(1, 1, 1), ready = call_of(2, 1, 1), later = call_of(3, 1, 1);
  ready.budget = std::chrono::seconds(5);
  later.budget = std::chrono::hours(1);
  CHECK_FALSE(made.reason(at(0), slow));
  REQUIRE(made.send(at(0), ready));
  CHECK(made.desk.next_deadline() == at(5));
  CHECK_FALSE(made.desk.take(at(5)));
  CHECK(made.desk.take_expired() == std::vector{ready.key});
  CHECK(made.desk.take_expired().empty());
  made.desk.on_timer(at(10));
  CHECK(made.desk.take_expired() == std::vector{slow.key});
  CHECK(made.desk.floats_to_come(slow.key) == 0);
  CHECK(made.desk.on_received(slow.key, {1, 2, 3, 4}).ok());
  CHECK(made.desk.bytes() == 0);
  REQUIRE(made.send(at(10), later));
  CHECK(made.desk.next_deadline() == at(70));  // no budget is longer
  const std::optional<Batch> batch = made.desk.take(at(10));
  made.desk.on_timer(at(100));
  CHECK(made.desk.take_expired().empty());
  CHECK(made.desk.on_computed(at(100), 90, computed(*batch)).size() == 1);
}

TEST_CASE("a call that would not be computed within its budget is refused, and is told when to come again") {
  Bench made;
  REQUIRE(made.send(at(0), call_of(1, 1, 10)));
  CHECK(made.compute(at(0), 1).size() == 1);  // 0.1 s a unit
  Call call = call_of(1, 2, 50);
  REQUIRE(made.send(at(0), call));
  call = call_of(1, 3, 70);  // 12 s ahead of its end, budget 10
  const Admission admission = made.desk.admit(at(0), call);
  REQUIRE(admission.refusal);
  CHECK(admission.refusal->reason == Reason::busy);
  CHECK(to_seconds(admission.refusal->wait) == doctest::Approx(2));
  CHECK(made.desk.view(at(0)).queue_s == doctest::Approx(5));
  // Callers take turns: another one need not wait for all of that.
  call = call_of(2, 1, 45);
  CHECK_FALSE(made.reason(at(0), call));
  // Another cell and the way back are taken for as slow while they are not known.
  call = back_of(call_of(3, 1, 101), 2);
  call.kept.reset();
  call.cell = 1;
  CHECK(made.reason(at(0), call) == Reason::busy);
  // A batch under way is waited for as long as it is expected to take.
  made.desk.on_gone(peer(2));
  REQUIRE(made.desk.take(at(0)));
  CHECK(made.reason(at(1), call_of(3, 1, 70)) == Reason::busy);
  CHECK_FALSE(made.reason(at(3), call_of(3, 1, 70)));
}

TEST_CASE("a caller with calls here gets no more memory than it leaves free, so that others get some") {
  DeskOptions more = options();
  more.calls_max_per_caller = 100;
  more.bytes_max = 100 * kBytesOfUnit;
  Bench made(more);
  int accepted = 0;
  while (made.send(at(0), call_of(1, accepted, 10))) ++accepted;
  CHECK(accepted == 5);
  const Admission admission = made.desk.admit(at(0), call_of(1, 50, 10));
  CHECK(admission.refusal->reason == Reason::busy);
  CHECK(admission.refusal->wait > Duration{});
  CHECK(made.send(at(0), call_of(2, 1, 10)));
  CHECK(made.send(at(0), call_of(2, 2, 10)));
  CHECK(made.reason(at(0), call_of(2, 3, 10)) == Reason::busy);
  CHECK(made.send(at(0), call_of(3, 1, 30)));  // its first one
  CHECK(made.reason(at(0), call_of(4, 1, 1)) == Reason::busy);
}

TEST_CASE("callers take turns, whatever one of them has sent before") {
  DeskOptions alone = options();
  alone.batch_units = 1;
  alone.calls_max_per_caller = 100;
  Bench made(alone);
  for (int number = 0; number < 100; ++number) REQUIRE(made.send(at(0), call_of(1, number, 1)));
  CHECK(made.reason(at(0), call_of(1, 100, 1)) == Reason::invalid);
  for (int number = 0; number < 3; ++number) {
    for (const int caller : {2, 3}) REQUIRE(made.send(at(0), call_of(caller, number, 1)));
  }
  std::map<PeerId, int> answered;
  std::vector<CallKey> first;
  for (int batch = 0; batch < 9; ++batch) {
    for (const Answered& one : made.compute(at(0))) {
      ++answered[one.key.caller];
      if (one.key.caller == peer(1)) first.push_back(one.key);
    }
  }
  for (const int caller : {1, 2, 3}) CHECK(answered[peer(caller)] == 3);
  CHECK(first == std::vector{key_of(1, 0), key_of(1, 1), key_of(1, 2)});  // its oldest
}

TEST_CASE("a value that is not finite, or larger than any activation, ends the call, and is its caller's fault") {
  Bench made;
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), -1.01F * kCallValueMax}) {
    const Call call = call_of(1, 1, 2);
    REQUIRE_FALSE(made.reason(at(0), call));
    const Status received = made.desk.on_received(call.key, {1, 2, 3, bad});
    REQUIRE_FALSE(received.ok());
    CHECK(received.error().code == ErrorCode::corrupt);
    CHECK(made.desk.bytes() == 0);
    CHECK_FALSE(made.desk.take(at(0)));
  }
}

TEST_CASE("nobody gets the answer to a call that its caller does not want any more") {
  for (const bool is_gone : {false, true}) {
    for (const bool fails : {false, true}) {
      Bench made;
      for (const int caller : {1, 2}) REQUIRE(made.send(at(0), call_of(caller, 1, 2)));
      REQUIRE_FALSE(made.reason(at(0), call_of(1, 2, 2)));
      made.desk.drop(key_of(1, 2));
      CHECK(made.desk.floats_to_come(key_of(1, 2)) == 0);
      const std::optional<Batch> batch = made.desk.take(at(0));
      REQUIRE(batch);
      CHECK(batch->rows.size() == 4);
      if (is_gone) {
        made.desk.on_gone(peer(1));
      } else {
        made.desk.drop(key_of(1, 1));
      }
      CHECK(made.desk.view(at(0)).calls == 1);
      if (fails) {
        CHECK(made.desk.on_computing_failed() == std::vector{key_of(2, 1)});
        CHECK(made.desk.bytes() == 0);
      } else {
        CHECK(keys(made.desk.on_computed(at(1), 1, computed(*batch))) == std::set{key_of(2, 1)});
        CHECK(made.reason(at(1), back_of(call_of(1, 1, 2), 5)) == Reason::forgotten);
        CHECK(made.desk.take_served().size() == 2);  // it was computed nevertheless
      }
    }
  }
}

TEST_CASE("a cell that is let go, and a pause, end the calls that are here") {
  Bench made;
  REQUIRE(made.send(at(0), call_of(1, 1, 1)));
  CHECK(made.compute(at(0)).size() == 1);
  REQUIRE(made.send(at(0), call_of(1, 2, 1)));
  const std::optional<Batch> batch = made.desk.take(at(0));
  REQUIRE(batch);
  Call elsewhere = call_of(1, 3, 1);
  elsewhere.cell = 1;
  REQUIRE(made.send(at(0), elsewhere));
  REQUIRE(made.send(at(0), call_of(1, 4, 1)));
  SUBCASE("let go") {
    CHECK(made.desk.let_go(0) == std::vector{key_of(1, 4)});
    CHECK(made.desk.on_computed(at(0), 1, computed(*batch)).size() == 1);
    CHECK(made.desk.view(at(0)).bytes_kept == 0);
    CHECK(keys(made.compute(at(0))) == std::set{elsewhere.key});
  }
  SUBCASE("pause") {
    CHECK(made.desk.pause().size() == 3);
    CHECK(made.desk.bytes() == 0);
    CHECK_FALSE(made.desk.take(at(0)));
    CHECK(made.desk.on_computed(at(0), 1, std::vector<float>(kWidth)).empty());
    CHECK(made.desk.on_computing_failed().empty());
    CHECK(made.desk.next_deadline() == kNever);
  }
}

TEST_CASE("samples count in cells that are held") {
  Bench made;
  CHECK(made.desk.add_weight(peer(1), 0, 5) == 5);
  CHECK(made.desk.add_weight(peer(1), 9, 5) == 0);
  CHECK(made.desk.take_weights(0).samples == 5);
}
