import Base
import Support
import Synchronization

/// The kind of resource that a test's URL is for larder.
enum CacheSuitePlace: String, CaseIterable, Sendable {
  case picture
  case detail
  case section
}

/// The origin for the suite's tests.
///
/// It answers the request for a URL as the current step of the test says, and records the request.
///
/// It answers like the server of the suite. In a step that expects a conditional request, it answers 304 to the
/// validators of the step before, and an error to any other request.
final class CacheSuiteOrigin: Sendable {
  /// A request that the origin received, and its answer.
  struct Seen: Sendable {
    let request: ScriptedServer.Received
    let status: Int
  }

  private struct State {
    var step = 0
    var seen: [Int: [Seen]] = [:]
  }

  private let cases: [CacheSuite.Case]
  private let place: CacheSuitePlace
  private let clock: TestClock
  private let state = Mutex(State())

  init(_ cases: [CacheSuite.Case], _ place: CacheSuitePlace, _ clock: TestClock) {
    self.cases = cases
    self.place = place
    self.clock = clock
  }

  /// Starts a step, and forgets the requests of the step before.
  func begin(_ step: Int) {
    state.withLock { $0 = State(step: step) }
  }

  /// The requests for a test's URL in this step.
  func seen(_ number: Int) -> [Seen] { state.withLock { $0.seen[number] ?? [] } }

  /// Answers one request.
  ///
  /// The URL of a test is `/t/NUMBER`, and redirects from it lead to `/target`.
  func answer(_ request: ScriptedServer.Received) -> [ScriptedServer.Action] {
    let path = request.path.prefix { $0 != "?" }
    let step = state.withLock { $0.step }
    if path == "/list" { return send(200, ["Cache-Control: no-cache"], list(step)) }
    if path == "/common.jpg" {
      return send(200, ["Cache-Control: max-age=999999"], Self.picture("common"))
    }
    if path == "/target", let number = request.path.split(separator: "?").last.flatMap({ Int($0) })
    {
      return send(200, ["Cache-Control: max-age=999999"], body(number, step))
    }
    guard path.hasPrefix("/t/"), let number = Int(path.dropFirst(3)) else {
      return send(404, [], [])
    }
    return answer(request, number, cases[number], step)
  }

  private func answer(
    _ request: ScriptedServer.Received,
    _ number: Int,
    _ test: CacheSuite.Case,
    _ step: Int
  ) -> [ScriptedServer.Action] {
    let config = test.requests[step]
    var status = config.response_status?.code ?? 200
    if config.expected_type?.hasSuffix("validated") == true, step > 0 {
      let before = test.requests[step - 1].response_headers ?? []
      func isRepeated(_ name: String, by condition: String) -> Bool {
        let field = before.first { $0.name.lowercased() == name }
        return field.map { sent($0, in: test, at: step - 1) == request.header(condition) } ?? false
      }
      let isValid =
        isRepeated("last-modified", by: "If-Modified-Since")
        || isRepeated("etag", by: "If-None-Match")
      status = isValid ? 304 : 599
    }
    let seen = Seen(request: request, status: config.disconnect == true ? 0 : status)
    state.withLock { $0.seen[number, default: []].append(seen) }
    if config.disconnect == true { return [.close] }
    var fields = (config.response_headers ?? []).compactMap { field -> String? in
      // Send the true length, because the length in the test would not fit a picture.
      if field.name.lowercased() == "content-length", status != 304 { return nil }
      let value = field.text(at: clock.now)
      guard config.magic_locations == true, field.name.hasSuffix("ocation") else {
        return "\(field.name): \(value)"
      }
      return "\(field.name): /t/\(number)\(value.isEmpty ? "" : "/\(value)")"
    }
    // Add a date to an answer without one, as the server of the suite does.
    if !fields.contains(where: { $0.lowercased().hasPrefix("date:") }) {
      fields.append("Date: \(clock.now.httpDate)")
    }
    if (300..<400).contains(status), status != 304 { fields.append("Location: /target?\(number)") }
    let interim = (config.interim_responses ?? []).map {
      ScriptedServer.Action.send("HTTP/1.1 \($0.code) Interim\r\nLink: </a>\r\n\r\n")
    }
    return interim + send(status, fields, body(number, step))
  }

  /// The value that a field had in an earlier step.
  private func sent(_ field: CacheSuite.Field, in test: CacheSuite.Case, at step: Int) -> String {
    let later = test.requests[step...].dropLast().count { $0.pause_after == true }
    return field.text(at: clock.now + -Int64(later) * CacheSuiteRun.pause)
  }

  private func send(_ status: Int, _ fields: [String], _ body: [UInt8]) -> [ScriptedServer.Action]
  {
    let isEmpty = status == 304 || status == 204
    var head = ["HTTP/1.1 \(status) Status"] + fields
    if !isEmpty { head.append("Content-Length: \(body.count)") }
    let text = head.joined(separator: "\r\n") + "\r\n\r\n"
    return [.bytes(Array(text.utf8) + (isEmpty ? [] : body))]
  }

  /// The body for a test's URL.
  ///
  /// It is of the kind that larder expects, and differs in each step.
  private func body(_ number: Int, _ step: Int) -> [UInt8] {
    let version = Self.version(number, step)
    switch place {
    case .picture: return Self.picture(version)
    case .detail:
      return Array(
        """
        {"hash": "\(number)", "data": {"top_image": "/common.jpg", "thumb_images": [], \
        "product_description": "\(version)", "prices": ["7,000원"]}}
        """.utf8
      )
    case .section: return Array("[\(Self.item(number, version, image: "/common.jpg"))]".utf8)
    }
  }

  /// The listing that refers to every test as a picture or a detail.
  private func list(_ step: Int) -> [UInt8] {
    let items = cases.indices.map { number in
      let image =
        place == .picture ? Self.path(number, cases[number].requests[step]) : "/common.jpg"
      return Self.item(number, "Test", image: image)
    }
    return Array("[\(items.joined(separator: ","))]".utf8)
  }

  private static func item(_ number: Int, _ title: String, image: String) -> String {
    """
    {"detail_hash": "\(number)", "title": "\(title)", "image": "\(image)", "s_price": "7,000원"}
    """
  }

  /// The bytes of a picture that contains its version.
  static func picture(_ version: String) -> [UInt8] {
    let text = Array(version.utf8)
    return [0xFF, 0xD8, 0xFF, 0xFE, 0, UInt8(text.count + 2)] + text + [0xFF, 0xD9]
  }

  /// The version text in the body of a step.
  static func version(_ number: Int, _ step: Int) -> String { "test \(number), body \(step)" }

  /// The path of a test's URL in a step.
  static func path(_ number: Int, _ step: CacheSuite.Step) -> String {
    "/t/\(number)" + (step.query_arg.map { "?" + $0 } ?? "")
  }
}
