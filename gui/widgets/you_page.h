// The wizard's page for the name, and for its account if the volunteer wants to log in to one.
#pragma once

#include <QWizardPage>
#include <memory>

#include "gui/widgets/first_run_wizard.h"

class QCheckBox;
class QLabel;
class QLineEdit;

namespace starling::widgets {

class YouPage : public QWizardPage {
  Q_OBJECT

 public:
  explicit YouPage(std::shared_ptr<FirstRun> choice);
  [[nodiscard]] bool isComplete() const override;
  bool validatePage() override;

 private:
  QWidget* makeAccount();

  std::shared_ptr<FirstRun> choice_;
  QLineEdit* name_;
  QLabel* name_problem_;  // hidden while there is none
  QCheckBox* with_account_;
  QLineEdit* password_;
  QLineEdit* email_;
};

}  // namespace starling::widgets
