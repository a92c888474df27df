import Foundation
import Glibc
import Support
import Testing

/// A running `larder serve`, and a client that sends it raw bytes.
final class Served: Sendable {
  let running: Running
  let port: UInt16
  /// The line that the server printed when it was ready, which contains its URL.
  let line: String

  /// Starts a server on a shop's cache and waits until it listens.
  init(_ shop: Shop, _ arguments: String..., file: Bool = true) throws {
    let pipe = shop.folder.path("serving-\(UInt32.random(in: 0 ... .max))")
    guard mkfifo(pipe, 0o600) == 0 else { throw CommandError("cannot make \(pipe)") }
    let words =
      ["serve"] + (file ? [shop.catalog] : [])
      + ["--cache", shop.cache, "--port", "0", "--retries", "0"] + arguments
    running = try Running(
      "/bin/bash",
      ["-c", "exec \"$larder\" \"$@\" > \(pipe)", "bash"] + words,
      environment: ["larder": Command.binary]
    )
    // Opening the pipe waits for the shell; reading it waits until the server prints its line or
    // ends.
    let line = try Self.line(of: pipe)
    guard let port = line.split(separator: ":").last.flatMap({ UInt16($0.prefix { $0.isNumber }) })
    else {
      let ended = try running.wait()
      throw CommandError("it does not serve: \(line) \(ended.errors)")
    }
    self.port = port
    self.line = line
  }

  deinit { running.send(SIGKILL) }

  private static func line(of pipe: String) throws -> String {
    let descriptor = open(pipe, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandError("cannot open \(pipe)") }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != 10 { text.append(byte) }
    return String(decoding: text, as: UTF8.self)
  }

  /// An answer of the server.
  struct Reply {
    let status: Int
    let head: String
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The value of a header field.
    subscript(name: String) -> String? {
      head.components(separatedBy: "\r\n").first {
        $0.lowercased().hasPrefix(name.lowercased() + ":")
      }.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    /// The body as JSON.
    var json: Any? {
      try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed)
    }
  }

  /// Requests a path.
  func get(_ path: String, _ fields: String...) throws -> Reply {
    try send("GET", path, fields)
  }

  /// Sends a request with the given fields and reads the answer until the connection closes.
  func send(
    _ method: String,
    _ target: String,
    _ fields: [String] = [],
    host: String? = "127.0.0.1",
    body: String = ""
  ) throws -> Reply {
    var text = "\(method) \(target) HTTP/1.1\r\n"
    if let host { text += "Host: \(host)\r\n" }
    for field in fields { text += field + "\r\n" }
    if !body.isEmpty { text += "Content-Length: \(body.utf8.count)\r\n" }
    return try raw(Array((text + "Connection: close\r\n\r\n" + body).utf8))
  }

  /// Sends bytes and reads until the server closes the connection.
  func raw(_ bytes: [UInt8]) throws -> Reply {
    let connection = try connect()
    defer { close(connection) }
    _ = bytes.withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
    return Self.reply(Self.rest(of: connection))
  }

  /// Opens a connection; the caller closes it.
  func connect() throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, size)
      }
    }
    guard code == 0 else {
      close(descriptor)
      throw CommandError("cannot connect: \(String(cString: strerror(errno)))")
    }
    var patience = timeval(tv_sec: 30, tv_usec: 0)
    let length = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, length)
    return descriptor
  }

  /// Reads until the server closes the connection.
  static func rest(of connection: Int32) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(connection, &buffer, buffer.count)
      guard count > 0 else { return bytes }
      bytes += buffer[..<count]
    }
  }

  /// Parses an answer.
  static func reply(_ bytes: [UInt8]) -> Reply {
    let data = Data(bytes)
    guard let end = data.range(of: Data("\r\n\r\n".utf8)) else {
      return Reply(status: 0, head: String(decoding: bytes, as: UTF8.self), body: [])
    }
    let head = String(decoding: data[..<end.lowerBound], as: UTF8.self)
    let words = head.split(separator: " ", maxSplits: 2)
    return Reply(
      status: words.count > 1 ? Int(words[1]) ?? 0 : 0,
      head: head,
      body: Array(data[end.upperBound...])
    )
  }
}
