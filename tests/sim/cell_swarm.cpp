#include "tests/sim/cell_swarm.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shared/base/log.h"
#include "shared/base/permutation.h"
#include "tests/sim/cell_checks.h"
#include "tests/sim/cell_dealer.h"
#include "tests/sim/cell_model.h"
#include "tests/sim/cell_rounds.h"
#include "tests/sim/cell_volunteer.h"
#include "tests/sim/network.h"

namespace starling::sim {
namespace {

constexpr Duration kCallDeadline = std::chrono::seconds(5);
// Without a word from the other end a link is taken for lost.
constexpr Duration kSilence = std::chrono::seconds(15);
constexpr Duration kLooksEvery = std::chrono::milliseconds(250);
constexpr Duration kWellWithin = std::chrono::seconds(10);  // longer than a lost call keeps a holder out
// A sole holder may finish a round between the moment at which its cell is taken over and the one at which it hears of
// that. Then it takes the newest state away: its run waits for it for 30 s, and goes on from the state before 10 s
// later.
constexpr Duration kSoleWellWithin = std::chrono::seconds(55);
constexpr double kTrunkRoundS = 5;  // a sample counts in the trunk at most so much later than its window ends
// Receipts are lost with callers that die.
constexpr double kUnconfirmedMax = 0.1;
constexpr double kSlowest = 0.02;  // the lowest fraction of a trainer's usual speed
constexpr int kCallsInARow = 2;
constexpr std::size_t kFirstWindows = 20;
constexpr std::size_t kEventsWaitingMax = 1'000'000;

class CellSwarm final : private CellWorld,
                        private CellPost::Directory,
                        private Network::Mediator,
                        private core::KnownHosts {
 public:
  CellSwarm(const CellSwarmOptions& options, wire::RunManifest run)
      : options_(options),
        run_(std::move(run)),
        rng_(options.seed),
        network_(scheduler_, *this),
        checks_(options_, run_),
        dealer_(scheduler_, options_, run_, checks_, *this) {}

  CellSwarmResult run(const std::function<void(double)>& on_progress);

 private:
  Scheduler& scheduler() override { return scheduler_; }
  Network& network() override { return network_; }
  [[nodiscard]] const CellSwarmOptions& options() const override { return options_; }
  [[nodiscard]] const wire::RunManifest& run() const override { return run_; }
  CellPost::Directory& directory() override { return *this; }
  CellChecks& checks() override { return checks_; }
  CellSwarmResult& result() override { return result_; }
  void deliver_offer(CellVolunteer& from, const wire::Computing& told) override;
  void begin_cell(CellVolunteer& holder, wire::CellIndex cell) override;
  void end_cell(CellVolunteer& holder, wire::CellIndex cell) override;
  void on_holders(wire::CellIndex cell) override { dealer_.set_ready(cell, rounds_of(cell).holders()); }
  // Two computers each.
  [[nodiscard]] AccountId account_of(int volunteer) const override { return 1 + volunteer / 2; }
  [[nodiscard]] bool is_liar(int volunteer) const override { return volunteer >= options_.peers - 2 * options_.liars; }
  std::span<const float> parameters(const CellVolunteer& holder, wire::CellIndex cell) override {
    return rounds_of(cell).parameters(holder.index());
  }
  void on_window(const CellVolunteer& caller, const routing::Window::Outcome& outcome) override;
  SampleCount earning(wire::CellIndex cell, AccountId account, SampleCount samples) override;
  void on_weights(CellVolunteer& holder, wire::CellIndex cell) override {
    rounds_of(cell).on_gradients(holder.index());
  }

  [[nodiscard]] std::optional<AccountId> account_of(const PeerId& peer) const override {
    const auto found = by_id_.find(peer);
    return found != by_id_.end() ? std::optional<AccountId>(account_of(found->second)) : std::nullopt;
  }
  [[nodiscard]] core::AccountStanding standing_of(AccountId /*account*/) const override { return {}; }
  [[nodiscard]] bool has_signed(const PeerId& /*peer*/, std::span<const std::uint8_t> /*text*/,
                                const PeerSignature& /*signature*/) const override {
    return true;
  }

  int index_of(const PeerId& peer) override { return by_id_.at(peer); }
  const PeerId& id_of(int index) override { return volunteer(index).id(); }
  std::uint64_t life_of(int index) override { return volunteer(index).up() ? volunteer(index).life() : 0; }

  void on_arrived(const Frame& frame) override {
    if (frame.channel == kCallChannel) return volunteer(frame.to).on_frame(frame);
    rounds_of(frame.channel).on_frame(frame);
  }
  void on_uplink_free(int index) override;

  wire::Computing lied(const wire::Computing& told, int volunteer) const;
  void note_confirmed(const wire::CallReceipts& receipts);
  void check_credit();
  void add_volunteers();
  CellRounds& rounds_of(wire::CellIndex cell) { return *rounds_[static_cast<std::size_t>(cell)]; }
  void start_coordinator();
  void crash_coordinator();
  // `reset`: its system tells the others that the links are gone.
  void crash(CellVolunteer& volunteer, bool reset, Duration down);
  void plan_faults();
  void fault();
  void strike(CellVolunteer& volunteer, double kind);
  void pause(CellVolunteer& volunteer, bool paused);
  void look();
  [[nodiscard]] bool has_room_for_all() const;
  void check_well();
  CellVolunteer& volunteer(int index) { return *volunteers_[static_cast<std::size_t>(index)]; }
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng_); }
  CellVolunteer& random_volunteer() {
    return *volunteers_[std::uniform_int_distribution<std::size_t>(0, volunteers_.size() - 1)(rng_)];
  }

