import Base
import Dispatch
import FoundationEssentials
import Imaging
import Synchronization
import SystemPackage
import Transport

/// Posts stamped pictures to a server, with one request for each picture.
///
/// Several threads can use it at once. ``deliver(_:_:)`` blocks. A picture is sent again only if the server certainly
/// did not receive it, or asks the client to send it later. The header field `Idempotency-Key` depends only on the
/// content of a request. If the server supports the field, it accepts the same photo only once, even if the command
/// runs again.
package final class PictureUpload: Sendable {
  private let destination: UploadDestination
  private let text: String
  private let transport: any Fetching
  private let policy: RetryPolicy
  private let memory: UploadMemory?

  private let random: @Sendable () -> Double
  private let pause: (@Sendable (Duration) -> Void)?
  private let isStopped = Atomic(false)
  private let stopping = DispatchSemaphore(value: 0)
  /// The failure of every further upload, after the server asked to wait for longer than a run waits.
  private let closed = Mutex<TransferFailure?>(nil)

  /// The size of the longest reply to accept.
  private static let replyLimit = ByteCount.mebibytes(1)

  /// Prepares uploads.
  ///
  /// - Parameters:
  ///   - destination: The URL to post to, and the token.
  ///   - text: The text on the stamp; an empty string if there is none.
  ///   - transport: The transport that sends the requests.
  ///   - policy: The number of retries, and the waits between them.
  ///   - memory: The record of earlier uploads. Pictures in it are not posted again. Pass nil to post every picture.
  ///   - random: Returns a random number in 0..<1. It varies the length of each wait.
  ///   - pause: Waits for a duration. Tests use it. Nil means to wait in real time, until ``stop()`` is called.
  package init(
    to destination: UploadDestination,
    text: String,
    transport: any Fetching,
    policy: RetryPolicy = RetryPolicy(),
    memory: UploadMemory? = nil,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    pause: (@Sendable (Duration) -> Void)? = nil
  ) {
    self.destination = destination
    self.text = text
    self.transport = transport
    self.policy = policy
    self.memory = memory
    self.random = random
    self.pause = pause
  }

  /// Whether the server has not accepted the picture in a file yet.
  package func isOwed(_ output: FilePath) -> Bool {
    memory.map { !$0.holds(output, at: destination) } ?? false
  }

  /// Cancels the current uploads and all later ones.
  package func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    transport.cancelAll()
    stopping.signal()
  }

  /// Posts a picture.
  ///
  /// Blocks until the server has answered or the retries are exhausted.
  ///
  /// - Parameters:
  ///   - picture: The picture. A PNG is converted to a JPEG.
  ///   - result: The result of stamping the picture.
  /// - Returns: The same result with data about the upload. It has an error if the server did not accept the picture.
  package func deliver(_ picture: EncodedPicture, _ result: PictureResult) -> PictureResult {
    var result = result
    // The name `-` stands for stdout or stdin.
    let name = [result.output, result.input].compactMap(\.self).first { $0 != "-" } ?? "photo"
    do throws(LarderError) {
      let contents = try picture.contents()
      let jpeg = try PictureFile(contents, name: name).asJPEG()
      let stem = (name.split(separator: "/").last.map(String.init)).flatMap { FilePath($0).stem }
      let fileName = stem ?? "photo"
      let filled = MultipartForm(
        time: picture.time?.civil,
        text: text,
        jpeg: jpeg,
        fileName: fileName + ".jpg"
      )
      if let memory, memory.holds(filled, at: destination) {
        try memory.add(filled, result.output, contents, at: destination)
        result.upload = PictureResult.Upload(isAccepted: true, attempts: 0)
        return result
      }
      let sent = send(filled)
      result.upload = sent.account
      result.error = sent.failure.map { error(name, $0, sent.account) }
      if sent.failure == nil {
        try memory?.add(filled, result.output, contents, at: destination)
      }
    } catch {
      result.error = error
    }
    return result
  }

  /// The result of sending one picture; its failure is nil if the server accepted the picture.
  private typealias Sent = (account: PictureResult.Upload, failure: TransferFailure?)

  private func failed(_ failure: TransferFailure, _ attempts: Int) -> Sent {
    let account = PictureResult.Upload(
      isAccepted: false,
      status: failure.status,
      message: UploadReply(failure.refusal, hiding: destination.token).message,
      attempts: attempts
    )
    return (account, failure)
  }

  private func send(_ form: MultipartForm) -> Sent {
    if let failure = closed.withLock({ $0 }) { return failed(failure, 0) }
    let request = request(form)
    var attempts = 0
    while true {
      let (result, body) = exchange(request)
      switch result {
      case .success(let response):
        attempts += response.attempts
        return judged(response, body, attempts)
      case .failure(var failure):
        attempts += max(failure.attempts, 1)
        if let seconds = failure.longWait {
          failure.ask(toWait: seconds, from: .now())
          // The server's message is only about this picture.
          closed.withLock {
            $0 = failure
            $0?.refusal = []
          }
        }
        let wait = policy.delay(
          afterUpload: failure,
          attempts: attempts,
          random: random()
        )
        guard let wait, !hasStopped else { return failed(failure, attempts) }
        rest(wait)
      }
    }
  }

  private func request(_ form: MultipartForm) -> Request {
    var request = Request(destination.url)
    request.method = .post
    request.trust = .named
    request.accept = .json
    request.bodyLimit = Self.replyLimit
    request.body = form.bytes
    request.headers["Content-Type"] = form.contentType
    request.headers["Idempotency-Key"] = key(form)
    if let token = destination.token { request.credentials[destination.header] = token }
    return request
  }

  /// A digest of the content, formatted like a UUID because some servers expect one.
  private func key(_ form: MultipartForm) -> String {
    let digits = Array(form.digest)
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
      .joined(separator: "-")
  }

  private func exchange(
    _ request: Request
  ) -> (result: Result<Response, TransferFailure>, body: [UInt8]) {
    let cancelled = TransferFailure(reason: .cancelled, url: request.url.redacted)
    if hasStopped { return (.failure(cancelled), []) }
    let sink = MemorySink()
    let result = transport.result(of: request, into: sink) { hasStopped }
    return (result, sink.bytes)
  }

  /// Judges a reply with a status 2xx.
  ///
  /// It is a success unless its body says otherwise.
  private func judged(_ response: Response, _ body: [UInt8], _ attempts: Int) -> Sent {
    let reply = UploadReply(body, hiding: destination.token)
    let account = PictureResult.Upload(
      isAccepted: reply.isAccepted,
      status: reply.status ?? response.head.status,
      message: reply.message,
      attempts: attempts
    )
    guard !reply.isAccepted else { return (account, nil) }
    let failure = TransferFailure(
      reason: FailureReason(rawValue: "refused"),
      url: destination.url.redacted,
      attempts: attempts,
      status: account.status,
      mayHaveBeenSent: true
    )
    return (account, failure)
  }

  private func error(
    _ name: String,
    _ failure: TransferFailure,
    _ account: PictureResult.Upload
  ) -> LarderError {
    let isAmbiguous = failure.mayHaveBeenSent && failure.status == nil
    let isClosed = failure.reason == .askedToWait
    let advice: String?
    switch failure.status {
    case .some where isClosed: advice = failure.detail
    case .some(300...399): advice = "uploads do not follow redirects; give the final URL"
    case .some(401), .some(403): advice = "check the token"
    case nil where isAmbiguous:
      advice = "it may have arrived anyway; check there before you send it again"
    case .some: advice = "fix the problem that the server reports"
    case nil: advice = nil
    }
    let helpsAgain = failure.status.map { $0 >= 400 && $0 != 401 && $0 != 403 } ?? !isAmbiguous
    let said = account.message.map { " (\($0))" } ?? ""
    return LarderError(
      failure.status == nil && !isAmbiguous ? .unreachable : .undelivered,
      "cannot post \(name) to \(destination.url.redacted): \(failure.reason)\(said)"
        + (advice.map { "; \($0)" } ?? ""),
      remedy: helpsAgain ? .again : nil
    )
  }

  private var hasStopped: Bool { isStopped.load(ordering: .sequentiallyConsistent) }

  private func rest(_ wait: Duration) {
    if let pause { return pause(wait) }
    let seconds = wait.inSeconds
    // Signal again, so that all waiting threads wake up after ``stop()``.
    if stopping.wait(timeout: .now() + seconds) == .success { stopping.signal() }
  }
}

