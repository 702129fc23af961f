// The window's link to the daemon: the newest status, as soon as it changes, and requests with their replies. Nothing
// here blocks; a daemon that ends is noticed at once and waited for.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <chrono>
#include <filesystem>
#include <optional>

#include "gui/link/control_channel.h"
#include "shared/wire/control.h"

namespace starling::link {

struct LinkOptions {
  std::filesystem::path data_dir;
  std::chrono::milliseconds retry{500};  // after a connection that failed
  std::chrono::milliseconds pace{200};   // between two statuses
  std::chrono::milliseconds silence_max{wire::kLongPollMs + 5000};
};

enum class LinkState { connecting, connected, gone };

class DaemonLink : public QObject {
  Q_OBJECT

 public:
  static constexpr int kRequestsMax = 16;  // under way at once

  explicit DaemonLink(LinkOptions options, QObject* parent = nullptr);

  // Connects, and again whenever the daemon was gone.
  void open();
  // A window that nobody sees needs no more than one status a second.
  void setPace(std::chrono::milliseconds pace) { options_.pace = pace; }
  [[nodiscard]] LinkState state() const { return state_; }
  // Why there is no daemon, in the daemon's English; empty while there is one.
  [[nodiscard]] const Error& problem() const { return problem_; }
  [[nodiscard]] const std::filesystem::path& dataDir() const { return options_.data_dir; }
  // On a connection of its own, so that a slow command holds nothing else up. `handler` runs once, unless this object
  // goes first.
  void ask(const wire::ControlRequest& request, ReplyHandler handler);

 signals:
  void stateChanged();
  void statusArrived(const starling::wire::DaemonStatus& status);

 private:
  void poll();
  void take(const Reply& reply);
  void setState(LinkState state);

  LinkOptions options_;
  QString socket_path_;
  ControlChannel watch_;
  QTimer next_;
  LinkState state_ = LinkState::connecting;
  Error problem_;
  std::optional<std::int64_t> revision_;
  int requests_ = 0;
};

}  // namespace starling::link