  CellSwarmOptions options_;
  wire::RunManifest run_;
  std::mt19937_64 rng_;
  Scheduler scheduler_;
  Network network_;
  CellChecks checks_;
  CellDealer dealer_;
  CellSwarmResult result_;
  std::vector<std::unique_ptr<CellVolunteer>> volunteers_;
  std::unordered_map<PeerId, int> by_id_;
  std::vector<std::int64_t> cell_bytes_;             // the volunteers' memory for cells
  std::vector<int> calls_in_a_row_;                  // by volunteer: frames since the last one of a round
  std::vector<std::unique_ptr<CellRounds>> rounds_;  // by cell
  SampleCount confirmed_to_liars_ = 0;               // by others' receipts
  SampleCount trained_by_liars_ = 0;
  std::vector<double> losses_;                    // a sample's, by window
  std::map<wire::CellIndex, TimePoint> held_at_;  // when somebody had the state last
  std::set<wire::CellIndex> covered_;             // seen with all holders near the end
  std::vector<std::int64_t> windows_before_calm_;
  std::vector<RoundIndex> rounds_before_calm_;
};

void CellSwarm::add_volunteers() {
  const auto cells = static_cast<wire::CellIndex>(wire::cells_of(run_.model).size());
  result_.cells = cells;
  std::int64_t all = 0, largest = 0;
  for (wire::CellIndex cell = 0; cell < cells; ++cell) {
    all += wire::held_bytes(run_, cell);
    largest = std::max(largest, wire::held_bytes(run_, cell));
  }
  const double share = options_.memory * options_.holders * static_cast<double>(all) / options_.peers;
  for (int index = 0; index < options_.peers; ++index) {
    LinkRates rates;
    rates.upload_bytes_per_s = uniform(options_.upload_mbit_min, options_.upload_mbit_max) * 1e6 / 8;
    rates.download_bytes_per_s = rates.upload_bytes_per_s * uniform(1, 5);
    rates.latency = from_seconds(uniform(options_.latency_ms_min, options_.latency_ms_max) / 2000);
    network_.add_peer(rates);
    CellVolunteer::Means means;
    for (std::uint8_t& byte : means.id.bytes) byte = static_cast<std::uint8_t>(rng_());
    means.index = index;
    const auto bytes = static_cast<std::int64_t>(share * uniform(0.7, 1.3));
    means.cell_bytes = std::clamp(bytes, largest, all);
    means.units_per_s = uniform(options_.units_per_s_min, options_.units_per_s_max);
    cell_bytes_.push_back(means.cell_bytes);
    by_id_[means.id] = index;
    CellWorld& world = *this;
    volunteers_.push_back(std::make_unique<CellVolunteer>(world, means));
    scheduler_.after(from_seconds(uniform(0, 3)), [this, index] { volunteer(index).start(); });
  }
  calls_in_a_row_.assign(volunteers_.size(), 0);
  for (wire::CellIndex cell = 0; cell < cells; ++cell) {
    CellWorld& world = *this;
    rounds_.push_back(std::make_unique<CellRounds>(world, volunteers_, cell));
  }
}

