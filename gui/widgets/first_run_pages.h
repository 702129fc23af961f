// The pages of the wizard on which the volunteer decides.
#pragma once

#include <QTimer>
#include <QWizardPage>
#include <memory>

#include "gui/widgets/first_run_wizard.h"

class QButtonGroup;
class QCheckBox;
class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace starling::widgets {

// Takes the join link and shows the project that it leads to. Complete once a coordinator has answered for the link.
class LinkPage : public QWizardPage {
  Q_OBJECT

 public:
  LinkPage(models::DaemonModel& daemon, std::shared_ptr<FirstRun> choice);
  void useLink(const QString& text);
  [[nodiscard]] bool isComplete() const override { return found_; }

 private:
  void lookUp();
  void show(const link::Reply& reply);

  models::DaemonModel& daemon_;
  std::shared_ptr<FirstRun> choice_;
  QLineEdit* link_;
  QLabel* answer_;
  QTimer typed_;  // starts the look-up once typing has stopped
  int look_ups_ = 0;
  bool without_daemon_ = false;  // state at the last look-up
  bool found_ = false;
  bool pasted_ = false;  // the link was pasted, not typed
};

// Says what the computer gives and what strangers see. Complete once the volunteer agrees.
class GivePage : public QWizardPage {
  Q_OBJECT

 public:
  explicit GivePage(std::shared_ptr<FirstRun> choice);
  void initializePage() override;
  [[nodiscard]] bool isComplete() const override;

 private:
  std::shared_ptr<FirstRun> choice_;
  QLabel* facts_;
  QCheckBox* agreed_;
};

// The choice of a preset of preferences; the gentle one is chosen at first.
class LimitsPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit LimitsPage(std::shared_ptr<FirstRun> choice);
  bool validatePage() override;

 private:
  std::shared_ptr<FirstRun> choice_;
  QButtonGroup* presets_;
};

// A summary before the wizard joins. Options that other rooms add, such as starting at log-in, are widgets on it.
class ReadyPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit ReadyPage(std::shared_ptr<FirstRun> choice);
  void addOption(QWidget* option);
  void initializePage() override;

 private:
  std::shared_ptr<FirstRun> choice_;
  QLabel* summary_;
  QVBoxLayout* options_;
};

}  // namespace starling::widgets
