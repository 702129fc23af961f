// A real X server without a screen, on which this test plays the window manager.
#include "client/sensors/x11_screen.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xcb/xcb.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "shared/base/unique_fd.h"

using namespace starling;
using namespace starling::sensors;

namespace {

constexpr TimePoint kNow = TimePoint() + std::chrono::hours(1);

class VirtualServer {
 public:
  VirtualServer() {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const UniqueFd read(ends[0]);
    UniqueFd write(ends[1]);
    std::string display_fd = std::to_string(write.get());
    std::string words[] = {"Xvfb", "-displayfd", display_fd, "-screen", "0", "640x480x24", "-nolisten", "tcp"};
    char* arguments[std::size(words) + 1] = {};
    for (std::size_t i = 0; i < std::size(words); ++i) arguments[i] = words[i].data();
    const int problem = ::posix_spawnp(&pid_, "Xvfb", nullptr, nullptr, arguments, environ);
    REQUIRE_MESSAGE(problem == 0, "install xvfb");
    write.reset();
    char byte = 0;
    while (::read(read.get(), &byte, 1) == 1 && byte != '\n') display_ += byte;  // written when all is ready
    REQUIRE(display_.size() > 1);
  }
  ~VirtualServer() { stop(); }
  VirtualServer(const VirtualServer&) = delete;
  VirtualServer& operator=(const VirtualServer&) = delete;

  void stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  [[nodiscard]] const std::string& display() const { return display_; }

 private:
  pid_t pid_ = -1;
  std::string display_ = ":";
};

class WindowManager {
 public:
  explicit WindowManager(const std::string& display) : server_(xcb_connect(display.c_str(), nullptr)) {
    REQUIRE(xcb_connection_has_error(server_) == 0);
    const xcb_screen_t* screen = xcb_setup_roots_iterator(xcb_get_setup(server_)).data;
    root_ = screen->root;
    window_ = xcb_generate_id(server_);
    xcb_create_window(server_, XCB_COPY_FROM_PARENT, window_, root_, 0, 0, 640, 480, 0, XCB_WINDOW_CLASS_INPUT_OUTPUT,
                      screen->root_visual, 0, nullptr);
  }
  ~WindowManager() { xcb_disconnect(server_); }
  WindowManager(const WindowManager&) = delete;
  WindowManager& operator=(const WindowManager&) = delete;

  void activate(bool any) { set(root_, "_NET_ACTIVE_WINDOW", XCB_ATOM_WINDOW, any ? window_ : 0); }
  void set_state(std::string_view state) { set(window_, "_NET_WM_STATE", XCB_ATOM_ATOM, atom(state)); }

 private:
  xcb_atom_t atom(std::string_view name) {
    const auto cookie = xcb_intern_atom(server_, 0, static_cast<std::uint16_t>(name.size()), name.data());
    xcb_intern_atom_reply_t* reply = xcb_intern_atom_reply(server_, cookie, nullptr);
    REQUIRE(reply != nullptr);
    const xcb_atom_t made = reply->atom;
    std::free(reply);
    return made;
  }
  void set(xcb_window_t window, std::string_view name, xcb_atom_t type, std::uint32_t value) {
    xcb_change_property(server_, XCB_PROP_MODE_REPLACE, window, atom(name), type, 32, 1, &value);
    (void)atom("a round trip, so that it is done");
  }

  xcb_connection_t* server_;
  xcb_window_t root_ = 0;
  xcb_window_t window_ = 0;
};

}  // namespace

TEST_CASE("an X server tells how long nobody touched it, and whether the active window fills the screen") {
  VirtualServer server;
  X11Screen screen(server.display());
  CHECK(screen.idle(kNow).value_or(Duration(-1)) >= Duration(0));
  CHECK_FALSE(screen.fullscreen(kNow).has_value());  // unknown without a window manager
  WindowManager manager(server.display());
  manager.activate(false);
  CHECK(screen.fullscreen(kNow) == false);
  manager.activate(true);
  CHECK(screen.fullscreen(kNow) == false);
  manager.set_state("_NET_WM_STATE_FULLSCREEN");
  CHECK(screen.fullscreen(kNow) == true);
  manager.set_state("_NET_WM_STATE_ABOVE");
  CHECK(screen.fullscreen(kNow) == false);
}

TEST_CASE("an X server that goes leaves things unknown") {
  VirtualServer server;
  X11Screen screen(server.display());
  REQUIRE(screen.idle(kNow).has_value());
  server.stop();
  CHECK_FALSE(screen.idle(kNow).has_value());
  CHECK_FALSE(screen.fullscreen(kNow + std::chrono::minutes(1)).has_value());
}