// Calls take two of three turns while a round has something to send (client/transport/calls.h).
void CellSwarm::on_uplink_free(int index) {
  int& in_a_row = calls_in_a_row_[static_cast<std::size_t>(index)];
  if (in_a_row < kCallsInARow && volunteer(index).pump()) {
    ++in_a_row;
    return;
  }
  in_a_row = 0;
  for (const auto& rounds : rounds_) {
    if (network_.uplink_free(index)) rounds->pump(index);
  }
  volunteer(index).pump();
}

// One volunteer in eight cannot be dialled.
void CellSwarm::deliver_offer(CellVolunteer& from, const wire::Computing& told) {
  Duration way = network_.rates(from.index()).latency + std::chrono::milliseconds(5);
  if (uniform(0, 1) < options_.calls_delayed) way += from_seconds(uniform(0.2, 1.5));
  const bool request_lost = uniform(0, 1) < options_.calls_lost;
  const bool reply_lost = uniform(0, 1) < options_.calls_lost;
  const auto reply_to = [this, to = &from, life = from.life()](const Result<wire::CellsDealt>& reply, Duration later) {
    scheduler_.after(later, [to, life, reply] {
      if (to->up() && to->life() == life) to->on_dealt(reply);
    });
  };
  scheduler_.after(way, [this, way, request_lost, reply_lost, reply_to, index = from.index(), told] {
    const Error nothing{ErrorCode::unavailable, "no answer from the coordinator"};
    if (!dealer_.up()) return reply_to(nothing, way);
    if (request_lost) return reply_to(nothing, kCallDeadline);
    const core::MemberIdentity who{id_of(index), account_of(index), "192.0.2.1"};
    const wire::Endpoint at{who.peer, who.address, index % 8 == 7 ? 0 : 1000 + index};
    if (told.receipts && !is_liar(index)) note_confirmed(*told.receipts);
    const wire::CellsDealt dealt =
        dealer_.on_offer(who, {at, volunteer(index).paused(), network_.rates(index).upload_bytes_per_s},
                         is_liar(index) ? lied(told, index) : told);
    if (reply_lost) return reply_to(nothing, kCallDeadline);
    reply_to(dealt, way);
  });
}

void CellSwarm::begin_cell(CellVolunteer& holder, wire::CellIndex cell) { rounds_of(cell).begin(holder.index()); }

void CellSwarm::end_cell(CellVolunteer& holder, wire::CellIndex cell) {
  rounds_of(cell).farewell(holder.index());
  rounds_of(cell).end(holder.index(), /*keep=*/false, /*reset=*/true);
}

// All receipts are for its account's own computers, and of ten times as many samples.
wire::Computing CellSwarm::lied(const wire::Computing& told, int volunteer) const {
  wire::Computing lie = told;
  if (!lie.receipts) return lie;
  for (wire::HolderReceipt& receipt : lie.receipts->holders) {
    receipt.holder = volunteers_[static_cast<std::size_t>(volunteer)]->id();
    for (wire::CellSamples& computed : receipt.cells) computed.samples *= 10;
  }
  return lie;
}

