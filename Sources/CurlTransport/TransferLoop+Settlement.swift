import CCurl
import Transport

extension TransferLoop {
  /// Decides what follows an exchange: completion, the next hop, or another attempt.
  func conclude(_ transfer: Transfer, _ exchange: Exchange, _ code: CURLcode) {
    let now = MonotonicTime.now()
    switch exchange.verdict(code, transfer, now: .now()) {
    case .success(let response):
      // A new connection's own round trips say nothing about how busy the host is.
      let timing = response.timing
      let waited = timing.firstByte - max(timing.connected, timing.secured)
      schedule.finished(
        host: transfer.host,
        .delivered(bytes: response.bodyBytes, waited: Int64(max(0, waited) * 1e9)),
        at: now
      )
      finish(transfer, .success(response))
    case .redirect(let location):
      schedule.finished(host: transfer.host, .answered, at: now)
      if let head = exchange.head { transfer.redirects.append(Redirect(head)) }
      follow(location, transfer)
    case .mismatch:
      transfer.mayResume = false
      transfer.hasBegun = true
      repeatAttempt(transfer, at: now)
    case .otherVersion:
      transfer.condition = nil
      repeatAttempt(transfer, at: now)
    case .unknownCoding:
      transfer.takesCodedBytes = true
      repeatAttempt(transfer, at: now)
    case .failure(let failure, let isFinal):
      let outcome = failure.outcome(since: exchange.startedAt, retry: options.retry)
      schedule.finished(host: transfer.host, outcome, at: now)
      if isFinal {
        finish(transfer, .failure(failure))
      } else {
        retry(transfer, after: failure, at: now)
      }
    }
  }

  /// Asks again at once, in other words; such a repetition can happen once and counts as the same attempt.
  private func repeatAttempt(_ transfer: Transfer, at now: MonotonicTime) {
    schedule.finished(host: transfer.host, .answered, at: now)
    transfer.attempts -= 1
    transfer.rewind()
    enqueue(transfer, first: true)
  }

  private func follow(_ location: String?, _ transfer: Transfer) {
    guard let location else {
      finish(transfer, .failure(transfer.failure(.redirectInvalid, detail: "no Location")))
      return
    }
    var target: WebURL
    do {
      target = try CurlTransport.parse(location, relativeTo: transfer.url)
    } catch {
      let reason = error.reason == .schemeRefused ? error.reason : .redirectInvalid
      finish(transfer, .failure(transfer.failure(reason, detail: "Location \(error.url)")))
      return
    }
    if transfer.url.userInfo != nil, target.userInfo == nil, target.origin == transfer.url.origin {
      target = target.with(userInfo: transfer.url.userInfo)
    }
    transfer.visited.append(transfer.url)
    if let reason = RedirectPolicy.refusal(of: target, after: transfer.visited) {
      finish(transfer, .failure(transfer.failure(reason, detail: "to \(target.redacted)")))
      return
    }
    transfer.url = target
    enqueue(transfer, first: true)
  }

  private func retry(_ transfer: Transfer, after failure: TransferFailure, at now: MonotonicTime) {
    let decision = options.retry.decision(
      after: failure,
      attempts: transfer.attempts,
      method: transfer.request.method,
      random: Double.random(in: 0..<1, using: &random)
    )
    guard ended == nil, case .retry(let wait) = decision,
      now + wait < options.deadline ?? .distantFuture,
      now + wait < transfer.request.deadline ?? .distantFuture, budget.take()
    else {
      finish(transfer, .failure(failure))
      return
    }
    transfer.failure = failure
    transfer.rewind()
    locate(transfer)
    guard case .go = admit(transfer, mayWait: false) else {
      return finish(transfer, .failure(failure))
    }
    schedule.add(
      transfer.index,
      host: transfer.host,
      priority: transfer.request.priority,
      at: now + wait
    )
  }
}

extension Redirect {
  /// Keeps of a redirect's head what tells how long it holds, and for whom.
  fileprivate init(_ head: ResponseHead) {
    self.init(
      status: head.status,
      headers: head.headers.endToEnd.only([
        "Age", "Cache-Control", "Date", "Expires", "Last-Modified", "Vary",
      ])
    )
  }
}
