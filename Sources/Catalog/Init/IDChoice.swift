/// Chooses the id of the items so that a sync can read them: it skips an item without an id, and one that repeats an id.
extension ItemFields {
  /// The candidates for the id, the chosen one first, among the paths that look like an id.
  ///
  /// If no path looks like an id, or if too many items have no value there, a title, the URL of a page or a thumbnail
  /// that differs in nearly all items serves as the id. It also does so if it differs in more items than an unsure id.
  ///
  /// - Parameter takesRepeats: Whether a value that several items have can be the id.
  /// - Returns: Empty if no path leads to an id. If the first path leads to none in many items, the second one is for
  ///   these items.
  func ids(takesRepeats: Bool) -> [FieldEvidence] {
    let title = rankings[.title]?.first
    // A sync refuses items that all have the same id but different titles.
    let named = (rankings[.id] ?? []).filter { score in
      let (ids, titles) = (score.distinct.count, title?.distinct.count ?? 0)
      return score.held < 3 || ids > 1 || titles < 2
    }
    let best = named.first
    let isHeld = best?.isRefused == false
    let isShared = best.map { id in title.map { id.isShared(by: $0) } } == true
    if isHeld, takesRepeats && !isShared || best?.isSure == true { return named }
    if !isHeld, let held = named.first(where: { $0.isSure && !$0.isRefused }) {
      return [held] + named.filter { $0.place != held.place }
    }
    let links = evidence.filter(\.isPageLink)
    let all: [FieldEvidence?] = [title] + links + [thumbnail.first]
    let telling = all.compactMap(\.self).filter {
      guard let title, $0.isOne, takesRepeats else { return $0.isNearlyUnique && $0.isOne }
      return !$0.isRefused && $0.distinct.count > 1 && !$0.isShared(by: title)
    }
    let most = telling.map(\.distinct.count).max()
    let found = telling.first { $0.distinct.count == most }
    if let best, isHeld {
      let count = best.distinct.count - (best.confidence <= Confidence.floor ? 1 : 0)
      guard let found, found.distinct.count > count else { return named }
      return [found.rated(0.5)] + named
    }
    guard let found else { return named.map(\.doubtful) }
    guard let best else { return [found.rated(0.5)] }
    return [best.doubtful, found.rated(0.5)]
  }

  /// The reason why no id was found in a list: the path whose values are the nearest to an id.
  ///
  /// - Returns: Nil if the items have no title either, or no path whose values differ in some of the items only.
  static func missingID(in items: [JSONNode]) -> (reason: String, remedy: String)? {
    let evidence = EvidenceCollection(items).all
    guard items.count > 1, !evidence.ranking(.title).isEmpty else { return nil }
    let near = evidence.filter { $0.isOne && $0.values > $0.reals && !$0.isCalledPrice }
    guard let best = near.max(by: { $0.distinct.count < $1.distinct.count }),
      best.distinct.count > 1, best.distinct.count < best.held
    else { return nil }
    let path = PlainText.line(String(best.place.first.prefix(80)))
    let same =
      "is the same as in another item in \(best.held - best.distinct.count) of \(best.total)"
    return (
      "no field differs in all items: \(path) \(same)",
      "give a list without the repeated items, or write items and item by hand, with records: .id = tojson and "
        + "id: $.id, which give each different record an id"
    )
  }
}

extension FieldEvidence {
  /// Whether a sync refuses a list with this id, because too many items have no value at the path.
  var isRefused: Bool { SkipLimit.standard.refuses(lost: total - leads, of: total) }

  /// Whether at least 95 % of the values at the path differ, and few items have none.
  ///
  /// A sync skips the other items, and says so.
  var isNearlyUnique: Bool { distinct.count * 20 >= held * 19 && !isRefused }

  /// Whether the values are URLs of pages about the items.
  var isPageLink: Bool {
    let name = place.plainName
    let last = name.split(separator: " ").last.map(String.init) ?? ""
    return place.steps.count == 1 && isText
      && FieldRules.isNamed("pageLink", last)
      && !FieldRules.has("picture", "other", "person", "mark", in: name)
      && share(PictureText.isLink) > 0.9 && share(PictureText.hasEnding) < 0.5
      && share { $0.utf8.count < 1000 } == 1
  }
}
