import Cache

extension DetailStage {
  /// Whether a detail needs no question; an unattended run asks daily for what the origin has not, unless the origin
  /// said how long that holds.
  func isFresh(_ held: DocumentEntry, _ known: DetailEntry, _ url: DocumentSource) -> Bool {
    let now = context.now()
    if context.options.onlyDue, known.state == .missing { return held.isResting(at: now) }
    return held.freshness(at: now, for: context.traits(of: url)).isQuiet
  }
}