void CellSwarm::note_confirmed(const wire::CallReceipts& receipts) {
  for (const wire::HolderReceipt& receipt : receipts.holders) {
    if (!is_liar(index_of(receipt.holder))) continue;
    for (const wire::CellSamples& computed : receipt.cells) confirmed_to_liars_ += computed.samples;
  }
}

// Liars confirm nothing to those who have computed for them: that costs these their credit for it.
void CellSwarm::check_credit() {
  const double lost = static_cast<double>(result_.samples_unconfirmed);
  if (options_.liars == 0 && lost > kUnconfirmedMax * static_cast<double>(result_.samples_served)) {
    checks_.fail(fmt::format("holders have computed {} samples, and {} of them earn nothing", result_.samples_served,
                             result_.samples_unconfirmed));
  }
  // A liar may be ahead both as a caller and as a holder, in each cell, and again at each start of the coordinator.
  const SampleCount starts = 1 + result_.coordinator_crashes;
  const SampleCount ahead = dealer_.samples_ahead() * result_.cells * 2 * options_.liars * starts;
  const SampleCount room = confirmed_to_liars_ + trained_by_liars_ * result_.cells + ahead;
  if (result_.samples_lied <= room) return;
  checks_.fail(fmt::format("liars are credited with {} samples, and there is room for {}", result_.samples_lied, room));
}

// The trunk's rounds are not simulated. Each sample counts in one of them, some time after its window.
void CellSwarm::on_window(const CellVolunteer& caller, const routing::Window::Outcome& outcome) {
  const core::CreditedContribution credited{caller.id(), account_of(caller.index()), outcome.samples};
  if (is_liar(caller.index())) trained_by_liars_ += outcome.samples;
  scheduler_.after(from_seconds(uniform(0, kTrunkRoundS)), [this, credited] { dealer_.on_trained(credited); });
  ++result_.windows;
  result_.samples += outcome.samples;
  result_.units += outcome.units;
  result_.units_lost += outcome.units_lost;
  losses_.push_back(outcome.loss_sum / static_cast<double>(outcome.samples));
}

SampleCount CellSwarm::earning(wire::CellIndex cell, AccountId account, SampleCount samples) {
  const SampleCount earned = dealer_.earning(cell, account, samples);
  if (is_liar(2 * static_cast<int>(account - 1))) {
    result_.samples_lied += earned;
    return earned;
  }
  result_.samples_served += samples;
  result_.samples_unconfirmed += samples - earned;
  return earned;
}

void CellSwarm::crash(CellVolunteer& volunteer, bool reset, Duration down) {
  const std::uint64_t life = volunteer.life();
  volunteer.crash();
  const bool keeps_disk = uniform(0, 1) < 0.5;
  for (const auto& rounds : rounds_) rounds->end(volunteer.index(), keeps_disk, reset);
  for (const auto& other : volunteers_) {
    const Duration hears = reset ? network_.path(volunteer.index(), other->index()) : kSilence;
    scheduler_.after(hears,
                     [other = other.get(), index = volunteer.index(), life] { other->on_link_lost(index, life); });
  }
  scheduler_.after(down, [&volunteer] { volunteer.start(); });
}

void CellSwarm::start_coordinator() {
  log_debug("{:.3f} the coordinator begins", to_seconds(scheduler_.now().time_since_epoch()));
  for (const auto& rounds : rounds_) rounds->start_coordinator();
  dealer_.start();
}

void CellSwarm::crash_coordinator() {
  if (!dealer_.up()) return;
  log_debug("{:.3f} the coordinator dies", to_seconds(scheduler_.now().time_since_epoch()));
  ++result_.coordinator_crashes;
  dealer_.crash();
  for (const auto& rounds : rounds_) rounds->crash_coordinator();
  scheduler_.after(from_seconds(uniform(0.5, 15)), [this] { start_coordinator(); });
}

