import FoundationEssentials

/// Moments as RFC 3339 writes them, in UTC.
package enum Moment {
  /// Such as `2021-01-13T06:30:00Z`.
  ///
  /// - Parameter seconds: Seconds since 1970.
  /// - Returns: The moment's text.
  package static func text(_ seconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
  }
}
