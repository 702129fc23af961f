// The daemon as windows see it: the newest status, the preferences, and requests from buttons.
#pragma once

#include <QObject>
#include <QString>

#include "gui/link/daemon_link.h"
#include "gui/models/situation.h"

namespace starling::models {

class DaemonModel : public QObject {
  Q_OBJECT

 public:
  // `daemon_program` is the program that startDaemon() runs.
  DaemonModel(link::LinkOptions options, QString daemon_program, QObject* parent = nullptr);

  void open() { link_.open(); }
  void setPace(std::chrono::milliseconds pace) { link_.setPace(pace); }
  [[nodiscard]] bool connected() const { return snapshot_.link == link::LinkState::connected && snapshot_.status; }
  // The newest status; its fields are empty before the first has come.
  [[nodiscard]] const wire::DaemonStatus& status() const;
  [[nodiscard]] const wire::Preferences& preferences() const { return snapshot_.preferences; }
  [[nodiscard]] Situation situation() const;
  [[nodiscard]] link::LinkState linkState() const { return snapshot_.link; }
  [[nodiscard]] const std::filesystem::path& dataDir() const { return link_.dataDir(); }

  // `handler` runs once, unless `context` is destroyed first.
  void ask(const wire::ControlRequest& request, QObject* context, link::ReplyHandler handler);
  // For buttons: the daemon's answer arrives as said() or refused().
  void tell(const wire::ControlRequest& request);
  void set(const char* preference, const std::string& value);
  void fetchPreferences();
  void startDaemon();

 signals:
  void changed();
  void preferencesChanged();
  void said(const QString& text);
  void refused(const QString& reason);

 private:
  link::DaemonLink link_;
  QString daemon_program_;
  Snapshot snapshot_;
};

}  // namespace starling::models
