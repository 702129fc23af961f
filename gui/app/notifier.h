// Events worth a notification, each shown once: the first accepted sample, round numbers of samples, new problems, and
// newer versions of Starling.
#pragma once

#include <QObject>
#include <optional>
#include <string>
#include <vector>

#include "gui/models/daemon_model.h"

namespace starling::app {

class Notifier : public QObject {
  Q_OBJECT

 public:
  explicit Notifier(models::DaemonModel& daemon, QObject* parent = nullptr);

 signals:
  void noticed(const QString& title, const QString& words);

 private:
  void look();
  void lookForUpdates(const wire::DaemonStatus& status);

  models::DaemonModel& daemon_;
  std::string project_;
  std::optional<SampleCount> credited_;  // at the last look
  std::vector<std::string> problems_;
  std::string version_out_;   // newer than the daemon's, and announced
  std::string version_runs_;  // the daemon's
};

// The largest of 1000, 10 000, 100 000 … in (before, now]; 0: none.
SampleCount milestonePassed(SampleCount before, SampleCount now);

}  // namespace starling::app