/// The URL that photos are posted to, and the token.
package struct UploadDestination: Sendable {
  /// The URL.
  package let url: WebURL
  /// The header that carries the token.
  let header: String
  /// The token, or nil if the user gave no token.
  ///
  /// It is never printed, logged or stored.
  let token: String?

  /// Checks a destination.
  ///
  /// - Parameters:
  ///   - text: The URL. It must be https, or http to a loopback address such as 127.0.0.1.
  ///   - token: The token; nil if there is none. White space around it is removed.
  ///   - header: The name of the header that carries it.
  ///   - parser: Parses URLs.
  /// - Throws: ``LarderError`` with the reason. It never contains the token.
  package init(
    _ text: String,
    token: String?,
    header: String = "token",
    parser: some URLParsing
  ) throws(LarderError) {
    func wrong(_ words: String) -> LarderError { LarderError(.usage, "cannot \(words)") }
    do {
      url = try parser.parse(text, relativeTo: nil)
    } catch {
      throw wrong(
        "post to \(error.url): it is not an http or https URL; give one like https://host/path"
      )
    }
    guard url.scheme == .https || url.isLoopback else {
      throw wrong(
        "post to \(url.redacted): over http, anyone on the way can read the photo and the token; "
          + "use https"
      )
    }
    var probe = Headers()
    probe.append(header, "x")
    guard !probe.isEmpty else {
      throw wrong("send the header \(header): it is not a valid header name; try token")
    }
    self.header = header
    let bare = token.map(\.trimmed)
    guard bare?.isEmpty != true else {
      throw wrong("send the token: it is empty; write it into the file or variable")
    }
    guard bare?.utf8.allSatisfy({ $0 > 31 && $0 != 127 }) != false else {
      throw wrong(
        "send the token: it has more than one line; leave only the token in the file or variable"
      )
    }
    self.token = bare
  }
}

