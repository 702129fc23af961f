// The part of the daemon that makes sure that the volunteer's rules are kept: it looks, asks and obeys.
#include <algorithm>
#include <utility>

#include "client/daemon/app.h"
#include "shared/base/log.h"

namespace starling::daemon {
namespace {

constexpr double kBytesPerMbit = 1e6 / 8;
constexpr double kBytesPerGigabyte = 1e9;
constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr Duration kLookEveryWithoutProject = std::chrono::seconds(3);  // nothing has to obey
constexpr Duration kHistorySavedEvery = std::chrono::seconds(60);       // a crash may lose this much of the plots

// Returns the lower of two limits; 0: there is none.
double lower_limit(const std::optional<double>& max_mbit_s, double bytes_per_s) {
  const double requested = max_mbit_s.value_or(0) * kBytesPerMbit;
  return requested > 0 && bytes_per_s > 0 ? std::min(requested, bytes_per_s) : std::max(requested, bytes_per_s);
}

}  // namespace

void App::look_around() {
  policy::Surroundings seen =
      sensing_.sensors.look(clocks_.corrected.now(), {sensing_.needs_programs, sensing_.needs_temperature});
  loops_.control.post([this, seen = std::move(seen)]() mutable {
    governor_.see(std::move(seen));
    obey();
  });
  loops_.sensors.set_timer(clocks_.corrected.now() + (sensing_.has_project ? kLookEvery : kLookEveryWithoutProject),
                           [this] { look_around(); });
}

Permission App::permission() const {
  const policy::Verdict& verdict = governor_.verdict();
  Permission permission;
  permission.train = verdict.may_train();
  permission.reason = verdict.text;
  permission.stops_in = governor_.stops_in();
  permission.coordinator = verdict.network != policy::NetworkUse::none;
  permission.spares_data = verdict.reason == policy::Reason::data_cap;
  const bool relays = verdict.may_train() && verdict.network == policy::NetworkUse::all;
  permission.port_mapping = governor_.preferences().traffic.port_mapping;
  permission.relay_bytes_per_s =
      relays ? governor_.preferences().traffic.relay_max_mbit_s.value_or(0) * kBytesPerMbit : 0;
  permission.disk_bytes_left = governor_.disk_bytes_left();
  const double below_cap = governor_.bytes_per_s_below_cap();
  permission.upload_bytes_per_s = lower_limit(governor_.preferences().traffic.upload_max_mbit_s, below_cap);
  permission.download_bytes_per_s = lower_limit(governor_.preferences().traffic.download_max_mbit_s, below_cap);
  permission.share = {verdict.threads, static_cast<std::uint64_t>(verdict.memory_bytes),
                      verdict.gpu ? governor_.preferences().limits.gpu_memory_percent : 0};
  permission.card = governor_.card();
  return permission;
}

void App::save_history() {
  history_.saved = clocks_.corrected.now();
  storage::Membership* membership = current();
  if (membership == nullptr) return;
  if (const Status saved = membership->history.save(); !saved.ok())
    log_warning("keep the history: {}", saved.error().message);
}

void App::obey() {
  if (preparation_.ending) return;
  if (options_.alive) options_.alive();
  count_traffic();
  if (clocks_.corrected.now() - history_.saved >= kHistorySavedEvery) save_history();
  governor_.hear_time(clocks_.corrected.coordinators_time());
  governor_.decide();
  count_turn();
  preparation_.allowed = governor_.may_prepare();
  const wire::Preferences& preferences = governor_.preferences();
  updates_.keeper->obey({preferences.updates.update_check, preferences.updates.update_install,
                         governor_.verdict().network != policy::NetworkUse::none,
                         governor_.verdict().network == policy::NetworkUse::all,
                         static_cast<std::int64_t>(preferences.storage.disk_free_min_gb * kBytesPerGigabyte)});
  const Permission allowed = permission();
  line_.upload.set_rate(clocks_.corrected.now(), allowed.upload_bytes_per_s);
  line_.download.set_rate(clocks_.corrected.now(), allowed.download_bytes_per_s);
  const sensors::Needs needs = governor_.needs();
  const bool asks_more = (needs.programs && !sensing_.needs_programs.exchange(true)) ||
                         (needs.temperature && !sensing_.needs_temperature.exchange(true));
  sensing_.needs_programs = needs.programs;
  sensing_.needs_temperature = needs.temperature;
  if (asks_more) loops_.sensors.post([this] { look_around(); });
  if (run_) {
    run_->obey(allowed);  // it announces its changes by itself
  } else if (preparation_.due && preparation_.allowed) {
    prepare();
  } else {
    publish();
  }
}

void App::count_traffic() {
  TrafficCounters counters;
  if (run_) run_->count_traffic(counters);
  counters.coordinator = look_ups_.wire_bytes() + updates_.keeper->wire_bytes() + (calls_ ? calls_->wire_bytes() : 0);
  governor_.count(counters);
}

void App::start_waiting_version() {
  const std::string version = updates_.keeper->waiting();
  if (version.empty() || updates_.handing_over || !options_.hand_over) return;
  updates_.handing_over = true;
  options_.hand_over(version);
}

// A round that failed is over as well.
void App::notice_round_ends(const wire::DaemonStatus& status) {
  const std::int64_t ended = status.training.rounds_done + status.training.rounds_failed;
  const bool over = ended > history_.rounds_ended || !wire::has_round_under_way(status.phase);
  history_.rounds_ended = std::max(history_.rounds_ended, ended);
  if (over) start_waiting_version();
  turn_.trains = wire::has_round_under_way(status.phase);
  if (over && turn_.trains) loops_.control.post([this] { end_turn_if_over(); });
  if (!over || !governor_.verdict().pause_after_round) return;
  // Together: a status between the two would tell of a pause that nobody keeps yet.
  loops_.control.post([this] {
    governor_.on_round_finished();
    obey();
  });
}

wire::ControlReply App::steer(const wire::ControlRequest& request) {
  wire::ControlReply reply;
  const auto tell = [&reply](Result<std::string> said) {
    if (said.ok()) {
      reply.text = std::move(*said);
    } else {
      reply.error = said.error();
    }
  };
  const bool ran = loops_.control.run_and_wait([&] {
    if (const auto* const change = std::get_if<wire::SetPreferences>(&request)) {
      if (auto changed = governor_.change_preferences(*change); changed.ok()) {
        reply.preferences = *changed;
        const bool line = std::any_of(change->changes.begin(), change->changes.end(), [](const auto& each) {
          return each.name == "upload_max_mbit_s" || each.name == "download_max_mbit_s";
        });
        if (line && run_) reply.text = run_->limit_warning(permission());
      } else {
        reply.error = changed.error();
      }
    } else if (const auto* const pause = std::get_if<wire::Pause>(&request)) {
      tell(governor_.pause(*pause));
    } else if (const auto* const resume = std::get_if<wire::Resume>(&request)) {
      tell(governor_.resume(*resume));
    } else {
      reply.preferences = governor_.preferences();
      return;
    }
    obey();
  });
  if (!ran) reply.error = Error{ErrorCode::unavailable, "the daemon is ending"};
  return reply;
}

}  // namespace starling::daemon