void CellSwarm::plan_faults() {
  if (options_.seconds_between_faults <= 0) return;
  std::exponential_distribution<double> gap(1 / options_.seconds_between_faults);
  const TimePoint end = TimePoint() + options_.length;
  for (TimePoint when = TimePoint() + from_seconds(gap(rng_)); when < end; when += from_seconds(gap(rng_))) {
    scheduler_.at(when, [this] { fault(); });
  }
}

void CellSwarm::fault() {
  const double kind = uniform(0, 1);
  CellVolunteer& volunteer = random_volunteer();
  log_debug("{:.3f} fault {:.2f} at volunteer {}", to_seconds(scheduler_.now().time_since_epoch()), kind,
            volunteer.index());
  if (kind < 0.1) return crash_coordinator();
  if (volunteer.up()) strike(volunteer, (kind - 0.1) / 0.9);
}

void CellSwarm::strike(CellVolunteer& volunteer, double kind) {
  if (kind < 0.35) {
    ++result_.crashes;
    const bool reset = uniform(0, 1) < 0.7;
    crash(volunteer, reset, from_seconds(uniform(0.1, 20)));
  } else if (kind < 0.45) {
    ++result_.departures;
    if (dealer_.up()) dealer_.on_goodbye(volunteer.id());
    crash(volunteer, true, from_seconds(uniform(1, 20)));
  } else if (kind < 0.6) {
    ++result_.freezes;
    const TimePoint thaws = scheduler_.now() + from_seconds(uniform(0.2, 12));
    volunteer.freeze_until(thaws);
    for (const auto& rounds : rounds_) rounds->freeze_until(volunteer.index(), thaws);
  } else if (kind < 0.75) {
    ++result_.pauses;
    pause(volunteer, true);
    scheduler_.after(from_seconds(uniform(0.5, 15)), [this, &volunteer] { pause(volunteer, false); });
  } else if (kind < 0.85) {
    ++result_.slow;
    volunteer.slow_down(uniform(kSlowest, 0.2));
    scheduler_.after(from_seconds(uniform(1, 15)), [&volunteer] { volunteer.slow_down(1); });
  } else {
    const CellVolunteer& other = random_volunteer();
    if (&other == &volunteer) return;
    ++result_.cuts;
    network_.cut_until(volunteer.index(), other.index(), scheduler_.now() + from_seconds(uniform(0.5, 12)));
  }
}

void CellSwarm::pause(CellVolunteer& volunteer, bool paused) {
  if (!volunteer.up() || volunteer.paused() == paused) return;
  volunteer.pause(paused);
  for (const auto& rounds : rounds_) rounds->pause(volunteer.index(), paused);
}

void CellSwarm::look() {
  const TimePoint now = scheduler_.now();
  if (scheduler_.events_waiting() > kEventsWaitingMax) checks_.fail("events pile up without end");
  for (const auto& rounds : rounds_) {
    if (std::string broken = rounds->broken(); !broken.empty()) checks_.fail(std::move(broken));
  }
  if (!dealer_.up()) return;
  const core::CellCover cover = dealer_.cover();
  for (std::size_t number = 0; number < cover.holders.size(); ++number) {
    const auto cell = static_cast<wire::CellIndex>(number);
    TimePoint& held_at = held_at_.try_emplace(cell, now).first->second;
    if (cover.holders[number] > 0) held_at = now;
    result_.cover_s_longest = std::max(result_.cover_s_longest, to_seconds(now - held_at));
    const int wanted = std::min(options_.holders, options_.peers);
    if (cover.holders[number] + rounds_of(cell).sit_out() >= wanted) covered_.insert(cell);
  }
}

