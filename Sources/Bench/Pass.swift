/// What a run finds in place before it starts.
package enum Pass: String, Sendable, Codable, CaseIterable {
  /// Nothing: an empty cache, no connections.
  case cold
  /// Everything, and fresh: what a second sync costs.
  ///
  /// With ``Sink/discard``: nothing but the connections.
  case warm
  /// Everything, and stale: the origin is asked about each picture.
  case revalidate
}

/// What becomes of the bytes.
package enum Sink: String, Sendable, Codable {
  /// larder's own cache: files, hashes, index, synced to disk.
  case cache
  /// Counted and thrown away: transfers alone.
  case discard
}
