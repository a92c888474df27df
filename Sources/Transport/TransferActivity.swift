/// What a transport is busy with at one moment, for a person to look at.
package struct TransferActivity: Sendable, Hashable {
  /// How many requests failed and are made again: those that wait for another attempt, and those that make one.
  package let retrying: Int
  /// The host that most of the requests under way were last sent to, as ``WebURL/shownHost``; nil without any.
  ///
  /// Under way is what was sent at least once and has not ended, so a host that is waited for is named too.
  package let host: String?

  /// Sums up what is under way.
  ///
  /// - Parameters:
  ///   - retrying: How many requests are made again.
  ///   - underWay: How many requests each host has; of hosts that have equally many, the first is named.
  package init(
    retrying: Int = 0,
    underWay: some Sequence<(host: String, requests: Int)> = EmptyCollection()
  ) {
    var most: (host: String?, requests: Int) = (nil, 0)
    for entry in underWay where entry.requests > most.requests {
      most = (entry.host, entry.requests)
    }
    self.retrying = retrying
    host = most.host
  }
}
