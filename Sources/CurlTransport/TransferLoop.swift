import Base
import CCurl
import Glibc
import Transport

/// Runs all transfers on the thread that calls `run`.
///
/// The schedule decides which transfer starts next, libcurl sends and receives the bytes, and the loop connects the
/// two. Other threads use the loop only by posting messages to the ``TransferCore``.
final class TransferLoop {
  private let core: TransferCore
  private let policy: ExchangePolicy
  private let meter: ByteMeter
  private let trust: HostTrust
  private var schedule: TransferSchedule
  private var budget: RetryBudget
  private var admission: ProxyAdmission
  private var running: [ObjectIdentifier: Exchange] = [:]
  private var idle: [Exchange] = []
  /// The unfinished transfers, by their numbers in the schedule.
  private var transfers: [Int: Transfer] = [:]
  /// The number of the next transfer.
  private var nextNumber = 0
  /// The number of each host in the schedule.
  private var hosts: [HostPort: Int] = [:]
  /// The hosts that asked for a longer pause than a run makes, and the failure for all requests to such a host.
  private var closed: [Int: TransferFailure] = [:]
  /// Whether a transfer was started after libcurl last ran.
  private var hasStarted = false
  /// The reason with which every further request fails.
  ///
  /// Nil while requests are allowed to be sent.
  private var ended: FailureReason?

  init(_ core: TransferCore) {
    self.core = core
    policy = ExchangePolicy(core.options)
    meter = ByteMeter(limit: core.options.maxBytes, reserve: core.options.reserve)
    trust = HostTrust(core.options)
    schedule = TransferSchedule(core.options.scheduleLimits)
    budget = RetryBudget(core.options.retry)
    admission = ProxyAdmission(core)
  }

  private var options: TransportOptions { core.options }

  /// The number of running transfers from which on the loop pauses before it waits.
  private static let manyTransfers = 8
  /// The length of this pause in microseconds.
  ///
  /// Each time libcurl runs, it polls every running transfer. If the loop ran for each answer of a fast host, these
  /// polls would be a third of a sync's time. During the pause, more answers arrive, and the loop handles them together.
  private static let pause: UInt32 = 200

  /// Runs until the mailbox is closed and all transfers are completed.
  func run() {
    var mayRest = false
    var wait: Int32 = 0
    while true {
      var mail = core.collect(orSleep: mayRest)
      if mayRest, mail.isEmpty {
        if running.count >= Self.manyTransfers { usleep(Self.pause) }
        core.multi.wait(milliseconds: wait)
        mail = core.collect(orSleep: false)
      }
      read(mail)
      if mail.stops { return }
      wait = advance()
      core.multi.perform()
      // After a transfer has finished, another one may start, so the loop must not sleep yet.
      mayRest = !settleFinished()
    }
  }

  private func read(_ mail: TransferCore.Mail) {
    if mail.cancelsAll {
      endAll(.cancelled)
      for transfer in mail.cancelled {
        transfer.complete(.failure(transfer.failure(.cancelled)))
      }
    }
    for (host, addresses) in mail.names {
      for transfer in admission.note(addresses, of: host) { enqueue(transfer) }
    }
    for transfer in mail.submitted {
      budget.countRequest()
      if let ended {
        transfer.complete(.failure(transfer.failure(ended)))
      } else {
        accept(transfer)
      }
    }
  }

  private func accept(_ transfer: Transfer) {
    transfer.number = nextNumber
    nextNumber += 1
    transfers[transfer.number] = transfer
    enqueue(transfer)
  }

  /// Adds the current hop of a transfer to the schedule, when ``ProxyAdmission`` allows it.
  ///
  /// A hop is the request to the first URL, or a request that follows a redirect. If it is refused, the transfer fails.
  ///
  /// - Parameters:
  ///   - transfer: The transfer.
  ///   - first: Whether the hop starts before the other requests to its host.
  ///   - moment: The time at which the hop is queued; nil to queue it now.
  private func enqueue(_ transfer: Transfer, first: Bool = false, at moment: MonotonicTime? = nil)
  {
    let place = transfer.url.hostPort
    transfer.isTrusted = trust.isTrusted(transfer, at: place)
    transfer.host = hosts[place] ?? addHost(place, transfer.url)
    switch admission.admit(transfer) {
    case .go: break
    case .wait:
      return admission.wait(transfer)
    case .refuse(let reason, let detail):
      var failure = transfer.failure(reason, detail: detail)
      failure.isHostOfDataOnly = true
      return finish(transfer, .failure(failure))
    }
    schedule.add(
      transfer.number,
      host: transfer.host,
      priority: transfer.request.priority,
      first: first,
      at: moment
    )
  }

