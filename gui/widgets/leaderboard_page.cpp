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
#include "shared/leaderboard/columns.h"

namespace starling::widgets {
namespace {

using leaderboard::Board;
using leaderboard::Column;
using leaderboard::kColumns;
using leaderboard::Unit;

constexpr std::chrono::seconds kRefresh{60};
constexpr int kFirstFigure = 2;  // after rank and name

// The texts of shared/leaderboard/columns.h that the window shows.
[[maybe_unused]] constexpr const char* kColumnTexts[] = {
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "Recent average"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "Credit"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "Samples"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "Samples, 24 hours"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "Samples, 7 days"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "By recent average"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "By credit in all"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "By this run"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "By the last 24 hours"),
    QT_TRANSLATE_NOOP("starling::widgets::LeaderboardPage", "By the last 7 days"),
};

QString words(std::string_view text) { return LeaderboardPage::tr(std::string(text).c_str()); }

QStringList headings() {
  QStringList headings{LeaderboardPage::tr("Rank"), LeaderboardPage::tr("Name")};
  for (const Column& column : kColumns) {
    if (!column.window.empty()) headings.append(words(column.window));
  }
  return headings;
}

// The figures that a narrow window hides, the last first; total credit stays.
QList<int> spareFigures() {
  QList<int> spare;
  int index = kFirstFigure;
  for (const Column& column : kColumns) {
    if (column.window.empty()) continue;
    if (column.board != Board::total || column.unit != Unit::credit) spare.prepend(index);
    ++index;
  }
  return spare;
}

models::RowsModel::Row cellsOf(const wire::StandingView& row, const QString& name) {
  models::RowsModel::Row cells{static_cast<qlonglong>(row.rank), name};
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (kColumns[i].window.empty()) continue;
    const double figure = row.figures.at(i);
    cells.append(kColumns[i].unit == Unit::samples ? QVariant(static_cast<qlonglong>(figure)) : QVariant(figure));
  }
  return cells;
}

}  // namespace

LeaderboardPage::LeaderboardPage(models::DaemonModel& daemon, QWidget* parent)
    : QWidget(parent),
      daemon_(daemon),
      rows_(new models::RowsModel(headings(), this)),
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
  layout->addWidget(makeTable(rows_, tr("Leaderboard"), {.wide_column = 1, .spare = spareFigures()}), 1);
  layout->addLayout(pages);
  connect(previous_, &QPushButton::clicked, this, [this] { turn(-1); });
  connect(next_, &QPushButton::clicked, this, [this] { turn(1); });
  connect(&refresh_, &QTimer::timeout, this, &LeaderboardPage::fetch);
}

QWidget* LeaderboardPage::makeChoice() {
  for (const Column& column : kColumns) {
    if (!column.sort.empty()) sort_->addItem(words(column.order), models::text(std::string(column.sort)));
  }
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
    rows.append(cellsOf(row, row.name == daemon_.status().membership.display_name ? tr("%1 (you)").arg(name) : name));
  }
  rows_->setRows(std::move(rows));
  own_->setText(
      board.pinned
          ? tr("You are number %1 of %2: %3 credit for %4 samples.")
                .arg(models::countText(board.pinned->rank), models::countText(board.volunteers),
                     models::creditText(board.pinned->figures.of(Board::total, Unit::credit)),
                     models::countText(static_cast<qlonglong>(board.pinned->figures.of(Board::total, Unit::samples))))
          : tr("You appear here with your first accepted sample."));
  place_->setText(tr("Page %1").arg(board.page));
  previous_->setEnabled(board.page > 1);
  next_->setEnabled(static_cast<std::int64_t>(board.page) * board.per_page < board.volunteers);
}

}  // namespace starling::widgets
