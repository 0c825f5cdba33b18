// Connections from the window: input is checked, successful connections are remembered, and a
// coordinator that does not answer is reported without a dialog.
#include "dashboard/window/connect_dialog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <memory>

#include "core/net/access/join_file.h"
#include "core/store/testing/folder_testing.h"
#include "dashboard/pages/all_pages.h"
#include "dashboard/session/session_testing.h"
#include "dashboard/window/main_window.h"

namespace tributary::dashboard {
namespace {

using testing::HasSubstr;

class ConnectDialogTest : public testing::Test {
 protected:
  ConnectDialogTest() { make_window(); }

  void make_window() {
    window_.reset();
    context_ = std::make_unique<PageContext>();
    settings_ = std::make_unique<QSettings>(QString::fromStdString(folder_ / "settings.ini"),
                                            QSettings::IniFormat);
    window_ = std::make_unique<MainWindow>(*settings_, *context_, make_all_pages(*context_));
    window_->show();
    QApplication::setActiveWindow(window_.get());
    QApplication::processEvents();
  }
  // Port 1 of this machine, which nothing listens on.
  QString write_join(const std::string& id) {
    const KeyPair keys = make_key_pair().value();
    const std::string path = folder_ / (id + ".join");
    EXPECT_EQ(write_join_file(path, {.agent_id = id,
                                     .coordinator = "tcp://127.0.0.1:1",
                                     .coordinator_key = keys.public_key,
                                     .keys = keys})
                  .text(),
              "ok");
    return QString::fromStdString(path);
  }
  ConnectDialog& dialog() {
    QTest::keyClick(window_.get(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    QApplication::processEvents();
    EXPECT_NE(window_->connect_dialog(), nullptr);
    return *window_->connect_dialog();
  }

  store_testing::Folder folder_;
  std::unique_ptr<PageContext> context_;
  std::unique_ptr<QSettings> settings_;
  std::unique_ptr<MainWindow> window_;
};

TEST_F(ConnectDialogTest, TypedTextIsChecked) {
  ConnectDialog& typed = dialog();
  EXPECT_FALSE(typed.isModal());
  EXPECT_FALSE(typed.connect_button().isEnabled());
  EXPECT_THAT(typed.verdict().toStdString(), HasSubstr("tributary keys join"));
  typed.key_file().setText(QString::fromStdString(folder_ / "none.join"));
  EXPECT_THAT(typed.verdict().toStdString(), HasSubstr("not_found"));
  typed.key_file().setText(write_join("anna"));
  EXPECT_EQ(typed.verdict(), "✓ tcp://127.0.0.1:1");
  EXPECT_TRUE(typed.connect_button().isEnabled());
  typed.endpoint().setText("coordinator.lan");
  EXPECT_FALSE(typed.connect_button().isEnabled());
  EXPECT_THAT(typed.verdict().toStdString(), HasSubstr("tcp://HOST:PORT"));
  typed.endpoint().setText("tcp://127.0.0.1:2");
  EXPECT_EQ(typed.verdict(), "✓ tcp://127.0.0.1:2");
}

TEST_F(ConnectDialogTest, ACoordinatorThatDoesNotAnswerIsShownAndTheChoiceRemembered) {
  const QString file = write_join("anna");
  ConnectDialog& typed = dialog();
  typed.key_file().setText(file);
  typed.connect_button().click();
  ASSERT_EQ(window_->runs().runs().size(), 1u);
  EXPECT_EQ(window_->runs().runs()[0]->name(), "127.0.0.1:1");
  ASSERT_TRUE(happens([&] { return window_->banner().text().contains("unavailable"); }))
      << window_->banner().text().toStdString();
  EXPECT_TRUE(window_->banner().text().contains("tcp://127.0.0.1:1"));
  EXPECT_TRUE(happens([&] {
    return window_->run_status().text(0) == "127.0.0.1:1: not connected";
  })) << window_->run_status().text(0).toStdString();
  EXPECT_EQ(QApplication::activeModalWidget(), nullptr);

  make_window();
  ConnectDialog& again = dialog();
  EXPECT_EQ(again.recent().count(), 1);
  EXPECT_EQ(again.key_file().text(), file) << "the last one is offered";
}

TEST_F(ConnectDialogTest, TheOldestOfManyIsForgotten) {
  for (int i = 0; i < 12; ++i) {
    remember_connection(*settings_, {.endpoint = {}, .key_file = QString::number(i)});
  }
  remember_connection(*settings_, {.endpoint = {}, .key_file = "7"});
  const std::vector<ConnectChoice> all = connections_in(*settings_);
  ASSERT_EQ(all.size(), kConnectionsRemembered);
  EXPECT_EQ(all[0].key_file, "7");
  EXPECT_EQ(all[1].key_file, "11");
  EXPECT_EQ(all.back().key_file, "4");
}

TEST_F(ConnectDialogTest, SpoiltMemoryIsNoChoice) {
  settings_->setValue("connect/recent", QByteArray("nonsense"));
  EXPECT_TRUE(connections_in(*settings_).empty());
}

}  // namespace
}  // namespace tributary::dashboard