extension RetryPolicy {
  /// The time until an upload is sent again, or nil if it must not be.
  ///
  /// An upload is repeated only if the server certainly did not receive it, or asks the client to send it later (429 or
  /// 503 with `Retry-After`). A photo that is posted twice is worse than one that the user has to post again.
  ///
  /// - Parameters:
  ///   - failure: The failure of the last attempt.
  ///   - attempts: The number of attempts so far.
  ///   - random: A number in 0..<1, for the jitter of the wait.
  /// - Returns: The time, or nil.
  func delay(
    afterUpload failure: TransferFailure,
    attempts: Int,
    random: Double
  ) -> Duration? {
    if let status = failure.status {
      guard status == 429 || status == 503, let seconds = failure.retryAfter,
        // If the server asks for a longer wait, the upload is left for a later run.
        Duration.seconds(min(seconds, 86_400)) <= longestRetryAfter
      else { return nil }
    } else if failure.mayHaveBeenSent {
      return nil
    }
    // The request had no effect, so repeating it is as safe as repeating a GET.
    return delay(after: failure, attempts: attempts, isRepeatable: true, random: random)
  }
}

/// A server's answer to an upload, for example `{"status": 400, "success": false, "message": "…", "data": …}`.
///
/// Every key can be missing. If the answer has another form, only the HTTP status counts.
struct UploadReply: Decodable {
  /// The status in the reply.
  ///
  /// It can differ from the HTTP status.
  var status: Int?
  /// Whether the reply says that the upload succeeded.
  var success: Bool?
  /// The message in the reply, without control characters and cut to 300 characters.
  var message: String?

  /// Whether the reply does not contradict its HTTP status 2xx.
  var isAccepted: Bool {
    success != false && !(status.map { $0 >= 400 } ?? false)
  }

  /// Parses a reply.
  ///
  /// Removes `secret` from its message, because some servers repeat it.
  init(_ body: [UInt8], hiding secret: String?) {
    guard let reply = try? JSONDecoder().decode(Self.self, from: Data(body)) else { return }
    self = reply
    message = message.map { Self.plain($0, hiding: secret) }
  }

  private static func plain(_ message: String, hiding secret: String?) -> String {
    var message = message
    if let secret, !secret.isEmpty { message = message.replacing(secret, with: "***") }
    // Text from a server must not control the user's terminal.
    let safe = message.unicodeScalars.map {
      $0.properties.generalCategory == .control ? " " : String($0)
    }
    return String(safe.joined().prefix(300))
  }

  private enum CodingKeys: CodingKey { case status, success, message }

  /// Reads a reply; an unreadable value counts as missing.
  init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: CodingKeys.self)
    // Some servers write numbers as text, and text as lists.
    status =
      (try? object.decode(Int.self, forKey: .status))
      ?? (try? object.decode(String.self, forKey: .status)).flatMap { Int($0) }
    success =
      (try? object.decode(Bool.self, forKey: .success))
      ?? (try? object.decode(String.self, forKey: .success)).flatMap { Bool($0) }
    message =
      (try? object.decode(String.self, forKey: .message))
      ?? (try? object.decode([String].self, forKey: .message))?.joined(separator: ", ")
  }
}
