// The wizard's last page: joining, and then the live progress of the first contribution.
#pragma once

#include <QWizardPage>
#include <memory>

#include "gui/widgets/first_run_wizard.h"

class QLabel;
class QPushButton;

namespace starling::widgets {

class FirstStepsPage : public QWizardPage {
  Q_OBJECT

 public:
  FirstStepsPage(models::DaemonModel& daemon, std::shared_ptr<FirstRun> choice);
  void initializePage() override;
  // Training continues even if the window is closed early.
  [[nodiscard]] bool isComplete() const override { return joined_; }

 private:
  enum Step { kJoined, kPrepared, kReached, kTrained, kAccepted, kSteps };

  void setLimitsAndJoin();
  void fail(const Error& error);
  void showStatus();
  void mark(Step step, bool done, const QString& words);

  models::DaemonModel& daemon_;
  std::shared_ptr<FirstRun> choice_;
  QLabel* steps_[kSteps];
  QLabel* message_;
  QPushButton* again_;
  QPushButton* change_;
  bool joined_ = false;
};

}  // namespace starling::widgets
