import Glibc
import Synchronization

/// A loopback server that sends exactly the bytes of its script.
///
/// Each connection has its own thread. Of HTTP it only knows the blank line at the end of a
/// request head.
package final class ScriptedServer: Sendable {
  /// One action on a connection after a request has been read.
  package enum Action: Sendable {
    /// Send this text.
    case send(String)
    /// Send these bytes.
    case bytes([UInt8])
    /// Send the text repeatedly until the client closes the connection.
    case flood(String)
    /// Send one byte at intervals until the client closes the connection.
    case drip(UInt8)
    /// Wait until the client closes the connection.
    case hang
    /// Wait for the test's signal.
    case wait(Semaphore)
    /// Close the connection.
    case close
    /// Close the connection with a reset.
    case reset
  }

  /// A received request, with its number on the server and on its connection.
  package struct Received: Sendable {
    package let text: String
    /// The request's bytes, which need not be valid text.
    package let bytes: [UInt8]
    package let number: Int
    package let connection: Int

    init(_ bytes: [UInt8], number: Int = 0, connection: Int = 0) {
      self.bytes = bytes
      text = String(decoding: bytes, as: UTF8.self)
      self.number = number
      self.connection = connection
    }

    package var path: String {
      String(text.split(separator: " ", maxSplits: 2).dropFirst().first ?? "")
    }

    package func header(_ name: String) -> String? {
      for line in text.split(whereSeparator: \.isNewline).dropFirst()
      where line.lowercased().hasPrefix(name.lowercased() + ":") {
        return String(line.dropFirst(name.count + 1).drop { $0 == " " })
      }
      return nil
    }
  }

  private let listener: LoopbackListener
  private let requests = Mutex<[Received]>([])
  private let script: @Sendable (Received) -> [Action]

  package convenience init(_ script: @escaping @Sendable (Received) -> [Action]) {
    guard let listener = try? LoopbackListener() else { fatalError("no loopback port") }
    self.init(listener, script)
  }

  /// Listens on the given loopback address and port.
  package convenience init(
    on host: String,
    port: Int = 0,
    _ script: @escaping @Sendable (Received) -> [Action]
  ) throws {
    self.init(try LoopbackListener(on: host, port: port), script)
  }

  private init(_ listener: LoopbackListener, _ script: @escaping @Sendable (Received) -> [Action])
  {
    self.listener = listener
    self.script = script
    listener.start { [self] in serve($0, $1) }
  }

  /// Answers every request with the same actions.
  package convenience init(_ actions: Action...) {
    self.init { _ in actions }
  }

  package var port: Int { listener.port }

  package func url(_ path: String = "/") -> String { "http://127.0.0.1:\(port)\(path)" }

  package var received: [Received] { requests.withLock { $0 } }
  package var connections: Int { listener.connections }

  /// Stops all threads; call it at the end of the test.
  package func close() { listener.close() }

  private func serve(_ descriptor: Int32, _ connection: Int) {
    var buffer: [UInt8] = []
    while let bytes = readHead(descriptor, &buffer) {
      let request = requests.withLock { requests in
        let request = Received(bytes, number: requests.count, connection: connection)
        requests.append(request)
        return request
      }
      for action in script(request) {
        guard act(action, descriptor) else { return }
      }
    }
  }

  /// Reads up to the blank line, and drops the body that `Content-Length` announces.
  private func readHead(_ descriptor: Int32, _ buffer: inout [UInt8]) -> [UInt8]? {
    while true {
      if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        let request = Received(Array(buffer[..<end.upperBound]))
        let size = end.upperBound + (request.header("Content-Length").flatMap { Int($0) } ?? 0)
        if buffer.count >= size {
          let whole = Array(buffer[..<size])
          buffer.removeFirst(size)
          return whole
        }
      }
      var piece = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &piece, piece.count, 0)
      guard count > 0 else { return nil }
      buffer += piece[..<count]
    }
  }

  private func act(_ action: Action, _ descriptor: Int32) -> Bool {
    switch action {
    case .send(let text): return send(all: Array(text.utf8), to: descriptor)
    case .bytes(let bytes): return send(all: bytes, to: descriptor)
    case .flood(let text):
      let bytes = Array(text.utf8)
      while send(all: bytes, to: descriptor) {}
      return false
    case .drip(let byte):
      repeat {
        guard send(all: [byte], to: descriptor) else { return false }
      } while !isGone(descriptor, within: 100)
      return false
    case .hang:
      while !isGone(descriptor, within: 1000) {}
      return false
    case .wait(let semaphore):
      semaphore.wait()
      return true
    case .close:
      return false
    case .reset:
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(
        descriptor,
        SOL_SOCKET,
        SO_LINGER,
        &linger,
        socklen_t(MemoryLayout<linger>.size)
      )
      return false
    }
  }

  private func isGone(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }
}

/// Runs a closure on a new thread.
package func startThread(_ body: @escaping @Sendable () -> Void) {
  final class Box {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(
    &thread,
    nil,
    { context in
      guard let context else { return nil }
      Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body()
      return nil
    },
    Unmanaged.passRetained(Box(body)).toOpaque()
  )
  pthread_detach(thread)
}
