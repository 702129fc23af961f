// Calls to experts, over real TLS on loopback.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <map>
#include <mutex>
#include <optional>

#include "client/averaging/codec.h"
#include "tests/client/transport/raw_peer.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;

namespace {

constexpr std::size_t kWidth = 96;

Hash128 id_of(std::uint8_t number) {
  Hash128 id;
  id.bytes.fill(number);
  return id;
}

// Each row at one expert of its own, which are two.
wire::Call call_of(std::int32_t rows, bool is_back = false) {
  wire::Call call{.cell = 3, .is_back = is_back, .round = 7};
  call.counts = {rows / 2, rows - rows / 2};
  for (std::int32_t row = 0; row < rows; ++row) call.rows.push_back(row);
  call.inputs = rows;
  call.budget_ms = 10'000;
  return call;
}

// Gives each value back, and one more.
class Echo final : public CallTaker {
 public:
  explicit Echo(Member& holder) : member(holder) { member.net->take_calls_by(this); }
  ~Echo() override {
    if (member.net) member.net->take_calls_by(nullptr);
  }

  [[nodiscard]] std::size_t width() const override { return kWidth; }
  Result<std::optional<wire::Refusal>> admit(const PeerId& caller, const Hash128& id, const wire::Call& call) override {
    const std::lock_guard lock(mutex);
    if (is_offended) return Error{ErrorCode::corrupt, "an impossible call"};
    if (refusal) return refusal;
    calls[{caller, id}] = call;
    return std::optional<wire::Refusal>();
  }
  Status received(const PeerId& caller, const Hash128& id, std::vector<float> values, wire::Codec codec) override {
    ++whole;
    if (is_silent) return {};
    OutgoingAnswer answer{.caller = caller, .id = id, .answer = {.state_round = 6, .compute_ms = 5}, .codec = codec};
    const std::lock_guard lock(mutex);
    values.resize(wire::answer_floats(calls.at({caller, id}), kWidth));
    for (float& value : values) value += 1;
    answer.values = values;
    member.net->answer(std::move(answer));
    return {};
  }
  void called_off(const PeerId& /*caller*/, const Hash128& /*id*/) override { ++off; }
  Status weighed(const PeerId& /*caller*/, const wire::Weights& told) override {
    const std::lock_guard lock(mutex);
    weights = told;
    return {};
  }
  void gone(const PeerId& /*caller*/) override { ++lost; }

  Member& member;
  std::mutex mutex;
  std::map<std::pair<PeerId, Hash128>, wire::Call> calls;
  std::optional<wire::Refusal> refusal;
  std::optional<wire::Weights> weights;
  bool is_offended = false;
  std::atomic<bool> is_silent = false;
  std::atomic<int> whole = 0, off = 0, lost = 0;
};

struct Pending {
  explicit Pending(Member& holder, std::uint8_t number, const wire::Call& call, wire::Codec codec = wire::Codec::fp32) {
    outgoing = {.holder = holder.id, .id = id_of(number), .call = call, .codec = codec, .width = kWidth};
    sent.resize(wire::call_floats(call, kWidth));
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<float>(i % 1000);
    outgoing.values = sent;
    outgoing.done = [promise = promise](CallOutcome outcome) { promise->set_value(std::move(outcome)); };
  }
  Pending& start(Member& caller) {
    caller.net->call(outgoing);
    return *this;
  }
  CallOutcome wait() {
    REQUIRE(result.wait_for(kPatience) == std::future_status::ready);
    return result.get();
  }
  OutgoingCall outgoing;
  std::vector<float> sent;
  std::shared_ptr<std::promise<CallOutcome>> promise = std::make_shared<std::promise<CallOutcome>>();
  std::future<CallOutcome> result = promise->get_future();
};

// A caller and a holder with a link between them.
struct Pair {
  Pair() : caller(project, false), holder(project) { link(); }
  void link() {
    caller.net->link_with_holders({holder.endpoint()}, caller.endpoint());
    wait_until([this] { return caller.net->stats().links_up == 1; });
  }
  Project project;
  Member caller, holder;
};

}  // namespace

TEST_CASE("values go to a holder and come back, however many there are") {
  Pair pair;
  Echo echo(pair.holder);
  std::vector<std::unique_ptr<Pending>> all;
  for (std::uint8_t number = 1; number <= 12; ++number) {
    const std::int32_t rows = number % 3 == 0 ? 9000 : 3 * number;  // the long ones have four chunks
    all.push_back(std::make_unique<Pending>(pair.holder, number, call_of(rows, number % 2 == 0)));
    all.back()->start(pair.caller);
  }
  for (const auto& pending : all) {
    const CallOutcome outcome = pending->wait();
    REQUIRE_MESSAGE(outcome.answer, outcome.failure);
    CHECK(outcome.answer->state_round == 6);
    std::vector<float> expected = pending->sent;
    expected.resize(outcome.values.size());
    for (float& value : expected) value += 1;
    CHECK((outcome.values == expected));
  }
  CHECK(pair.caller.net->stats().call_bytes_sent > 4 * 9000 * static_cast<std::int64_t>(kWidth * sizeof(float)));
  CHECK(pair.holder.net->stats().call_bytes_received >= pair.caller.net->stats().call_bytes_sent);
}