  private func addHost(_ place: HostPort, _ url: WebURL) -> Int {
    core.tally.addHost(url)
    let number = schedule.addHost()
    hosts[place] = number
    return number
  }

  /// The maximum time in milliseconds for which the loop sleeps.
  private static let longestRest: Int32 = 2000

  /// Starts the transfers that the schedule allows.
  ///
  /// Returns the number of milliseconds until the loop must run again.
  private func advance() -> Int32 {
    let now = MonotonicTime.now()
    hasStarted = false
    if ended == nil, let deadline = options.deadline, now >= deadline { end(.deadline) }
    while true {
      switch schedule.next(at: now) {
      case .start(let number, _):
        if let transfer = transfers[number] { start(transfer, at: now) }
      case .fail(let number):
        guard let transfer = transfers[number] else { continue }
        if let closed = closed[transfer.host] {
          var failure = transfer.failure(closed.reason, detail: closed.detail)
          failure.retryAfter = closed.retryAfter
          finish(transfer, .failure(failure))
          continue
        }
        let why =
          schedule.sendsAway(transfer.host)
          ? "the host has answered nothing but 429 or 503 for a while" : "the host does not answer"
        finish(transfer, .failure(transfer.failure ?? transfer.failure(.circuitOpen, detail: why)))
      case .wait(let moment):
        // When no more requests are sent, the deadline has no effect, and the loop need not run at that time.
        let deadline = ended == nil ? options.deadline : nil
        guard let earliest = [moment, deadline].compactMap({ $0 }).min() else {
          return Self.longestRest
        }
        let rest = Int64(Self.longestRest) * 1_000_000
        return Int32((min(max(earliest - now, 0), rest) + 999_999) / 1_000_000)
      }
    }
  }

  private func start(_ transfer: Transfer, at now: MonotonicTime) {
    if transfer.visited.isEmpty { transfer.beginAttempt() }
    count(transfer, at: transfer.host)
    do throws(TransferFailure) {
      let exchange =
        if let idle = idle.popLast() { idle } else { try Exchange(policy, meter, core.multi) }
      exchange.prepare(transfer, at: now, deadline: options.deadline)
      // A handle with a refused option is not put back into `idle`.
      if let refused = exchange.easy.refused { throw refused }
      guard exchange.easy.join(core.multi) == CURLM_OK else { throw .noMemory }
      running[ObjectIdentifier(exchange)] = exchange
      hasStarted = true
    } catch {
      schedule.finished(host: transfer.host, .abandoned, at: now)
      finish(transfer, .failure(transfer.failure(error.reason, detail: error.detail)))
    }
  }

  /// Handles the transfers that libcurl has finished.
  ///
  /// Returns whether there was one.
  private func settleFinished() -> Bool {
    var hasFinished = false
    while let (exchange, code) = core.multi.nextDone() {
      hasFinished = true
      if code == CURLE_OK { exchange.checkConnection(isQuiet: !hasStarted) }
      if let transfer = exchange.transfer { conclude(transfer, exchange, code) }
      release(exchange)
    }
    if let reason = meter.end, ended == nil { end(reason) }
    return hasFinished
  }

  /// Completes a transfer after an exchange, follows a redirect, or makes another attempt.
  private func conclude(_ transfer: Transfer, _ exchange: Exchange, _ code: CURLcode) {
    let now = MonotonicTime.now()
    switch exchange.verdict(code, transfer, now: .now()) {
    case .success(let response):
      schedule.finished(host: transfer.host, .delivered, at: now)
      finish(transfer, .success(response))
    case .redirect(let location):
      schedule.finished(host: transfer.host, .answered, at: now)
      do throws(TransferFailure) {
        try transfer.follow(location, of: exchange.reply.head)
        enqueue(transfer, first: true)
      } catch {
        finish(transfer, .failure(error))
      }
    case .mismatch:
      transfer.mayResume = false
      transfer.hasBegun = true
      repeatAttempt(transfer, at: now)
    case .otherVersion:
      transfer.condition = nil
      repeatAttempt(transfer, at: now)
    case .otherCoding:
      transfer.letsLibcurlDecode = true
      repeatAttempt(transfer, at: now)
    case .failure(let failure, let isFinal):
      if failure.reason == .askedToWait { closed[transfer.host] = failure }
      let outcome = failure.outcome(since: exchange.startedAt, retry: options.retry)
      schedule.finished(host: transfer.host, outcome, at: now)
      if isFinal {
        finish(transfer, .failure(failure))
      } else {
        retry(transfer, after: failure, at: now)
      }
    }
  }

