// Asks for the coordinator to watch and for the key to use, and remembers earlier connections. The
// dialog does not block the main window, and Escape closes it.
//
// The dialog checks its input and emits chosen(); it does not connect itself. GUI thread only.
#pragma once

#include <QDialog>
#include <QSettings>
#include <QString>
#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace tributary::dashboard {

struct ConnectChoice {
  QString endpoint = {};  // empty: the endpoint in the file
  QString key_file = {};  // a join file

  friend bool operator==(const ConnectChoice&, const ConnectChoice&) = default;
};

inline constexpr std::size_t kConnectionsRemembered = 8;

// Returns the remembered connections, the newest first.
std::vector<ConnectChoice> connections_in(QSettings& settings);
// Stores the connection as the newest one. Beyond kConnectionsRemembered the oldest is dropped.
void remember_connection(QSettings& settings, const ConnectChoice& choice);

class ConnectDialog : public QDialog {
  Q_OBJECT

 public:
  explicit ConnectDialog(std::vector<ConnectChoice> recent, QWidget* parent = nullptr);

  QComboBox& recent() { return *recent_box_; }
  QLineEdit& key_file() { return *key_file_; }
  QLineEdit& endpoint() { return *endpoint_; }
  QPushButton& connect_button() { return *connect_; }
  QString verdict() const;  // the result of checking the input

 signals:
  void chosen(const tributary::dashboard::ConnectChoice& choice);

 private:
  void lay_out();
  void take_recent(int index);
  void ask_for_file();
  void check();
  ConnectChoice typed() const;

  const std::vector<ConnectChoice> recent_;
  QComboBox* recent_box_;
  QLineEdit* key_file_;
  QLineEdit* endpoint_;
  QLabel* verdict_;
  QPushButton* connect_;
};

}  // namespace tributary::dashboard
