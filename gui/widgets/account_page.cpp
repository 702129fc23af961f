#include "gui/widgets/account_page.h"

#include <QFormLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/format.h"

namespace starling::widgets {

AccountPage::AccountPage(models::DaemonModel& daemon, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      project_(new QLabel()),
      name_(new QLabel()),
      run_(new QLabel()),
      credit_(new QLabel()),
      computer_(new QLabel()) {
  auto* form = new QFormLayout();
  const std::pair<QString, QLabel*> rows[] = {{tr("Project"), project_},
                                              {tr("Your name on the leaderboard"), name_},
                                              {tr("Run"), run_},
                                              {tr("Credited to you in this run"), credit_},
                                              {tr("This computer's pseudonym"), computer_}};
  for (const auto& [caption, label] : rows) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    form->addRow(caption, label);
  }
  auto* note =
      new QLabel(tr("Others see your name and what you contributed. They see neither this computer's name nor its "
                    "address on any page."));
  note->setWordWrap(true);
  auto* leave_button = new QPushButton(tr("Leave the project…"));
  connect(leave_button, &QPushButton::clicked, this, &AccountPage::leave);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(note);
  layout->addSpacing(12);
  layout->addWidget(leave_button, 0, Qt::AlignLeft);
  layout->addStretch(1);
  connect(&daemon_, &models::DaemonModel::changed, this, &AccountPage::showStatus);
}

void AccountPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  showStatus();
}

void AccountPage::showStatus() {
  if (!isVisible()) return;
  const wire::DaemonStatus& status = daemon_.status();
  project_->setText(models::text(status.project));
  name_->setText(models::text(status.display_name));
  run_->setText(status.run_id.empty() ? QStringLiteral("–") : models::text(status.run_id));
  credit_->setText(tr("%1 credit for %2 accepted samples")
                       .arg(models::creditText(status.credit), models::countText(status.samples_credited)));
  computer_->setText(models::text(status.peer.brief()));
}

void AccountPage::leave() {
  QMessageBox question(QMessageBox::Question, tr("Leave the project?"),
                       tr("What was accepted from you stays credited. The model and its data are removed from this "
                          "computer, and nothing is trained until you join a project again."),
                       QMessageBox::Cancel, this);
  QPushButton* leave_button = question.addButton(tr("Leave"), QMessageBox::DestructiveRole);
  question.setDefaultButton(QMessageBox::Cancel);
  question.exec();
  if (question.clickedButton() != leave_button) return;
  wire::ControlRequest request;
  request.command = "leave";
  daemon_.tell(request);
}

}  // namespace starling::widgets
