#include "gui/widgets/leaderboard_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/models/daemon_words.h"
#include "gui/models/format.h"
#include "gui/widgets/table.h"

namespace starling::widgets {
namespace {

constexpr std::chrono::seconds kRefresh{60};

}  // namespace

LeaderboardPage::LeaderboardPage(models::DaemonModel& daemon, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      rows_(new models::RowsModel({tr("Rank"), tr("Name"), tr("Recent average"), tr("Credit"), tr("Samples"),
                                   tr("Samples, 24 hours"), tr("Samples, 7 days")},
                                  this)),
      sort_(new QComboBox()),
      search_(new QLineEdit()),
      own_(new QLabel()),
      place_(new QLabel()),
      previous_(new QPushButton(tr("Previous"))),
      next_(new QPushButton(tr("Next"))) {
  own_->setWordWrap(true);
  QFont bold = own_->font();
  bold.setBold(true);
  own_->setFont(bold);
  auto* pages = new QHBoxLayout();
  pages->addWidget(place_, 1);
  pages->addWidget(previous_);
  pages->addWidget(next_);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(makeChoice());
  layout->addWidget(own_);
  layout->addWidget(makeTable(rows_, tr("Leaderboard"), {.wide_column = 1, .spare = {6, 5, 4, 2}}), 1);
  layout->addLayout(pages);
  connect(previous_, &QPushButton::clicked, this, [this] { turn(-1); });
  connect(next_, &QPushButton::clicked, this, [this] { turn(1); });
  connect(&refresh_, &QTimer::timeout, this, &LeaderboardPage::fetch);
}

QWidget* LeaderboardPage::makeChoice() {
  const std::pair<QString, QString> sorts[] = {{tr("By recent average"), QStringLiteral("recent")},
                                               {tr("By credit in all"), QStringLiteral("total")},
                                               {tr("By this run"), QStringLiteral("run")},
                                               {tr("By the last 24 hours"), QStringLiteral("day")},
                                               {tr("By the last 7 days"), QStringLiteral("week")}};
  for (const auto& [label, name] : sorts) sort_->addItem(label, name);
  sort_->setAccessibleName(tr("Order"));
  sort_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  search_->setPlaceholderText(tr("Search for a name"));
  search_->setAccessibleName(tr("Search for a name"));
  search_->setClearButtonEnabled(true);
  auto* choice = new QWidget();
  auto* layout = new QHBoxLayout(choice);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(sort_, 1);
  layout->addWidget(search_, 1);
  const auto begin_anew = [this] {
    page_ = 1;
    fetch();
  };
  connect(sort_, &QComboBox::currentIndexChanged, this, begin_anew);
  connect(search_, &QLineEdit::editingFinished, this, begin_anew);
  return choice;
}

void LeaderboardPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh_.start(kRefresh);
  fetch();
}

void LeaderboardPage::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  refresh_.stop();
}

void LeaderboardPage::turn(int pages) {
  page_ = std::max(1, page_ + pages);
  fetch();
}

void LeaderboardPage::fetch() {
  wire::GetLeaderboard request;
  request.sort = sort_->currentData().toString().toStdString();
  request.search = search_->text().toStdString();
  request.page = page_;
  daemon_.ask(request, this, [this](const link::Reply& reply) { show(reply); });
}

void LeaderboardPage::show(const link::Reply& reply) {
  if (!reply.ok() || !reply->leaderboard.has_value()) {
    place_->setText(reply.ok() ? QString() : models::errorWords(reply.error()));
    return;
  }
  const wire::LeaderboardView& board = *reply->leaderboard;
  QList<models::RowsModel::Row> rows;
  for (const wire::StandingView& row : board.rows) {
    const QString name = models::text(row.name);
    rows.append({static_cast<qlonglong>(row.rank),
                 row.name == daemon_.status().membership.display_name ? tr("%1 (you)").arg(name) : name,
                 row.recent_average, row.credit, static_cast<qlonglong>(row.samples),
                 static_cast<qlonglong>(row.day_samples), static_cast<qlonglong>(row.week_samples)});
  }
  rows_->setRows(std::move(rows));
  own_->setText(board.pinned
                    ? tr("You are number %1 of %2: %3 credit for %4 samples.")
                          .arg(models::countText(board.pinned->rank), models::countText(board.volunteers),
                               models::creditText(board.pinned->credit), models::countText(board.pinned->samples))
                    : tr("You appear here with your first accepted sample."));
  place_->setText(tr("Page %1").arg(board.page));
  previous_->setEnabled(board.page > 1);
  next_->setEnabled(static_cast<std::int64_t>(board.page) * board.per_page < board.volunteers);
}

}  // namespace starling::widgets
