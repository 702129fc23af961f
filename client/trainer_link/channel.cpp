#include "client/trainer_link/channel.h"

#include <fmt/core.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "client/trainer_link/messages.h"

namespace starling::trainer_link {
namespace {

constexpr int kBufferBytes = 2 * static_cast<int>(kMessageBytesMax);

}  // namespace

Result<std::pair<UniqueFd, UniqueFd>> make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::io, fmt::format("make the channel to the trainer: {}", std::strerror(errno))};
  }
  for (const int fd : ends) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kBufferBytes, sizeof kBufferBytes);
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

Status send_message(int fd, std::string_view message, int attached) {
  iovec bytes{const_cast<char*>(message.data()), message.size()};
  msghdr head{};
  head.msg_iov = &bytes;
  head.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (attached >= 0) {
    head.msg_control = control;
    head.msg_controllen = sizeof control;
    cmsghdr* const rights = CMSG_FIRSTHDR(&head);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof attached);
    std::memcpy(CMSG_DATA(rights), &attached, sizeof attached);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(fd, &head, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(message.size())) return {};
  return Error{ErrorCode::unavailable, fmt::format("write to the trainer channel: {}", std::strerror(errno))};
}

Result<std::vector<std::uint8_t>> receive_message(int fd, UniqueFd* attached) {
  std::vector<std::uint8_t> message(kMessageBytesMax + 1);
  iovec bytes{message.data(), message.size()};
  msghdr head{};
  head.msg_iov = &bytes;
  head.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (attached != nullptr) {
    head.msg_control = control;
    head.msg_controllen = sizeof control;
  }
  ssize_t got = 0;
  do {
    got = ::recvmsg(fd, &head, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == ECONNRESET) got = 0;
  if (got < 0) return Error{ErrorCode::io, fmt::format("read the trainer channel: {}", std::strerror(errno))};
  const cmsghdr* const rights = attached == nullptr ? nullptr : CMSG_FIRSTHDR(&head);
  if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
    *attached = UniqueFd(descriptor);
  }
  if (got == 0) return Error{ErrorCode::not_found, "the other end of the trainer channel is closed"};
  if (static_cast<std::size_t>(got) > kMessageBytesMax) {
    return Error{ErrorCode::corrupt, fmt::format("message is longer than {} bytes", kMessageBytesMax)};
  }
  message.resize(static_cast<std::size_t>(got));
  return message;
}

}  // namespace starling::trainer_link
