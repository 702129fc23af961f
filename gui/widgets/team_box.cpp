#include "gui/widgets/team_box.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"

namespace starling::widgets {
namespace {

constexpr int kNameWidthMax = 360;

}  // namespace

TeamBox::TeamBox(models::DaemonModel& daemon, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      team_(new QLabel()),
      refusal_(new QLabel()),
      name_(new QLineEdit()),
      join_(new QPushButton(tr("Join this team"))),
      found_(new QPushButton(tr("Found a new team"))),
      leave_(new QPushButton(tr("Leave the team"))),
      choice_(new QWidget()) {
  team_->setObjectName(QStringLiteral("team"));
  team_->setTextFormat(Qt::RichText);
  team_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  team_->setOpenExternalLinks(true);
  refusal_->setObjectName(QStringLiteral("team_refusal"));
  for (QLabel* label : {team_, refusal_}) label->setWordWrap(true);
  name_->setObjectName(QStringLiteral("team_name"));
  name_->setPlaceholderText(tr("Name of a team"));
  name_->setAccessibleName(tr("Name of a team"));
  name_->setMaximumWidth(kNameWidthMax);
  name_->setMaxLength(static_cast<int>(wire::kTeamNameBytesMax));
  join_->setObjectName(QStringLiteral("join_team"));
  found_->setObjectName(QStringLiteral("found_team"));
  leave_->setObjectName(QStringLiteral("leave_team"));
  auto* buttons = new QHBoxLayout();
  buttons->addWidget(join_);
  buttons->addWidget(found_);
  buttons->addStretch(1);
  auto* choice = new QVBoxLayout(choice_);
  choice->setContentsMargins(0, 0, 0, 0);
  choice->addWidget(name_);
  choice->addLayout(buttons);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(team_);
  layout->addWidget(choice_);
  layout->addWidget(leave_, 0, Qt::AlignLeft);
  layout->addWidget(refusal_);
  for (QWidget* hidden : {static_cast<QWidget*>(refusal_), choice_, static_cast<QWidget*>(leave_)}) hidden->hide();
  const auto follow = [this] {
    for (QPushButton* button : {join_, found_}) button->setEnabled(!name_->text().trimmed().isEmpty());
  };
  follow();
  connect(name_, &QLineEdit::textChanged, this, follow);
  connect(join_, &QPushButton::clicked, this, [this] { ask("join"); });
  connect(found_, &QPushButton::clicked, this, [this] { ask("found"); });
  connect(leave_, &QPushButton::clicked, this, [this] { ask("leave"); });
}

void TeamBox::show(const QString& address) {
  address_ = address;
  ask("show");
}

void TeamBox::ask(const char* what) {
  daemon_.ask(wire::ArrangeTeam{what, name_->text().trimmed().toStdString()}, this, [this](const link::Reply& reply) {
    refusal_->setVisible(!reply.ok());
    if (!reply.ok()) refusal_->setText(tr("That did not work: %1").arg(models::errorWords(reply.error())));
    if (reply.ok() && reply->team.has_value()) take(*reply->team);
  });
}

void TeamBox::take(const wire::TeamReply& team) {
  const bool in_one = !team.name.empty();
  choice_->setVisible(!in_one);
  leave_->setVisible(in_one);
  if (!in_one) {
    team_->setText(tr("You are in no team. Teams count together what their members contribute."));
    return;
  }
  name_->clear();
  const QString page = QStringLiteral("https://%1/team/%2").arg(address_).arg(team.id);
  QString text = tr("<b>%1</b>, founded by %2: %n member(s), %3 credit", nullptr, static_cast<int>(team.members))
                     .arg(models::text(team.name).toHtmlEscaped(), models::text(team.founder).toHtmlEscaped(),
                          models::creditText(team.credit));
  if (team.rank > 0) text += tr(", number %1 of the teams").arg(models::countText(team.rank));
  team_->setText(text + QStringLiteral(". <a href='%1'>%2</a>").arg(page.toHtmlEscaped(), tr("Its page")));
}

}  // namespace starling::widgets
