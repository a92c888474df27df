import Glibc
import SampleStore

/// A plain socket, so that tests see the raw bytes.
final class RawClient {
  /// How a connection ended.
  enum Ending: Equatable {
    case closed, reset, silent
  }

  private let descriptor: Int32
  private var held: [UInt8] = []

  init(_ store: SampleStore) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(
      descriptor,
      SOL_SOCKET,
      SO_RCVTIMEO,
      &limit,
      socklen_t(MemoryLayout<timeval>.size)
    )
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(UInt16(store.port).bigEndian)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let descriptor = descriptor
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 { throw Refused() }
  }

  struct Refused: Error {}

  deinit { close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      sent += count
    }
  }

  func get(_ path: String, _ headers: String...) {
    request("GET", path, headers)
  }

  func request(_ method: String, _ path: String, _ headers: [String] = [], body: String = "") {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: store"] + headers
    if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
    send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
  }

  /// Closes the sending side of the connection.
  func finish() {
    shutdown(descriptor, Int32(SHUT_WR))
  }

  /// One answer, with as much of its body as its length announces and the connection delivers.
  func answer(hasBody: Bool = true) -> Answer {
    while !held.containsHeadEnd, fill() == nil {}
    var answer = Answer(held)
    held = answer.body
    let isEmpty = !hasBody || answer.status < 200 || answer.status == 304
    let length = isEmpty ? 0 : answer["Content-Length"].flatMap { Int($0) }
    while held.count < length ?? Int.max, fill() == nil {}
    answer.body = Array(held.prefix(length ?? Int.max))
    held.removeFirst(answer.body.count)
    return answer
  }

  /// Reads everything until the connection ends.
  func rest() -> (bytes: [UInt8], ending: Ending) {
    while true {
      if let ending = fill() {
        defer { held = [] }
        return (held, ending)
      }
    }
  }

  private func fill() -> Ending? {
    var piece = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &piece, piece.count, 0)
    if count > 0 {
      held += piece[..<count]
      return nil
    }
    if count == 0 { return .closed }
    return errno == ECONNRESET ? .reset : .silent
  }
}

/// A parsed answer: status line, headers and body.
struct Answer {
  var status = 0
  var headers: [HeaderField] = []
  var body: [UInt8] = []

  init(_ bytes: [UInt8]) {
    guard let end = bytes.headEnd else { return }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    status = Int(lines[0].split(separator: " ")[1]) ?? 0
    headers = lines.dropFirst().map { line in
      let pair = line.split(separator: ":", maxSplits: 1)
      return HeaderField(String(pair[0]), String(pair[1].dropFirst()))
    }
    body = Array(bytes[(end + 4)...])
  }

  subscript(_ name: String) -> String? { headers[name] }

  var text: String { String(decoding: body, as: UTF8.self) }
}

extension [UInt8] {
  var headEnd: Int? {
    guard count >= 4 else { return nil }
    return (0...(count - 4)).first { self[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }
  }

  var containsHeadEnd: Bool { headEnd != nil }
}

extension SampleStore {
  /// Sends one request on its own connection.
  func ask(_ path: String, _ headers: String..., method: String = "GET") throws -> Answer {
    let client = try RawClient(self)
    client.request(method, path, headers)
    return client.answer(hasBody: method != "HEAD")
  }
}