TEST_CASE("int8 takes a quarter of the bytes, and rounds values as averagings do") {
  Pair pair;
  Echo echo(pair.holder);
  Pending pending(pair.holder, 1, call_of(4000), wire::Codec::int8);
  const CallOutcome outcome = pending.start(pair.caller).wait();
  REQUIRE(outcome.answer);
  double worst = 0;
  for (std::size_t i = 0; i < outcome.values.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(outcome.values[i]) - pending.sent[i] - 1));
  }
  CHECK(worst <= 2 * 1000.0 / 253 + 1e-3);  // both ways, a block's largest value is 1000
  CHECK(pair.caller.net->stats().call_bytes_sent < 1.1 * 4000 * kWidth);
}

TEST_CASE("a refusal says why, and without a taker no cell is held") {
  Pair pair;
  const CallOutcome nobody = Pending(pair.holder, 1, call_of(5000)).start(pair.caller).wait();
  REQUIRE(nobody.refusal);
  CHECK(nobody.refusal->reason == wire::RefusalReason::not_held);
  Echo echo(pair.holder);
  {
    const std::lock_guard lock(echo.mutex);
    echo.refusal = wire::Refusal{wire::RefusalReason::busy, 250};
  }
  const CallOutcome busy = Pending(pair.holder, 2, call_of(5000)).start(pair.caller).wait();
  CHECK(busy.refusal == wire::Refusal{wire::RefusalReason::busy, 250});
  {
    const std::lock_guard lock(echo.mutex);
    echo.refusal.reset();
  }
  // Values of refused calls that were on their way disturb nothing.
  CHECK(Pending(pair.holder, 3, call_of(10)).start(pair.caller).wait().answer);
  CHECK(echo.whole == 1);
}

