#include <doctest/doctest.h>

#include <atomic>
#include <numeric>

#include "tests/client/transport/raw_peer.h"
#include "tests/client/transport/swarm.h"

using namespace starling;
using namespace starling::transport;
using namespace starling::transport::testing;

namespace {

constexpr RoundIndex kRound = 41;

std::vector<float> state_of(std::size_t floats) {
  std::vector<float> state(floats);
  std::iota(state.begin(), state.end(), 0.25F);
  return state;
}

// Holds one state and gives it to all who ask for it.
struct Holder {
  explicit Holder(std::vector<float> values, const wire::StateForm& form = {})
      : floats(std::move(values)), snapshot(std::make_shared<const StateSnapshot>(snapshot_of(kRound, floats, form))) {}
  [[nodiscard]] StateSource source() {
    return [this](RoundIndex round, const Digest& digest) {
      ++asked;
      if (hold_back.valid()) hold_back.wait();
      return round == kRound && digest == snapshot->digest ? snapshot : nullptr;
    };
  }
  std::vector<float> floats;
  std::shared_ptr<const StateSnapshot> snapshot;
  std::atomic<int> asked = 0;
  std::shared_future<void> hold_back;  // the donor does not answer before this; set it before anybody asks
};

struct Download {
  Download(const Digest& digest, std::size_t floats) : state_digest(digest), out(floats) {}
  Result<FetchNumber> start(Member& member, std::vector<wire::Endpoint> donors) {
    StateFetch fetch;
    fetch.donors = std::move(donors);
    fetch.round = kRound;
    fetch.state_digest = state_digest;
    fetch.out = out;
    fetch.form = form;
    fetch.done = [this](const Status& status) { promise.set_value(status); };
    return member.net->fetch_state(std::move(fetch));
  }
  Status wait() {
    REQUIRE(result.wait_for(kPatience) == std::future_status::ready);
    return result.get();
  }
  // Waits, and checks that the whole state is here.
  void check_got(const std::vector<float>& state) {
    const Status status = wait();
    CHECK_MESSAGE(status.ok(), (status.ok() ? "" : status.error().message));
    CHECK((out == state));
  }
  Digest state_digest;
  wire::StateForm form;
  std::vector<float> out;
  std::promise<Status> promise;
  std::future<Status> result = promise.get_future();
};

}  // namespace

TEST_CASE("a newcomer gets the state from two donors") {
  const Project project;
  Holder holder(state_of(20 * wire::kStateChunkFloats + 123));
  Member first(project, true, holder.source());
  Member second(project, true, holder.source());
  Member newcomer(project, false);
  Download download(holder.snapshot->digest, holder.floats.size());
  REQUIRE(download.start(newcomer, {first.endpoint(), second.endpoint()}).ok());
  download.check_got(holder.floats);
  CHECK(first.net->stats().state_bytes_sent + second.net->stats().state_bytes_sent >=
        static_cast<std::int64_t>(holder.floats.size() * sizeof(float)));
}

TEST_CASE("a newcomer that calls before its donor has heard of it gets the state once the coordinator has named it") {
  const Project project;
  Holder holder(state_of(3 * wire::kStateChunkFloats));
  Member donor(project, true, holder.source());
  Member newcomer(project, false);
  std::promise<void> asked;
  donor.net->name_newcomers(std::vector<PeerId>(), [&] { asked.set_value(); });
  Download download(holder.snapshot->digest, holder.floats.size());
  REQUIRE(download.start(newcomer, {donor.endpoint()}).ok());
  REQUIRE(asked.get_future().wait_for(kPatience) == std::future_status::ready);
  CHECK(download.result.wait_for(std::chrono::milliseconds(0)) != std::future_status::ready);
  donor.net->name_newcomers(std::vector{newcomer.id}, nullptr);
  download.check_got(holder.floats);
}

TEST_CASE("members of a plan may have the state without being named again") {
  const Project project;
  Holder holder(state_of(3 * wire::kStateChunkFloats));
  Members members;
  for (int i = 0; i < 2; ++i) members.push_back(std::make_unique<Member>(project, true, holder.source()));
  for (auto& member : members) member->net->name_newcomers(std::vector<PeerId>(), nullptr);
  check_exact_round(members, plan_of(members, 1000));
  Download download(holder.snapshot->digest, holder.floats.size());
  REQUIRE(download.start(*members[0], {members[1]->endpoint()}).ok());
  download.check_got(holder.floats);
}

TEST_CASE("narrow moments travel in half the bytes, and arrive as what the digest names") {
  const Project project;
  const std::size_t parameters = 7 * wire::kStateChunkFloats + 41;
  std::vector<float> state = state_of(3 * parameters);
  for (std::size_t i = parameters; i < state.size(); ++i) state[i] = static_cast<float>(i % 16) / 8;  // exact in fp8
  Holder holder(std::move(state), {parameters, wire::MomentForm::fp8});
  Member donor(project, true, holder.source());  // a single donor, so that no chunk comes twice
  Member newcomer(project, false);
  Download download(holder.snapshot->digest, holder.floats.size());
  download.form = holder.snapshot->form;
  REQUIRE(download.start(newcomer, {donor.endpoint()}).ok());
  download.check_got(holder.floats);
  const auto whole = static_cast<double>(holder.floats.size() * sizeof(float));
  CHECK(static_cast<double>(newcomer.net->stats().state_bytes_received) < 0.55 * whole);
}

