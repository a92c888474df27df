import CCurl
import Transport

/// What the transfer thread and its callers share.
final class TransferCore: Sendable {
  let options: TransportOptions
  let inbox = Inbox()
  let tally = ActivityTally()
  let multi: MultiHandle

  init(_ options: TransportOptions) throws {
    self.options = options
    multi = try MultiHandle()
    try multi.set(CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    // A connection is kept for each transfer that may run, and some for hosts that are quiet just now.
    try multi.set(CURLMOPT_MAXCONNECTS, 64 + 2 * options.scheduleLimits.parallel)
  }
}
