#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "client/serving/desk.h"
#include "tests/client/serving/callers.h"

using namespace starling;
using namespace starling::serving;

namespace {

// Callers who do whatever comes to their minds, and a trainer that fails at times.
struct Storm {
  explicit Storm(unsigned seed) : random(seed), options(options_of(seed)), desk(options) {
    for (wire::CellIndex cell = 0; cell < 2; ++cell) desk.hold(cell, kExperts, 0);
  }

  static DeskOptions options_of(unsigned seed) {
    DeskOptions options;
    options.width = kWidth;
    options.bytes_max = 500 + 100 * (seed % 20);
    options.keep = std::chrono::seconds(2);
    options.calls_max_per_caller = 6;
    options.batch_units = 1 + seed % 30;
    return options;
  }

  int chance(int below) { return std::uniform_int_distribution<>(0, below - 1)(random); }

  Call new_call() {
    Call call{.key = key_of(1 + chance(4), next++)};
    call.cell = chance(2);
    call.inputs = 1 + chance(4);
    call.budget = from_ms(50 + chance(3000));
    for (std::int32_t row = 0; row < call.inputs; ++row) call.rows.push_back(row);
    for (int more = chance(5); more > 0; --more) call.rows.push_back(chance(call.inputs));
    std::ranges::shuffle(call.rows, random);
    call.counts.assign(kExperts, 0);
    for (std::size_t unit = 0; unit < call.rows.size(); ++unit)
      ++call.counts[static_cast<std::size_t>(chance(kExperts))];
    if (chance(4) == 0) call.is_back = true;
    if (answered_forth.empty() || chance(2) == 0) return call;
    const int age = chance(static_cast<int>(std::min<std::size_t>(answered_forth.size(), 5)));
    return back_of(answered_forth[answered_forth.size() - 1 - static_cast<std::size_t>(age)], next++);
  }

  void call_once() {
    const Call call = new_call();
    const Admission admission = desk.admit(now, call);
    if (!admission.refusal) {
      open.emplace(call.key, call);
      ++accepted;
      return;
    }
    if (admission.refusal->reason == Refusal::Reason::busy) {
      CHECK(admission.refusal->wait > Duration{});
    }
  }

  // The values of some calls come; those of a call are the same wherever it is computed.
  void receive() {
    for (const auto& [key, call] : open) {
      if (chance(2) == 0) continue;
      const std::size_t floats = desk.floats_to_come(key);
      if (floats == 0) continue;
      std::vector<float> all;
      while (all.size() < floats) all.push_back(static_cast<float>(chance(100)));
      const auto inputs = call.kept ? 0 : static_cast<std::ptrdiff_t>(call.inputs) * std::ptrdiff_t{kWidth};
      if (!call.kept) values[key].assign(all.begin(), all.begin() + inputs);
      if (call.is_back) upstream[key].assign(all.begin() + inputs, all.end());
      CHECK(desk.on_received(key, all).ok());
    }
  }

  void ended(const CallKey& key) { REQUIRE(open.erase(key) == 1); }

  void compute() {
    if (!batch) batch = desk.take(now);
    if (!batch || chance(3) == 0) return;
    const Batch done = *std::exchange(batch, std::nullopt);
    if (chance(10) == 0) {
      for (const CallKey& key : desk.on_computing_failed()) ended(key);
      return;
    }
    for (const Answered& one : desk.on_computed(now, 0.001 * chance(100), computed(done))) {
      const Call call = open.at(one.key);
      const CallKey source{one.key.caller, call.kept.value_or(one.key.id)};
      CHECK(one.values == computed(call.is_back, Share{call.counts, call.rows, values.at(source), upstream[one.key]}));
      CHECK(computed_keys.insert(one.key).second);
      if (call.kept) ++answered_with_kept;
      ended(one.key);
      if (!call.is_back) answered_forth.push_back(call);
    }
  }

  void surprise() {
    const int what = chance(60);
    if (what < 6 && !open.empty()) {
      const CallKey key = std::next(open.begin(), chance(static_cast<int>(open.size())))->first;
      desk.drop(key);
      ended(key);
    }
    if (what == 7) {
      const PeerId caller = peer(1 + chance(4));
      desk.on_gone(caller);
      std::erase_if(open, [&caller](const auto& entry) { return entry.first.caller == caller; });
    }
    if (what == 8) {
      for (const CallKey& key : desk.let_go(1)) ended(key);
      desk.hold(1, kExperts, 0);
    }
    if (what == 9) {
      for (const CallKey& key : desk.pause()) ended(key);
      CHECK(open.empty());
      batch.reset();
      desk.resume();
    }
  }

  void pass_time() {
    now += from_ms(chance(100));
    desk.on_timer(now);
    CHECK(desk.next_deadline() > now);
    for (const CallKey& key : desk.take_expired()) ended(key);
  }

  void check() {
    CHECK(desk.bytes() <= options.bytes_max);
    CHECK(desk.view(now).calls == open.size());
  }

  std::mt19937 random;
  DeskOptions options;
  Desk desk;
  TimePoint now = kStart;
  int next = 0;
  int accepted = 0;
  int answered_with_kept = 0;
  std::map<CallKey, Call> open;
  std::map<CallKey, std::vector<float>> values, upstream;
  std::vector<Call> answered_forth;
  std::set<CallKey> computed_keys;
  std::optional<Batch> batch;
};

}  // namespace

TEST_CASE("whatever callers do, memory stays within its bound, and each call ends once") {
  int accepted = 0, with_kept = 0;
  std::size_t answered = 0, answered_back = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Storm storm(seed);
    for (int step = 0; step < 150; ++step) {
      for (int calls = storm.chance(4); calls > 0; --calls) storm.call_once();
      for (const CallKey& key : storm.desk.take_expired()) storm.ended(key);
      storm.check();
      storm.receive();
      storm.compute();
      for (const CallKey& key : storm.desk.take_expired()) storm.ended(key);
      storm.check();
      storm.surprise();
      storm.pass_time();
      storm.check();
    }
    accepted += storm.accepted;
    with_kept += storm.answered_with_kept;
    answered += storm.computed_keys.size();
    answered_back += storm.computed_keys.size() - storm.answered_forth.size();
    // Once everybody is gone, nothing is left.
    for (const CallKey& key : storm.desk.on_computing_failed()) storm.ended(key);
    for (int caller = 1; caller <= 4; ++caller) storm.desk.on_gone(peer(caller));
    CHECK(storm.desk.bytes() == 0);
    CHECK(storm.desk.next_deadline() == kNever);
  }
  CHECK(accepted > 10000);
  CHECK(answered > 5000);
  CHECK(answered_back > 500);
  CHECK(with_kept > 500);
}