TEST_CASE("a newcomer knows its upload before its first round") {
  const Project project;
  Holder holder(state_of(40 * wire::kStateChunkFloats));  // 10 MiB
  Member donor(project, true, holder.source());
  Member newcomer(project, false);
  CHECK(newcomer.net->stats().upload_bytes_per_s == 0);
  Download download(holder.snapshot->digest, holder.floats.size());
  REQUIRE(download.start(newcomer, {donor.endpoint()}).ok());
  download.check_got(holder.floats);
  wait_until([&] { return newcomer.net->stats().upload_bytes_per_s > 0; });
  CHECK(newcomer.net->stats().state_bytes_sent < 3 << 20);
  CHECK(donor.net->stats().links_up == 1);
}

TEST_CASE("a donor that lies about chunks is dropped, and the other gives what is missing") {
  const Project project;
  Holder honest(state_of(20 * wire::kStateChunkFloats));
  // This donor sends the true digests and other floats.
  std::vector<float> lies = honest.floats;
  for (float& value : lies) value += 1;
  StateSnapshot lie = *honest.snapshot;
  lie.floats = lies;
  const auto lying = std::make_shared<const StateSnapshot>(lie);
  Member liar(project, true, [&](RoundIndex, const Digest&) { return lying; });
  Member donor(project, true, honest.source());
  Member newcomer(project);
  Download download(honest.snapshot->digest, honest.floats.size());
  REQUIRE(download.start(newcomer, {liar.endpoint(), donor.endpoint()}).ok());
  download.check_got(honest.floats);
}

TEST_CASE("only liars: the download fails and says so, and nothing false was written") {
  const Project project;
  Holder other(state_of(3 * wire::kStateChunkFloats));
  Member liar(project, true, [&](RoundIndex, const Digest&) { return other.snapshot; });
  Member newcomer(project);
  Download download(Digest{{1, 2, 3}}, other.floats.size());
  REQUIRE(download.start(newcomer, {liar.endpoint()}).ok());
  CHECK(download.wait().error().code == ErrorCode::unavailable);
  CHECK(std::count(download.out.begin(), download.out.end(), 0.0F) == static_cast<long>(download.out.size()));
}

TEST_CASE("a donor dies in the middle, and the other gives the rest") {
  const Project project;
  Holder holder(state_of(200 * wire::kStateChunkFloats));
  Member dying(project, true, holder.source());
  Member donor(project, true, holder.source());
  Member newcomer(project);
  Download download(holder.snapshot->digest, holder.floats.size());
  REQUIRE(download.start(newcomer, {dying.endpoint(), donor.endpoint()}).ok());
  wait_until([&] {
    return dying.net->stats().state_bytes_sent >= 2'000'000 || donor.net->stats().state_bytes_sent >= 30'000'000;
  });
  dying.leave();
  download.check_got(holder.floats);
}

TEST_CASE("a donor that does not hold the state any more says so at once") {
  const Project project;
  Holder holder(state_of(100));
  Member donor(project, true, holder.source());
  Member newcomer(project);
  Download download(Digest{{9}}, 100);
  REQUIRE(download.start(newcomer, {donor.endpoint()}).ok());
  const Status status = download.wait();
  CHECK(status.error().code == ErrorCode::unavailable);
  CHECK(status.error().message.find("does not hold that state") != std::string::npos);
}

TEST_CASE("addresses that the policy forbids are not dialled for a download") {
  const Project project;
  const crypto::PrivateKey key = crypto::PrivateKey::generate();
  PeerNetworkOptions options = options_for(key.peer_id());
  options.addresses.allow_loopback = false;
  Member careful(options, key, project.context(project.identity(key)), nullptr);
  Holder holder(state_of(100));
  Member donor(project, true, holder.source());
  Download download(holder.snapshot->digest, 100);
  REQUIRE(download.start(careful, {donor.endpoint()}).ok());
  CHECK(download.wait().error().message.find("this machine itself") != std::string::npos);
  CHECK(donor.net->stats().links_up == 0);
  CHECK(holder.asked == 0);
}

TEST_CASE("one download of a state at a time; a cancelled one is over at once") {
  const Project project;
  Holder holder(state_of(50 * wire::kStateChunkFloats));
  std::promise<void> go_on;
  holder.hold_back = go_on.get_future().share();
  Member donor(project, true, holder.source());
  Member newcomer(project);
  {
    Download cancelled(holder.snapshot->digest, holder.floats.size());
    const auto begun = cancelled.start(newcomer, {donor.endpoint()});
    REQUIRE(begun.ok());
    Download second(holder.snapshot->digest, holder.floats.size());
    const auto refused = second.start(newcomer, {donor.endpoint()});
    newcomer.net->cancel_fetch(*begun);
    go_on.set_value();
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::failed_precondition);
  }
  Download download(holder.snapshot->digest, holder.floats.size());
  REQUIRE(download.start(newcomer, {donor.endpoint()}).ok());
  download.check_got(holder.floats);
}