// Whether a volunteer with room is left for each cell, however the others are dealt: those that are full without
// having the cell are not enough to have all.
bool CellSwarm::has_room_for_all() const {
  std::int64_t largest = 0;
  for (wire::CellIndex cell = 0; cell < result_.cells; ++cell) {
    largest = std::max(largest, wire::held_bytes(run_, cell));
  }
  const std::int64_t others = options_.peers - options_.holders + 1;
  if (others < 1) return false;
  const std::int64_t needed = std::min(result_.cells, (result_.cells * options_.holders + others - 1) / others);
  return std::all_of(cell_bytes_.begin(), cell_bytes_.end(),
                     [&](std::int64_t bytes) { return bytes / largest >= needed; });
}

void CellSwarm::check_well() {
  if (!dealer_.up()) return checks_.fail("the coordinator did not come back");
  const std::string undealt = dealer_.undealt();
  if (!undealt.empty()) return checks_.fail(undealt);
  if (has_room_for_all() && std::ssize(covered_) < result_.cells) {
    for (wire::CellIndex cell = 0; cell < result_.cells; ++cell) {
      if (!covered_.contains(cell)) checks_.fail(fmt::format("cell {} still lacks holders", cell));
    }
  }
  for (const auto& rounds : rounds_) rounds->check_equal();
  look();
  const core::CellCover cover = dealer_.cover();
  if (cover.held_by(1) < result_.cells) return;  // callers may wait for it
  for (wire::CellIndex cell = 0; cell < result_.cells; ++cell) {
    const RoundIndex before = rounds_before_calm_[static_cast<std::size_t>(cell)];
    if (covered_.contains(cell) && rounds_of(cell).rounds() <= before) {
      checks_.fail(fmt::format("no round of cell {} was finished in calm weather", cell));
    }
  }
  for (const auto& each : volunteers_) {
    const auto number = static_cast<std::size_t>(each->index());
    if (each->windows() < windows_before_calm_[number] + 2) {
      checks_.fail(fmt::format("volunteer {} computes no windows", each->index()));
    }
  }
}

CellSwarmResult CellSwarm::run(const std::function<void(double)>& on_progress) {
  add_volunteers();
  dealer_.has_state = [this](const PeerId& peer, wire::CellIndex cell) {
    return rounds_of(cell).has_state(index_of(peer));
  };
  start_coordinator();
  plan_faults();
  const double all_s = to_seconds(options_.length + options_.calm);
  const auto go = [&](Duration length) {
    const TimePoint end = scheduler_.now() + length;
    while (scheduler_.now() < end && checks_.broken().empty()) {
      if (end - scheduler_.now() > (options_.holders == 1 ? kSoleWellWithin : kWellWithin)) covered_.clear();
      scheduler_.run_until(std::min(end, scheduler_.now() + kLooksEvery));
      if (on_progress) on_progress(to_seconds(scheduler_.now().time_since_epoch()) / all_s);
      look();
    }
  };
  go(options_.length);
  for (const auto& each : volunteers_) windows_before_calm_.push_back(each->windows());
  for (const auto& rounds : rounds_) rounds_before_calm_.push_back(rounds->rounds());
  go(options_.calm);
  if (checks_.broken().empty()) check_well();
  check_credit();
  const std::size_t some = std::min(kFirstWindows, losses_.size());
  for (std::size_t i = 0; i < some; ++i) {
    result_.loss_first += losses_[i] / static_cast<double>(some);
    result_.loss_last += losses_[losses_.size() - 1 - i] / static_cast<double>(some);
  }
  result_.broken = checks_.broken();
  result_.units_back = checks_.units_back();
  result_.cells_moved = dealer_.moved();
  result_.events = scheduler_.events_run();
  result_.virtual_s = to_seconds(scheduler_.now().time_since_epoch());
  return result_;
}

}  // namespace

Result<CellSwarmResult> run_cell_swarm(const CellSwarmOptions& options,
                                       const std::function<void(double)>& on_progress) {
  STARLING_ASSIGN(wire::RunManifest run, cell_run_of(options));
  return CellSwarm(options, std::move(run)).run(on_progress);
}

}  // namespace starling::sim