  /// Sends the request again at once after the caller has changed it, for example without its condition.
  ///
  /// This does not count as another attempt. Each change is possible only once, so the repetitions end.
  private func repeatAttempt(_ transfer: Transfer, at now: MonotonicTime) {
    schedule.finished(host: transfer.host, .answered, at: now)
    transfer.attempts -= 1
    transfer.rewind()
    enqueue(transfer, first: true)
  }

  private func retry(_ transfer: Transfer, after failure: TransferFailure, at now: MonotonicTime) {
    guard ended == nil, let moment = nextAttempt(of: transfer, after: failure, at: now) else {
      return finish(transfer, .failure(failure))
    }
    if transfer.failure == nil { core.tally.addRetrying(1) }
    transfer.failure = failure
    transfer.rewind()
    enqueue(transfer, at: moment)
  }

  /// The time of the next attempt of a transfer.
  ///
  /// Nil if there must be none, or if it would be after the deadline.
  private func nextAttempt(
    of transfer: Transfer,
    after failure: TransferFailure,
    at now: MonotonicTime
  ) -> MonotonicTime? {
    let wait = options.retry.delay(
      after: failure,
      attempts: transfer.attempts,
      isRepeatable: transfer.request.isRepeatable,
      random: Double.random(in: 0..<1)
    )
    guard let wait, now + wait < options.deadline ?? .distantFuture, budget.take() else {
      return nil
    }
    return now + wait
  }

  /// Ends an exchange, and keeps it for another transfer.
  private func release(_ exchange: Exchange) {
    exchange.easy.leave(core.multi)
    running[ObjectIdentifier(exchange)] = nil
    exchange.clear()
    idle.append(exchange)
  }

  /// Completes a transfer, which must not be in an exchange or a queue any more.
  private func finish(_ transfer: Transfer, _ result: Result<Response, TransferFailure>) {
    transfers[transfer.number] = nil
    count(transfer, at: nil)
    if transfer.failure != nil { core.tally.addRetrying(-1) }
    transfer.complete(result)
  }

  private func count(_ transfer: Transfer, at host: Int?) {
    core.tally.move(from: transfer.counted, to: host)
    transfer.counted = host
  }

  /// Ends all running and waiting transfers, and lets all further requests fail.
  private func end(_ reason: FailureReason) {
    ended = reason
    endAll(reason)
  }

  /// Ends all running and waiting transfers.
  private func endAll(_ reason: FailureReason) {
    let now = MonotonicTime.now()
    for exchange in running.values {
      guard let transfer = exchange.transfer else { continue }
      let hasSent = exchange.easy.outcome().request > 0
      release(exchange)
      schedule.finished(host: transfer.host, .abandoned, at: now)
      var failure = transfer.failure(reason)
      failure.mayHaveBeenSent = hasSent
      finish(transfer, .failure(failure))
    }
    let waiting = admission.removeAll() + schedule.removeAll().compactMap { transfers[$0] }
    for transfer in waiting { finish(transfer, .failure(transfer.failure(reason))) }
  }
}

/// Counts the body bytes of all responses, and checks the free space on the disk.
final class ByteMeter {
  private var left: ByteCount
  private let reserve: DiskReserve?
  /// The number of bytes that can be received before the disk is checked again.
  private var unlooked: ByteCount = .zero

  /// The number of bytes after which the disk is checked again.
  ///
  /// A check for each piece would be too slow.
  private static let stride: ByteCount = 1_048_576

  init(limit: ByteCount?, reserve: DiskReserve? = nil) {
    left = limit ?? ByteCount(Int64.max)
    self.reserve = reserve
  }

  /// The reason for which no more bytes are allowed to be received.
  ///
  /// Nil while bytes are allowed to be received.
  private(set) var end: FailureReason?

  /// Counts received bytes.
  ///
  /// - Parameter bytes: The number of bytes.
  /// - Returns: The reason for which they must not be received, or nil if they can be received.
  func count(_ bytes: Int) -> FailureReason? {
    guard end == nil else { return end }
    left -= ByteCount(bytes)
    if left < .zero { end = .bytesLimit }
    guard let reserve, end == nil else { return end }
    unlooked -= ByteCount(bytes)
    if unlooked < .zero {
      unlooked = Self.stride
      if !reserve.isKept { end = .keepFree }
    }
    return end
  }
}