TEST_CASE("several states come from one donor at a time, and the end of one download leaves the others") {
  const Project project;
  std::vector<std::unique_ptr<Holder>> holders;
  for (std::size_t i = 0; i < 3; ++i) {
    holders.push_back(std::make_unique<Holder>(state_of((10 + i) * wire::kStateChunkFloats + i)));
  }
  Member donor(project, true, [&holders](RoundIndex, const Digest& digest) -> std::shared_ptr<const StateSnapshot> {
    for (const auto& holder : holders) {
      if (holder->snapshot->digest == digest) return holder->snapshot;
    }
    return nullptr;
  });
  Member newcomer(project);
  std::vector<std::unique_ptr<Download>> downloads;
  std::vector<FetchNumber> numbers;
  for (const auto& holder : holders) {
    downloads.push_back(std::make_unique<Download>(holder->snapshot->digest, holder->floats.size()));
    const auto begun = downloads.back()->start(newcomer, {donor.endpoint()});
    REQUIRE(begun.ok());
    numbers.push_back(*begun);
  }
  newcomer.net->cancel_fetch(numbers[1]);
  downloads[0]->check_got(holders[0]->floats);
  downloads[2]->check_got(holders[2]->floats);
  newcomer.net->cancel_fetch(numbers[0]);  // it has ended, so nothing changes
  Download again(holders[1]->snapshot->digest, holders[1]->floats.size());
  REQUIRE(again.start(newcomer, {donor.endpoint()}).ok());
  again.check_got(holders[1]->floats);
}

TEST_CASE("a download may be cancelled where its progress is told") {
  const Project project;
  Holder holder(state_of(40 * wire::kStateChunkFloats));
  Member donor(project, true, holder.source());
  Member newcomer(project);
  std::vector<float> out(holder.floats.size());
  std::promise<StateProgress> told;
  std::promise<FetchNumber> begun;
  StateFetch fetch;
  fetch.donors = {donor.endpoint()};
  fetch.round = kRound;
  fetch.state_digest = holder.snapshot->digest;
  fetch.out = out;
  std::atomic<bool> done = false;
  fetch.done = [&](const Status&) { done = true; };
  fetch.progress = [&, number = begun.get_future().share()](const StateProgress& progress) {
    newcomer.net->cancel_fetch(number.get());
    told.set_value(progress);
  };
  const auto number = newcomer.net->fetch_state(std::move(fetch));
  REQUIRE(number.ok());
  begun.set_value(*number);
  auto result = told.get_future();
  REQUIRE(result.wait_for(kPatience) == std::future_status::ready);
  CHECK(result.get().chunks_total == 40);
  CHECK_FALSE(done);
}

TEST_CASE("many newcomers share few slots, and all of them end") {
  const Project project;
  Holder holder(state_of(30 * wire::kStateChunkFloats));
  Member donor(project, true, holder.source());
  std::vector<std::unique_ptr<Member>> newcomers;
  std::vector<std::unique_ptr<Download>> downloads;
  for (int i = 0; i < 9; ++i) {
    newcomers.push_back(std::make_unique<Member>(project, false));
    downloads.push_back(std::make_unique<Download>(holder.snapshot->digest, holder.floats.size()));
    REQUIRE(downloads.back()->start(*newcomers.back(), {donor.endpoint()}).ok());
  }
  for (const auto& download : downloads) {
    download->check_got(holder.floats);
  }
}

TEST_CASE("a peer that asks and never reads is cut off") {
  const Project project;
  Holder holder(state_of(1000 * wire::kStateChunkFloats));
  Member donor(project, true, holder.source());
  RawPeer asker(donor.net->port(), project.context(project.identity(crypto::PrivateKey::generate())));
  asker.say_hello();
  wire::StateRequest request;
  request.round = kRound;
  request.state_digest = holder.snapshot->digest;
  const auto bytes = wire::encode(request);
  for (int i = 0; i < 2000; ++i) {  // each request gets 32 KB of digests
    asker.send_header(wire::FrameType::state_request, bytes.size());
    asker.send(bytes);
  }
  CHECK(asker.is_cut_off());
}

TEST_CASE("requests for chunks that no state has end the link, not the donor") {
  const Project project;
  Holder holder(state_of(100));
  Member donor(project, true, holder.source());
  RawPeer asker(donor.net->port(), project.context(project.identity(crypto::PrivateKey::generate())));
  asker.say_hello();
  wire::StateRequest request;
  request.round = kRound;
  request.state_digest = holder.snapshot->digest;
  request.first_chunk = 5;
  request.chunk_count = 1;
  const auto bytes = wire::encode(request);
  asker.send_header(wire::FrameType::state_request, bytes.size());
  asker.send(bytes);
  CHECK(asker.is_cut_off());
  Member newcomer(project);
  Download download(holder.snapshot->digest, 100);
  REQUIRE(download.start(newcomer, {donor.endpoint()}).ok());
  CHECK(download.wait().ok());
}
