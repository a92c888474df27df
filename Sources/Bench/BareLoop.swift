import Glibc

/// The least that a client can do: ask on open connections, read, throw away.
///
/// One thread, `poll`, HTTP/1.1 in plain text, an answer's end by its `Content-Length`. What it gets
/// is as much as the origin gives on this machine, so what larder takes longer is larder's own.
package struct BareLoop {
  /// One connection and what is still to come on it.
  private struct Line {
    var socket: Int32
    /// Body bytes to come; nil while the head is being read.
    var left: Int?
    var head: [UInt8] = []
  }

  private let port: UInt16
  private let paths: [String]

  /// A loop over the paths of a server on the loopback interface.
  package init(port: Int, paths: [String]) {
    self.port = UInt16(truncatingIfNeeded: port)
    self.paths = paths
  }

  /// Fetches every path once over so many connections.
  ///
  /// - Returns: The seconds it took.
  /// - Throws: ``BenchError`` when the server does not answer as it should.
  package func run(parallel: Int) throws(BenchError) -> Double {
    var lines: [Line] = []
    defer { for line in lines { close(line.socket) } }
    let began = Self.seconds()
    var next = 0
    var done = 0
    for _ in 0..<min(parallel, paths.count) {
      lines.append(Line(socket: try connected()))
      try ask(lines[lines.count - 1].socket, next)
      next += 1
    }
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while done < paths.count {
      var polled = lines.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
      guard poll(&polled, nfds_t(polled.count), 30_000) > 0 else { throw Self.silent }
      for place in lines.indices where polled[place].revents != 0 {
        let count = recv(lines[place].socket, &buffer, buffer.count, 0)
        guard count > 0 else { throw Self.silent }
        guard try take(buffer[..<count], &lines[place]) else { continue }
        done += 1
        if next < paths.count {
          try ask(lines[place].socket, next)
          next += 1
        }
      }
    }
    return Self.seconds() - began
  }

  /// Takes what came; true when it ends an answer.
  private func take(_ bytes: ArraySlice<UInt8>, _ line: inout Line) throws(BenchError) -> Bool {
    if let left = line.left {
      line.left = left - bytes.count
    } else {
      line.head += bytes
      guard let length = Self.bodyLength(line.head) else { return false }
      line.left = length.end + length.body - line.head.count
      line.head.removeAll(keepingCapacity: true)
    }
    guard let left = line.left, left >= 0 else { throw Self.silent }
    guard left == 0 else { return false }
    line.left = nil
    return true
  }

  /// Where the head ends and how long the body is; nil while the head is not whole.
  static func bodyLength(_ bytes: [UInt8]) -> (end: Int, body: Int)? {
    var end = 3
    while end < bytes.count {
      let isEnd = bytes[end] == 10 && bytes[end - 1] == 13 && bytes[end - 2] == 10
      if isEnd { break }
      end += 1
    }
    guard end < bytes.count else { return nil }
    let head = String(decoding: bytes[...end], as: UTF8.self).lowercased()
    for field in head.split(whereSeparator: \.isNewline) where field.hasPrefix("content-length:") {
      let digits = field.drop { !$0.isNumber }
      return Int(digits).map { (end + 1, $0) }
    }
    return (end + 1, 0)
  }

  private func ask(_ socket: Int32, _ number: Int) throws(BenchError) {
    let text = "GET \(paths[number]) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nAccept: */*\r\n\r\n"
    let bytes = Array(text.utf8)
    guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else {
      throw Self.silent
    }
  }

  private func connected() throws(BenchError) -> Int32 {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) }
    }
    guard socket >= 0, code == 0 else {
      close(socket)
      throw Self.silent
    }
    return socket
  }

  private static let silent = BenchError(
    .unavailable,
    "cannot measure the origin itself: it does not answer the bare loop; try again"
  )

  private static func seconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
