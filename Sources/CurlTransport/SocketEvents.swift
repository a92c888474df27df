import CCurl
import CGlibc
import Glibc
import Transport

/// Which of libcurl's sockets are ready, and when it next wants to look at its timers.
///
/// libcurl names the sockets that it waits for and the kernel those that are ready, so that a turn costs what it moves
/// on. `curl_multi_perform` would walk through every running transfer and ask the kernel about each socket, each time.
final class SocketEvents: @unchecked Sendable {
  // SAFETY: used on the transfer thread only, but for `wake()`, which writes to a descriptor that lives as long as this
  // object, and the end, when no thread is left.
  private let epoll: Int32
  /// An eventfd by which other threads end a wait.
  private let bell: Int32
  private var ready = [epoll_event](repeating: epoll_event(), count: 128)
  private var readyCount = 0
  /// By descriptor.
  private var watches: [Watch] = []
  /// When libcurl wants to be called though no socket is ready.
  private var due: MonotonicTime?
  /// Whether the kernel refused to watch a socket: all are then walked through, as often as `blindWait` says.
  private var isBlind = false
  private static let blindWait: Int32 = 10

  private struct Watch {
    /// What libcurl waits for, in epoll's words; 0 for nothing.
    var wanted: UInt32 = 0
    /// Whether the kernel was told of the descriptor, which it forgets by itself when that is closed.
    var isTold = false
  }

  init() throws(OutOfDescriptors) {
    epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = epoll < 0 ? -1 : eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    var event = epoll_event(events: EPOLLIN.rawValue, data: epoll_data_t(fd: bell))
    // What is open by now is closed by `deinit`, which runs after a throw too once every property has its value.
    guard bell >= 0, epoll_ctl(epoll, EPOLL_CTL_ADD, bell, &event) == 0 else {
      throw OutOfDescriptors()
    }
  }

  deinit {
    if bell >= 0 { close(bell) }
    if epoll >= 0 { close(epoll) }
  }

  /// Has libcurl tell this object what it waits for, for as long as both live.
  ///
  /// - Returns: CURLM_OK, or why libcurl refuses.
  func attach(to multi: UnsafeMutableRawPointer) -> CURLMcode {
    // SAFETY: unretained: the multi handle's owner keeps this object until the handle is freed.
    let context = Unmanaged.passUnretained(self).toOpaque()
    return larder_multi_set_callbacks(multi, Self.onSocket, Self.onTimer, context)
  }

  /// Ends a wait, or the next one, from any thread.
  ///
  /// Once more when a signal or the system's need refuses it; were both refused, the loop would look by
  /// itself when its rest ends.
  func wake() {
    var one: UInt64 = 1
    if write(bell, &one, 8) < 0 { _ = write(bell, &one, 8) }
  }

  /// Waits for something to do, for a wake, or for so many milliseconds.
  func wait(milliseconds: Int32) {
    var limit = isBlind ? min(milliseconds, Self.blindWait) : milliseconds
    if let due, limit > 0 {
      let left = max(0, due - .now())
      if left < Int64(limit) * 1_000_000 { limit = Int32((left + 999_999) / 1_000_000) }
    }
    readyCount = Int(max(0, epoll_wait(epoll, &ready, Int32(ready.count), limit)))
  }

  /// Moves every transfer on whose socket the last wait found ready, or whose time has come.
  func perform(_ multi: UnsafeMutableRawPointer) {
    for position in 0..<readyCount {
      let (descriptor, events) = (ready[position].data.fd, ready[position].events)
      if descriptor == bell {
        var count: UInt64 = 0
        _ = read(bell, &count, 8)
      } else if let wanted = wanted(descriptor) {
        larder_multi_socket_action(multi, descriptor, Self.bits(events, wanted))
      }
    }
    readyCount = 0
    if isBlind {
      larder_multi_perform(multi)
    } else if let due, due <= .now() {
      self.due = nil
      larder_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0)
    }
  }

  /// What libcurl waits for on a ready socket; nil when for nothing, and the kernel then tells of it no more.
  private func wanted(_ descriptor: Int32) -> UInt32? {
    let wanted = watches[Int(descriptor)].wanted
    guard wanted == 0 else { return wanted }
    // A connection at rest that its server closes.
    epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, nil)
    watches[Int(descriptor)].isTold = false
    return nil
  }

  /// Ready for what is wanted when broken: reading or writing then tells how.
  private static func bits(_ events: UInt32, _ wanted: UInt32) -> Int32 {
    let isBroken = events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0
    let ready = isBroken ? wanted : events & wanted
    return (ready & EPOLLIN.rawValue != 0 ? CURL_CSELECT_IN : 0)
      | (ready & EPOLLOUT.rawValue != 0 ? CURL_CSELECT_OUT : 0)
  }

  /// Notes what libcurl waits for.
  ///
  /// A socket that it lets go of stays watched: its connection will serve the next transfer, and an open connection at
  /// rest is never ready.
  private func watch(_ descriptor: Int32, _ wanted: UInt32) {
    let number = Int(descriptor)
    while watches.count <= number { watches.append(Watch()) }
    watches[number].wanted = wanted
    guard wanted != 0 else { return }
    var event = epoll_event(events: wanted, data: epoll_data_t(fd: descriptor))
    // The descriptor may have been closed meanwhile and be another's now, so that the kernel has the last word.
    var isTold = watches[number].isTold
    if isTold { isTold = epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event) == 0 }
    if !isTold { isTold = epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0 }
    watches[number].isTold = isTold
    if !isTold { isBlind = true }
  }

  // SAFETY: libcurl passes the context that `attach` set, alive as long as the multi handle.
  private static let onSocket: larder_socket_callback = { _, descriptor, what, context, _ in
    guard let context else { return 0 }
    let events = Unmanaged<SocketEvents>.fromOpaque(context).takeUnretainedValue()
    let wanted: UInt32 =
      switch what {
      case CURL_POLL_IN: EPOLLIN.rawValue
      case CURL_POLL_OUT: EPOLLOUT.rawValue
      case CURL_POLL_INOUT: EPOLLIN.rawValue | EPOLLOUT.rawValue
      default: 0
      }
    events.watch(descriptor, wanted)
    return 0
  }

  // SAFETY: as above.
  private static let onTimer: larder_timer_callback = { _, milliseconds, context in
    guard let context else { return 0 }
    let events = Unmanaged<SocketEvents>.fromOpaque(context).takeUnretainedValue()
    events.due = milliseconds < 0 ? nil : MonotonicTime.now() + .milliseconds(milliseconds)
    return 0
  }
}

/// The system gives no descriptor to wait with.
struct OutOfDescriptors: Error {}
