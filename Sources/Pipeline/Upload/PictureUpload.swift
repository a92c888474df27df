import Dispatch
import Imaging
import Synchronization
import Transport

/// Posts pictures to a server, one request each, over the transport that everything else uses.
///
/// May be used on several threads at once; each ``deliver(_:_:)`` blocks its own. A picture is sent
/// again only as ``UploadPolicy`` allows. Its `Idempotency-Key` is a function of what is sent and where
/// to, so that a server which knows the header takes the same photo once, however often the command
/// is run.
package final class PictureUpload: Sendable {
  private let destination: UploadDestination
  private let form: UploadForm
  private let transport: any Fetching
  private let policy: UploadPolicy
  private let random: @Sendable () -> Double
  private let pause: (@Sendable (Duration) -> Void)?
  private let isStopped = Atomic(false)
  private let stopping = DispatchSemaphore(value: 0)

  /// The longest reply that is read.
  private static let replyLimit = ByteCount.mebibytes(1)

  /// Prepares uploads.
  ///
  /// - Parameters:
  ///   - destination: Where to.
  ///   - form: What goes along.
  ///   - transport: How.
  ///   - policy: What is sent again, and when.
  ///   - random: A number in 0..<1 for each wait.
  ///   - pause: Waits; nil for real time, which ``stop()`` cuts short.
  package init(
    to destination: UploadDestination,
    form: UploadForm,
    transport: any Fetching,
    policy: UploadPolicy = UploadPolicy(),
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    pause: (@Sendable (Duration) -> Void)? = nil
  ) {
    self.destination = destination
    self.form = form
    self.transport = transport
    self.policy = policy
    self.random = random
    self.pause = pause
  }

  /// Ends what is under way, and all that comes later, as cancelled.
  package func stop() {
    isStopped.store(true, ordering: .sequentiallyConsistent)
    transport.cancelAll()
    stopping.signal()
  }

  /// Posts a picture whose file is whole.
  ///
  /// Blocks until the server has answered or given no hope of it.
  ///
  /// - Parameters:
  ///   - picture: The picture; a PNG is sent as a JPEG.
  ///   - result: What became of it so far.
  /// - Returns: `result` with the upload in it, and the error if the server did not take it.
  package func deliver(_ picture: EncodedPicture, _ result: PictureResult) -> PictureResult {
    var result = result
    // Neither stdout nor stdin has a name that says anything.
    let name = [result.output, result.input].compactMap(\.self).first { $0 != "-" } ?? "photo"
    do throws(ImagingError) {
      let jpeg = try PictureFile(picture.contents(), name: name).asJPEG()
      let fileName = String((name.split(separator: "/").last ?? "photo").prefix { $0 != "." })
      let filled = form.filled(
        time: picture.time?.civil,
        jpeg: jpeg,
        fileName: fileName + ".jpg"
      )
      let sent = send(filled)
      result.upload = sent.account
      result.error = sent.failure.map { error(name, $0, sent.account) }
    } catch {
      result.error = error
    }
    return result
  }

  /// How one picture's sending ended.
  private struct Sent {
    var account: PictureResult.Upload
    /// Why the server did not take it; nil when it did.
    var failure: TransferFailure?
  }

  private func send(_ form: MultipartForm) -> Sent {
    let request = request(form)
    var attempts = 0
    while true {
      let (result, body) = exchange(request)
      switch result {
      case .success(let response):
        attempts += response.attempts
        return judged(response, body, attempts)
      case .failure(let failure):
        attempts += max(failure.attempts, 1)
        let decision = policy.decision(after: failure, attempts: attempts, random: random())
        guard case .retry(let wait) = decision, !hasStopped else {
          let reply = UploadReply(failure.refusal, hiding: destination.token)
          let account = PictureResult.Upload(
            isAccepted: false,
            status: failure.status,
            message: reply.message,
            attempts: attempts
          )
          return Sent(account: account, failure: failure)
        }
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

  /// A digest of what is sent, in the shape of a UUID, which servers tend to expect.
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
    let sink = BodyBuffer()
    let result = transport.result(of: request, into: sink) { hasStopped }
    return (result, sink.takeBytes())
  }

  /// A 2xx is a success unless the reply's own words say otherwise.
  private func judged(_ response: Response, _ body: [UInt8], _ attempts: Int) -> Sent {
    let reply = UploadReply(body, hiding: destination.token)
    let account = PictureResult.Upload(
      isAccepted: reply.isAccepted,
      status: reply.status ?? response.head.status,
      message: reply.message,
      attempts: attempts
    )
    guard !reply.isAccepted else { return Sent(account: account) }
    let failure = TransferFailure(
      reason: FailureReason(rawValue: "refused"),
      url: destination.url.redacted,
      attempts: attempts,
      status: account.status,
      mayHaveBeenSent: true
    )
    return Sent(account: account, failure: failure)
  }

  private func error(
    _ name: String,
    _ failure: TransferFailure,
    _ account: PictureResult.Upload
  ) -> ImagingError {
    let isAmbiguous = failure.mayHaveBeenSent && failure.status == nil
    let advice: String?
    switch failure.status {
    case .some(300...399): advice = "uploads follow no redirect; give the URL that it leads to"
    case .some(401), .some(403): advice = "check the token"
    case nil where isAmbiguous:
      advice = "it may have arrived all the same; look there before sending again"
    case .some: advice = "mend what the server says"
    case nil: advice = nil
    }
    let helpsAgain = failure.status.map { $0 >= 400 && $0 != 401 && $0 != 403 } ?? !isAmbiguous
    let said = account.message.map { " (\($0))" } ?? ""
    return ImagingError(
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
    // Whoever is woken by the stop wakes the next.
    if stopping.wait(timeout: .now() + seconds) == .success { stopping.signal() }
  }
}