TEST_CASE("a call fails without a link, with the link, and not at all once it was called off") {
  Pair pair;
  Echo echo(pair.holder);
  Member stranger(pair.project, false);
  CHECK_FALSE(Pending(stranger, 1, call_of(4)).start(pair.caller).wait().failure.empty());
  echo.is_silent = true;
  Pending off(pair.holder, 2, call_of(4)), open(pair.holder, 3, call_of(4));
  off.start(pair.caller);
  open.start(pair.caller);
  wait_until([&] { return echo.whole == 2; });
  pair.caller.net->call_off(pair.holder.id, id_of(2));
  wait_until([&] { return echo.off == 1; });
  pair.holder.net->answer(
      {.caller = pair.caller.id, .id = id_of(2), .codec = wire::Codec::fp32, .values = std::vector<float>(4 * kWidth)});
  pair.holder.leave();
  CHECK_FALSE(open.wait().failure.empty());
  CHECK(off.result.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
}

TEST_CASE("a holder has no more calls open than it takes from one caller, and the others wait for their turn") {
  Pair pair;
  Echo echo(pair.holder);
  echo.is_silent = true;
  std::vector<std::unique_ptr<Pending>> all;
  for (std::uint8_t number = 1; number <= wire::kCallsOpenMax + 3; ++number) {
    all.push_back(std::make_unique<Pending>(pair.holder, number, call_of(4)));
    all.back()->start(pair.caller);
  }
  wait_until([&] { return echo.whole == wire::kCallsOpenMax; });
  const auto answer = [&](std::uint8_t number) {
    pair.holder.net->answer({.caller = pair.caller.id,
                             .id = id_of(number),
                             .codec = wire::Codec::fp32,
                             .values = std::vector<float>(4 * kWidth)});
    CHECK(all[number - 1]->wait().answer);
  };
  answer(5);  // makes room for the first one that waits
  wait_until([&] { return echo.whole == wire::kCallsOpenMax + 1; });
  pair.caller.net->call_off(pair.holder.id, id_of(wire::kCallsOpenMax + 2));  // it waits, and is not sent any more
  pair.caller.net->call_off(pair.holder.id, id_of(1));
  wait_until([&] { return echo.whole == wire::kCallsOpenMax + 2; });
  answer(wire::kCallsOpenMax + 1);
  answer(wire::kCallsOpenMax + 3);
  CHECK(echo.whole == wire::kCallsOpenMax + 2);
}

TEST_CASE("a caller that breaks the protocol is cut off, and what it had open is given up") {
  Pair pair;
  Echo echo(pair.holder);
  echo.is_silent = true;
  Pending open(pair.holder, 1, call_of(4));
  open.start(pair.caller);
  wait_until([&] { return echo.whole == 1; });
  {
    const std::lock_guard lock(echo.mutex);
    echo.is_offended = true;
  }
  Pending offence(pair.holder, 2, call_of(4));
  offence.start(pair.caller);
  CHECK_FALSE(offence.wait().failure.empty());
  CHECK_FALSE(open.wait().failure.empty());
  wait_until([&] { return echo.lost == 1; });
}

TEST_CASE("weights reach the holder") {
  Pair pair;
  Echo echo(pair.holder);
  const wire::Weights told{.round = 4, .cells = {1, 3}, .samples = {16, 12}};
  pair.caller.net->weigh(pair.holder.id, told);
  wait_until([&] {
    const std::lock_guard lock(echo.mutex);
    return echo.weights == told;
  });
}

TEST_CASE("a round and calls share the links, and both are exact") {
  const Project project;
  Members members = make_members(project, 3);
  std::vector<wire::Endpoint> all;
  for (const auto& member : members) all.push_back(member->endpoint());
  std::vector<std::unique_ptr<Echo>> echoes;
  for (const auto& member : members) {
    echoes.push_back(std::make_unique<Echo>(*member));
    member->net->link_with_holders(all, member->endpoint());
  }
  for (const auto& member : members) wait_until([&] { return member->net->stats().links_up == 2; });
  std::vector<std::unique_ptr<Pending>> calls;
  for (std::uint8_t number = 1; number <= 12; ++number) {
    Member& holder = *members[number % 3];
    calls.push_back(std::make_unique<Pending>(holder, number, call_of(6000)));
    calls.back()->start(*members[(number + 1) % 3]);
  }
  check_exact_round(members, plan_of(members, 2'000'000));
  for (const auto& pending : calls) {
    const CallOutcome outcome = pending->wait();
    CHECK_MESSAGE(outcome.answer, outcome.failure);
  }
}

namespace {

// A peer that has said hello and sends frames about calls as it likes.
struct Liar {
  Liar() : holder(project), echo(holder), peer(holder.net->port(), project.context(project.identity(key))) {
    peer.say_hello();
  }
  void send(wire::FrameType type, std::span<const std::uint8_t> payload, std::uint32_t segment = 0,
            wire::Codec codec = wire::Codec::fp32) {
    GroupId group;
    group.bytes.fill(9);
    std::vector<std::uint8_t> bytes = peer.header(type, payload.size(), group);
    bytes[2] = static_cast<std::uint8_t>(codec);
    bytes[24] = static_cast<std::uint8_t>(segment);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    peer.send(bytes);
  }
  void begin_call() { send(wire::FrameType::call, wire::encode(call_of(4))); }
  std::vector<std::uint8_t> chunk(float value = 1) const {
    const std::vector<float> values(4 * kWidth, value);
    std::vector<std::uint8_t> bytes(wire::encoded_bytes(wire::Codec::fp32, values.size()));
    averaging::encode(wire::Codec::fp32, values, bytes);
    return bytes;
  }
  Project project;
  crypto::PrivateKey key = crypto::PrivateKey::generate();
  Member holder;
  Echo echo;
  RawPeer peer;
};

}  // namespace

TEST_CASE("frames that no caller sends cut the link") {
  SUBCASE("a call of bytes that are none") {
    Liar liar;
    liar.send(wire::FrameType::call, std::vector<std::uint8_t>{1, 2, 3});
    CHECK(liar.peer.is_cut_off());
  }
  SUBCASE("a call twice") {
    Liar liar;
    liar.begin_call();
    liar.begin_call();
    CHECK(liar.peer.is_cut_off());
  }
  SUBCASE("a chunk that the call has not") {
    Liar liar;
    liar.begin_call();
    liar.send(wire::FrameType::call_data, liar.chunk(), 1);
    CHECK(liar.peer.is_cut_off());
  }
  SUBCASE("a chunk of another size") {
    Liar liar;
    liar.begin_call();
    liar.send(wire::FrameType::call_data, std::vector<std::uint8_t>(100));
    CHECK(liar.peer.is_cut_off());
  }
  SUBCASE("values that are not finite") {
    Liar liar;
    liar.begin_call();
    liar.send(wire::FrameType::call_data, liar.chunk(INFINITY));
    CHECK(liar.peer.is_cut_off());
  }
  SUBCASE("a codec that leaves values out") {
    Liar liar;
    liar.begin_call();
    liar.send(wire::FrameType::call_data,
              std::vector<std::uint8_t>(wire::encoded_bytes(wire::Codec::sparse, 4 * kWidth)), 0, wire::Codec::sparse);
    CHECK(liar.peer.is_cut_off());
  }
  SUBCASE("answers that nobody asked for are skipped") {
    Liar liar;
    liar.send(wire::FrameType::answer, wire::encode(wire::Answer{}));
    liar.send(wire::FrameType::answer_data, liar.chunk());
    liar.send(wire::FrameType::refusal, wire::encode(wire::Refusal{}));
    liar.send(wire::FrameType::call_data, liar.chunk());
    liar.begin_call();
    liar.send(wire::FrameType::call_data, liar.chunk());
    CHECK(liar.peer.next_frame() == wire::FrameType::answer);
    CHECK(liar.peer.next_frame() == wire::FrameType::answer_data);
  }
}
