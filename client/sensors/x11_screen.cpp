#include "client/sensors/x11_screen.h"

#include <xcb/screensaver.h>
#include <xcb/xcb.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <utility>

namespace starling::sensors {
namespace {

constexpr Duration kReconnectEvery = std::chrono::seconds(30);
constexpr std::uint32_t kStatesMax = 64;  // states of one window

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using Reply = std::unique_ptr<T, Free>;

xcb_atom_t atom_named(xcb_connection_t* server, std::string_view name) {
  const auto cookie = xcb_intern_atom(server, 0, static_cast<std::uint16_t>(name.size()), name.data());
  const Reply<xcb_intern_atom_reply_t> reply(xcb_intern_atom_reply(server, cookie, nullptr));
  return reply ? reply->atom : static_cast<xcb_atom_t>(XCB_ATOM_NONE);
}

}  // namespace

struct X11Screen::Connection {
  explicit Connection(xcb_connection_t* connected) : server(connected) {
    root = xcb_setup_roots_iterator(xcb_get_setup(server)).data->root;
    active_window = atom_named(server, "_NET_ACTIVE_WINDOW");
    window_state = atom_named(server, "_NET_WM_STATE");
    state_fullscreen = atom_named(server, "_NET_WM_STATE_FULLSCREEN");
  }
  ~Connection() { xcb_disconnect(server); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] Reply<xcb_get_property_reply_t> property(xcb_window_t window, xcb_atom_t name, xcb_atom_t type) const {
    const auto cookie = xcb_get_property(server, 0, window, name, type, 0, kStatesMax);
    return Reply<xcb_get_property_reply_t>(xcb_get_property_reply(server, cookie, nullptr));
  }
  static std::span<const std::uint32_t> words(const xcb_get_property_reply_t& reply) {
    if (reply.format != 32) return {};
    return {static_cast<const std::uint32_t*>(xcb_get_property_value(&reply)), reply.value_len};
  }

  xcb_connection_t* server;
  xcb_window_t root = 0;
  xcb_atom_t active_window = 0;
  xcb_atom_t window_state = 0;
  xcb_atom_t state_fullscreen = 0;
};

X11Screen::X11Screen(std::string display) : display_(std::move(display)) {}
X11Screen::~X11Screen() = default;

X11Screen::Connection* X11Screen::connection(TimePoint now) {
  if (connection_ && xcb_connection_has_error(connection_->server) != 0) connection_.reset();
  if (connection_ || display_.empty() || now < not_before_) return connection_.get();
  not_before_ = now + kReconnectEvery;
  xcb_connection_t* server = xcb_connect(display_.c_str(), nullptr);
  if (xcb_connection_has_error(server) != 0) {
    xcb_disconnect(server);
    return nullptr;
  }
  connection_ = std::make_unique<Connection>(server);
  return connection_.get();
}

std::optional<Duration> X11Screen::idle(TimePoint now) {
  const Connection* x = connection(now);
  if (x == nullptr) return std::nullopt;
  const xcb_query_extension_reply_t* extension = xcb_get_extension_data(x->server, &xcb_screensaver_id);
  if (extension == nullptr || extension->present == 0) return std::nullopt;
  const auto cookie = xcb_screensaver_query_info(x->server, x->root);
  const Reply<xcb_screensaver_query_info_reply_t> reply(xcb_screensaver_query_info_reply(x->server, cookie, nullptr));
  if (!reply) return std::nullopt;
  return std::chrono::milliseconds(reply->ms_since_user_input);
}

std::optional<bool> X11Screen::fullscreen(TimePoint now) {
  const Connection* x = connection(now);
  if (x == nullptr) return std::nullopt;
  const auto active = x->property(x->root, x->active_window, XCB_ATOM_WINDOW);
  // Without a window manager that reports it, the answer is unknown; without an active window, none fills the screen.
  if (!active || active->type == XCB_ATOM_NONE) return std::nullopt;
  const auto window = Connection::words(*active);
  if (window.empty() || window.front() == XCB_WINDOW_NONE) return false;
  const auto state = x->property(window.front(), x->window_state, XCB_ATOM_ATOM);
  if (!state) return false;
  const auto states = Connection::words(*state);
  return std::find(states.begin(), states.end(), x->state_fullscreen) != states.end();
}

}  // namespace starling::sensors
