import Glibc
import Synchronization

/// A loopback proxy for HTTP and SOCKS 5 on one port, which treats each request as its script
/// says.
package final class ScriptedProxy: Sendable {
  /// A request to the proxy.
  package struct Asked: Sendable, CustomStringConvertible {
    /// `CONNECT`, `SOCKS`, or the method of a plain request.
    package let method: String
    /// `host:port`, or the URL of a plain request.
    package let target: String
    /// The request head; for SOCKS the user and password.
    package let text: String

    package var description: String { "\(method) \(target)" }
  }

  /// The proxy's reaction to a request.
  package enum Answer: Sendable {
    /// Connect to that port of this machine and relay all bytes.
    case pass(Int)
    /// Send this text and close.
    case say(String)
    /// Refuse with this SOCKS code.
    case refuse(UInt8)
  }

  private let listener: LoopbackListener
  private let password: String?
  private let requests = Mutex<[Asked]>([])
  private let script: @Sendable (Asked) -> Answer

  /// Starts a proxy; with `password` (`user:password`) SOCKS requires authentication.
  package init(password: String? = nil, _ script: @escaping @Sendable (Asked) -> Answer) {
    guard let listener = try? LoopbackListener() else { fatalError("no loopback port") }
    self.listener = listener
    self.password = password
    self.script = script
    listener.start { [self] connection, _ in serve(connection) }
  }

  package var port: Int { listener.port }

  /// The requests so far, in order.
  package var asked: [Asked] { requests.withLock { $0 } }

  /// The proxy's URL with a scheme and optional user information.
  package func url(_ scheme: String = "http", _ userInfo: String? = nil) -> String {
    "\(scheme)://\(userInfo.map { $0 + "@" } ?? "")127.0.0.1:\(port)"
  }

  /// Stops all threads; call it at the end of the test.
  package func close() { listener.close() }

  private func note(_ method: String, _ target: String, _ text: String) -> Answer {
    let asked = Asked(method: method, target: target, text: text)
    requests.withLock { $0.append(asked) }
    return script(asked)
  }

  private func serve(_ client: Int32) {
    guard let first = read(client, 1)?.first else { return }
    if first == 5 { serveSOCKS(client) } else { serveHTTP(client, first) }
  }

  private func serveHTTP(_ client: Int32, _ first: UInt8) {
    var head = [first]
    while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
      guard let byte = read(client, 1) else { return }
      head += byte
    }
    let text = String(decoding: head, as: UTF8.self)
    let words = text.split(separator: " ", maxSplits: 2).map(String.init)
    guard words.count == 3 else { return }
    switch note(words[0], words[1], text) {
    case .say(let answer): _ = send(all: Array(answer.utf8), to: client)
    case .refuse: break
    case .pass(let port):
      if words[0] == "CONNECT" {
        guard let origin = connect(port) else { return }
        _ = send(all: Array("HTTP/1.1 200 Go ahead\r\n\r\n".utf8), to: client)
        relay(client, origin)
      } else {
        guard let origin = connect(port) else { return }
        // One request a connection, so that the next one is parsed here and not relayed.
        let path = words[1].split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        let target = "/" + (path.last?.drop { $0 != "/" }.dropFirst() ?? "")
        // Swift counts CR LF as one character: this drops the blank line and keeps the end of the
        // last field.
        let rest = words[2].dropLast() + "Connection: close\r\n\r\n"
        _ = send(all: Array("\(words[0]) \(target) \(rest)".utf8), to: origin)
        relay(client, origin)
      }
    }
  }

  /// The SOCKS 5 handshake. (RFC 1928 and 1929)
  private func serveSOCKS(_ client: Int32) {
    guard let count = read(client, 1)?.first, let methods = read(client, Int(count)) else {
      return
    }
    var said = ""
    if let password {
      guard methods.contains(2) else {
        _ = send(all: [5, 0xFF], to: client)
        return
      }
      _ = send(all: [5, 2], to: client)
      guard let size = read(client, 2), let user = read(client, Int(size[1])),
        let length = read(client, 1)?.first, let secret = read(client, Int(length))
      else { return }
      said = String(decoding: user, as: UTF8.self) + ":" + String(decoding: secret, as: UTF8.self)
      _ = send(all: [1, said == password ? 0 : 1], to: client)
      guard said == password else { return }
    } else {
      _ = send(all: [5, 0], to: client)
    }
    guard let head = read(client, 4), let target = readTarget(client, head[3]) else { return }
    switch note("SOCKS", target, said) {
    case .say(let text): _ = send(all: Array(text.utf8), to: client)
    case .refuse(let code): _ = send(all: [5, code, 0, 1, 0, 0, 0, 0, 0, 0], to: client)
    case .pass(let port):
      guard let origin = connect(port) else { return }
      _ = send(all: [5, 0, 0, 1, 0, 0, 0, 0, 0, 0], to: client)
      relay(client, origin)
    }
  }

  private func readTarget(_ client: Int32, _ kind: UInt8) -> String? {
    let host: String
    switch kind {
    case 1:
      guard let bytes = read(client, 4) else { return nil }
      host = bytes.map(String.init).joined(separator: ".")
    case 3:
      guard let size = read(client, 1)?.first, let name = read(client, Int(size)) else {
        return nil
      }
      host = String(decoding: name, as: UTF8.self)
    default:
      guard let bytes = read(client, 16) else { return nil }
      host = "[" + bytes.map { String($0, radix: 16) }.joined(separator: ".") + "]"
    }
    guard let port = read(client, 2) else { return nil }
    return "\(host):\(Int(port[0]) << 8 | Int(port[1]))"
  }

  private func connect(_ port: Int) -> Int32? {
    let origin = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let isConnected = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) {
        Glibc.connect(origin, $0.baseAddress, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if isConnected { return origin }
    Glibc.close(origin)
    return nil
  }

  /// Relays bytes in both directions until one side ends.
  private func relay(_ client: Int32, _ origin: Int32) {
    defer { Glibc.close(origin) }
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      var ends = [client, origin].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&ends, 2, -1) > 0 else { return }
      for (end, other) in [(0, origin), (1, client)] where ends[end].revents != 0 {
        let count = recv(ends[end].fd, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        _ = send(all: Array(buffer[..<count]), to: other)
      }
    }
  }

  private func read(_ descriptor: Int32, _ count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var piece = [UInt8](repeating: 0, count: count - bytes.count)
      let got = recv(descriptor, &piece, piece.count, 0)
      guard got > 0 else { return nil }
      bytes += piece[..<got]
    }
    return bytes
  }
}
