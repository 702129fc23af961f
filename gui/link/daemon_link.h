// The window's link to the daemon: the newest status, as soon as it changes, and requests with their replies. Nothing
// here blocks; the end of a daemon is noticed at once, and the link waits for the next one.
#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <QTimer>
#include <chrono>
#include <filesystem>
#include <optional>

#include "gui/link/control_channel.h"
#include "shared/control/control.h"

namespace starling::link {

// The daemon's data directory, and times of the link. `silence_max` is the longest wait for a status that did not
// change.
struct LinkOptions {
  std::filesystem::path data_dir;
  std::chrono::milliseconds retry{500};  // after a connection that failed
  std::chrono::milliseconds pace{200};   // between two statuses
  std::chrono::milliseconds silence_max{wire::kLongPollMs + 5000};
};

// The link's state since the last answer: none came yet, the last one was a status, or it was an error. `gone` is left
// by itself when a daemon answers again.
enum class LinkState { connecting, connected, gone };

class DaemonLink : public QObject {
  Q_OBJECT

 public:
  static constexpr int kRequestsMax = 16;  // at the same time

  explicit DaemonLink(LinkOptions options, QObject* parent = nullptr);

  // Connects, and reconnects whenever the daemon was gone.
  void open();
  // A window that nobody sees needs at most one status a second.
  void setPace(std::chrono::milliseconds pace) { options_.pace = pace; }
  [[nodiscard]] LinkState state() const { return state_; }
  // The reason why there is no daemon, in English; empty while there is one.
  [[nodiscard]] const Error& problem() const { return problem_; }
  [[nodiscard]] const std::filesystem::path& dataDir() const { return options_.data_dir; }
  // Sends the request on a connection of its own, so that a slow command delays nothing else. `handler` runs once,
  // unless this object is destroyed first.
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
