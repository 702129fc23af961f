#include "gui/widgets/account_page.h"

#include <QFormLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/format.h"
#include "gui/widgets/team_box.h"

namespace starling::widgets {

AccountPage::AccountPage(models::DaemonModel& daemon, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      project_(new QLabel()),
      name_(new QLabel()),
      run_(new QLabel()),
      credit_(new QLabel()),
      computer_(new QLabel()),
      projects_(new QLabel()),
      team_(new TeamBox(daemon)) {
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
  auto* leave_button = new QPushButton(tr("Leave this project…"));
  connect(leave_button, &QPushButton::clicked, this, &AccountPage::leave);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(note);
  layout->addSpacing(12);
  layout->addWidget(team_);
  layout->addSpacing(12);
  layout->addWidget(projects_);
  auto* join_button = new QPushButton(tr("Join another project…"));
  connect(join_button, &QPushButton::clicked, this, &AccountPage::joinWanted);
  projects_->setWordWrap(true);
  layout->addWidget(join_button, 0, Qt::AlignLeft);
  layout->addWidget(leave_button, 0, Qt::AlignLeft);
  layout->addStretch(1);
  connect(&daemon_, &models::DaemonModel::changed, this, &AccountPage::showStatus);
}

void AccountPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  listed_.clear();
  showStatus();
}

void AccountPage::showStatus() {
  if (!isVisible()) return;
  const wire::DaemonStatus& status = daemon_.status();
  project_->setText(models::text(status.membership.project));
  name_->setText(models::text(status.membership.display_name));
  run_->setText(status.membership.run_id.empty() ? QStringLiteral("–") : models::text(status.membership.run_title));
  credit_->setText(
      tr("%1 credit (points, not money) for %2 accepted samples")
          .arg(models::creditText(status.training.credit), models::countText(status.training.samples_credited)));
  computer_->setText(models::text(status.membership.peer.brief()));
  const std::string turn = std::to_string(status.membership.projects) + status.membership.project;
  if (turn != listed_) fetchProjects();
  listed_ = turn;
}

void AccountPage::fetchProjects() {
  daemon_.ask(wire::ListProjects{}, this, [this](const link::Reply& reply) {
    if (reply.ok() && reply->projects.has_value()) showProjects(*reply->projects);
  });
}

void AccountPage::showProjects(const std::vector<wire::ProjectView>& projects) {
  double shares = 0;
  for (const wire::ProjectView& project : projects) shares += project.share;
  QStringList lines = {tr("Projects that take turns on this computer:")};
  for (const wire::ProjectView& project : projects) {
    if (project.current) team_->show(models::text(project.address));
    const double percent = shares > 0 ? 100 * project.share / shares : 0;
    const QString line = tr("%1: %2 % of the time, %3 hours so far")
                             .arg(models::text(project.name), models::numberText(percent, 0),
                                  models::numberText(project.trained_s / 3600, 1));
    lines.append(project.current ? tr("%1 – its turn now").arg(line) : line);
  }
  projects_->setText(lines.join(QLatin1Char('\n')));
  projects_->setVisible(projects.size() > 1);
}

void AccountPage::leave() {
  QMessageBox question(QMessageBox::Question,
                       tr("Leave the project %1?").arg(models::text(daemon_.status().membership.project)),
                       tr("What was accepted from you stays credited. The model and its data are removed from this "
                          "computer. Without another project nothing is trained until you join one."),
                       QMessageBox::Cancel, this);
  QPushButton* leave_button = question.addButton(tr("Leave"), QMessageBox::DestructiveRole);
  question.setDefaultButton(QMessageBox::Cancel);
  question.exec();
  if (question.clickedButton() != leave_button) return;
  wire::LeaveProject request;
  if (daemon_.status().membership.projects > 1) request.project = daemon_.status().membership.project;
  daemon_.tell(request);
}

}  // namespace starling::widgets
