#include "gui/app/notifier.h"

#include <algorithm>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"

namespace starling::app {
namespace {

constexpr SampleCount kFirstMilestone = 1000;

}  // namespace

SampleCount milestonePassed(SampleCount before, SampleCount now) {
  SampleCount passed = 0;
  for (SampleCount stone = kFirstMilestone; stone <= now; stone *= 10) {
    if (stone > before) passed = stone;
  }
  return passed;
}

Notifier::Notifier(models::DaemonModel& daemon, QObject* parent) : QObject(parent), daemon_(daemon) {
  connect(&daemon_, &models::DaemonModel::changed, this, &Notifier::look);
}

void Notifier::lookForUpdates(const wire::DaemonStatus& status) {
  if (!version_runs_.empty() && version_runs_ != status.version) {
    emit noticed(tr("Starling was updated"), tr("Version %1 runs now.").arg(models::text(status.version)));
  }
  version_runs_ = status.version;
  const wire::UpdateStatus& update = status.update;
  if (update.version.empty() || update.version == version_out_ || update.state != "available") return;
  version_out_ = update.version;
  emit noticed(tr("Starling %1 is out").arg(models::text(update.version)),
               update.can_install ? tr("It can be installed at the end of a round.")
                                  : tr("Update it the way Starling was installed."));
}

void Notifier::look() {
  if (!daemon_.connected()) return;
  const wire::DaemonStatus& status = daemon_.status();
  lookForUpdates(status);
  for (const std::string& problem : status.problems) {
    if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end()) {
      emit noticed(tr("Starling needs attention"), models::daemonWords(problem));
    }
  }
  problems_ = status.problems;
  if (project_ != status.membership.project) credited_.reset();
  project_ = status.membership.project;
  if (status.membership.run_id.empty() || status.membership.run_state.empty()) return;  // the ledger is not known yet
  const SampleCount before = credited_.value_or(status.training.samples_credited);
  credited_ = status.training.samples_credited;
  if (before == 0 && status.training.samples_credited > 0) {
    emit noticed(tr("First contribution accepted"),
                 tr("The model of %1 has learned from this computer.").arg(models::text(status.membership.project)));
  } else if (const SampleCount stone = milestonePassed(before, status.training.samples_credited); stone > 0) {
    emit noticed(tr("Thank you"), tr("%1 samples of yours have been accepted.").arg(models::countText(stone)));
  }
}

}  // namespace starling::app
