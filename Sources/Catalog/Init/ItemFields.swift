/// The paths that `larder catalog init` chooses for the fields of the items in a response.
///
/// Each field has several candidates: paths such as `$.price` and `$.cost`, and for each path the confidence that it
/// leads to the field (``FieldScore``).
struct ItemFields {
  typealias Field = FieldRules.Field

  /// The values at every path in the items.
  let evidence: [FieldEvidence]
  /// The candidates for each field, the likeliest first.
  private(set) var rankings: [Field: [FieldScore]] = [:]
  /// The chosen paths of the price to pay; an item's price is at the first path where the item has a value.
  private(set) var salePrice: [FieldScore] = []
  /// The chosen path of the price before a reduction.
  private(set) var normalPrice: [FieldScore] = []
  /// The chosen paths of the thumbnail; an item's thumbnail is at the first path where the item has a value.
  private(set) var thumbnail: [FieldScore] = []
  /// The chosen path of the item's pictures.
  private(set) var gallery: [FieldScore] = []

  /// Chooses the fields among all paths in the items.
  ///
  /// - Parameters:
  ///   - evidence: The values at every path in the items.
  ///   - isOneList: Whether the items are in one list. Items of several lists, which are sections, can have equal ids.
  ///   - takesAnyTitle: Whether any short text can be the title if no path looks like one.
  init(_ evidence: [FieldEvidence], isOneList: Bool, takesAnyTitle: Bool = false) {
    self.evidence = evidence
    var taken: Set<FieldPlace> = []
    for field in [
      Field.title, .id, .description, .badges, .deliveryTypes, .latitude, .longitude, .address,
    ] {
      var ranking = FieldScore.ranking(field, evidence).filter {
        !taken.contains($0.evidence.place)
      }
      if field == .title, ranking.isEmpty, takesAnyTitle {
        ranking = FieldScore.possibleTitles(evidence)
      }
      if field == .title {
        // A path with the same names is the same field in another language.
        ranking = Self.doubted(ranking) { $0.evidence.place.names == $1.evidence.place.names }
      }
      if field == .description, let title = rankings[.title]?.first?.evidence {
        ranking.removeAll { title.share(with: $0.evidence, ==) > 0.9 }
      }
      if field == .id, isOneList, let title = rankings[.title]?.first {
        ranking = ranking.map { score in
          let isShared = score.evidence.isShared(by: title.evidence)
          return isShared ? FieldScore(evidence: score.evidence, confidence: 0.35) : score
        }.ranked(by: \.confidence)
      }
      if field == .id { ranking = Self.doubted(ranking, unless: Self.isExplained) }
      guard let first = ranking.first else { continue }
      taken.insert(first.evidence.place)
      rankings[field] = ranking
    }
    if rankings[.latitude] == nil || rankings[.longitude] == nil {
      rankings[.latitude] = nil
      rankings[.longitude] = nil
    }
    choosePictures()
    let prices = PriceChoice(among: evidence, besides: rankings[.id]?.first?.evidence.place)
    rankings[.salePrice] = prices.offered
    rankings[.normalPrice] = prices.former
    salePrice = prices.salePrice
    normalPrice = prices.normalPrice
    // If no path looks like an id, a title or a thumbnail that differs in all items serves as the id.
    let telling = [rankings[.title]?.first, thumbnail.first].compactMap(\.self).filter {
      $0.evidence.variety == 1 && $0.evidence.leading == 1 && !$0.evidence.place.isMany
    }
    if rankings[.id] == nil, let first = telling.first {
      rankings[.id] = [FieldScore(evidence: first.evidence, confidence: 0.5)]
    }
  }

  /// A ranking whose paths are all marked as doubtful if a path is nearly as likely as the first, has other values, and
  /// is not explained.
  private static func doubted(
    _ ranking: [FieldScore],
    unless isExplained: (FieldScore, FieldScore) -> Bool
  ) -> [FieldScore] {
    guard let best = ranking.first else { return [] }
    let hasRival = ranking.dropFirst().contains { other in
      other.confidence > best.confidence - 0.08 && !isExplained(other, best)
        && best.evidence.share(with: other.evidence, ==) < 0.9
    }
    return hasRival ? ranking.map(\.doubtful) : ranking
  }

  /// Whether one of two numbers explains itself by a known name such as `ean`, is missing in some items, or is of the
  /// same thing, as a `recall_number` is beside a `recall_id`.
  private static func isExplained(_ id: FieldScore, beside best: FieldScore) -> Bool {
    let words = [id, best].map { NameWords.words(of: $0.evidence.place.name) }
    let owners = words.map { $0.filter { !FieldRules.isNamed("idWord", $0) } }
    return id.evidence.share < 1 || owners[0] == owners[1]
      || words.contains { FieldRules.confidence("id", $0.joined(separator: " ")) > 0 }
  }

  /// The chosen path of a field, followed by the paths for items that have no value there.
  ///
  /// Only a title has such further paths, two at most.
  func alternatives(_ field: Field) -> [FieldScore] {
    guard let ranking = rankings[field], let best = ranking.first else { return [] }
    let others = ranking.dropFirst().filter { field == .title && $0.evidence.fills(best.evidence) }
    return [best] + others.prefix(best.evidence.leading < 1 ? 2 : 0)
  }

  /// The candidates for both prices, the chosen ones first.
  var prices: [FieldScore] {
    [salePrice, normalPrice].compactMap(\.first)
      + [.salePrice, .normalPrice].flatMap { rankings[$0] ?? [] }
  }

  // MARK: - Pictures

  private mutating func choosePictures() {
    let pictures = FieldScore.ranking(.thumbnail, evidence)
    // A text with several URLs is not a thumbnail.
    let single = Self.whole(
      own(
        pictures.filter { PictureText.separator(of: $0.evidence) == nil },
        among: pictures
      )
    )
    rankings[.thumbnail] = single
    rankings[.gallery] = Self.whole(own(FieldScore.ranking(.gallery, evidence), among: pictures))
    gallery =
      (rankings[.gallery] ?? []).prefix { $0.isSure }.map { largest($0) ?? $0 }
      .max { named(size: $0) < named(size: $1) }.map { [$0] }
      ?? rankings[.gallery]?.first.map { [largest($0) ?? $0] } ?? []
    defer { doubtPictures() }
    guard let first = single.first else { return }
    let best = Self.complete(first, gallery.first, among: single) ?? first
    thumbnail = [best]
    // A member can be a text in one item, and an object or a list in another item. Then the thumbnail has several
    // paths.
    let forms = evidence.filter { other in
      let place = other.place
      return place != best.evidence.place
        && place.steps[0].name == best.evidence.place.steps[0].name
        && other.isPictureText && other.fills(best.evidence)
    }
    if best.evidence.place.steps.count == 1, !best.evidence.place.isMany, best.evidence.share < 1 {
      thumbnail += forms.map { FieldScore(evidence: $0, confidence: best.confidence) }
      gallery.removeAll { $0.evidence.place.steps[0].name == best.evidence.place.steps[0].name }
    }
    // The pictures of an item should be as large as possible. If the gallery is missing, doubtful or small, a larger
    // form of the thumbnail replaces it.
    let isSmall = gallery.first.map { !$0.isSure || size(of: $0.evidence) == 0 } ?? true
    let other = larger(best, among: single)
    if isSmall, let large = largest(best) ?? numbered(best) ?? other {
      let isWider =
        other.map { $0.evidence.width != nil && size(of: $0.evidence) > size(of: large.evidence) }
        ?? false
      gallery = [isWider ? other ?? large : large]
    }
  }

  /// The size that the names on a path say, if they say that it is large.
  private func named(size score: FieldScore) -> Int {
    let size = size(of: score.evidence)
    return size >= FieldRules.largeSize ? size : 0
  }

  /// Marks the pictures as doubtful if another field can hold them just as well.
  private mutating func doubtPictures() {
    let chosen = (thumbnail + gallery).map(\.evidence)
    func doubted(_ scores: [FieldScore], _ field: Field) -> [FieldScore] {
      guard let best = scores.first, best.confidence < 0.92 || field == .gallery else {
        return scores
      }
      let rival = (rankings[field] ?? []).first { other in
        other.isSure && other.confidence > best.confidence - 0.16
          && other.evidence.held * 2 >= best.evidence.held
          && !Self.isBackdrop(other) && !chosen.contains { isForm(other.evidence, of: $0) }
      }
      return rival == nil ? scores : scores.map(\.doubtful)
    }
    (thumbnail, gallery) = (doubted(thumbnail, .thumbnail), doubted(gallery, .gallery))
  }

  /// Whether pictures are the chosen ones in another form: their names decide, or they are the same pictures again.
  private func isForm(_ other: FieldEvidence, of chosen: FieldEvidence) -> Bool {
    let steps = [other.place.steps, chosen.place.steps]
    let areSiblings = steps.allSatisfy { $0.count == 1 && !$0[0].isList }
    return areSiblings || steps[0][0].name == steps[1][0].name
      || size(of: other) < size(of: chosen)
      || steps[0].contains { FieldRules.isNamed("variant", NameWords.plain($0.name)) }
      || other.share(Set(chosen.samples).contains) > 0.5
      || chosen.share(Set(other.samples).contains) > 0.5
  }

  /// A ranking in which pictures of other things, such as the item's shop, have a low confidence.
  ///
  /// Each picture is compared with all pictures of the items, among which can be some that the ranking lacks.
  private func own(_ ranking: [FieldScore], among all: [FieldScore]) -> [FieldScore] {
    ranking.map { score in
      let factor = isOfAnother(score.evidence, among: all) ? 0.35 : 1
      return FieldScore(evidence: score.evidence, confidence: factor * score.confidence)
    }.filter { $0.confidence >= FieldScore.floor }.ranked(by: \.confidence)
  }

  /// Whether a picture is that of another thing, such as the shop or the person to contact.
  ///
  /// Such a picture is the same in many items, although another picture differs. Or it is in an object that holds neither
  /// the item nor its pictures, such as `agent`, and the item has a picture outside of such objects, or one
  /// elsewhere while the object has an id or a name of its own.
  private func isOfAnother(_ picture: FieldEvidence, among all: [FieldScore]) -> Bool {
    let steps = picture.place.steps
    let rivals = all.filter {
      $0.isSure && $0.evidence.held >= picture.held && $0.evidence.place != picture.place
    }.map(\.evidence)
    // Three items or fewer can have the same picture by chance.
    let isShared = picture.held > 3 && picture.variety < 0.5
    if isShared, rivals.contains(where: { $0.variety > 0.9 }) { return true }
    guard let owner = Self.owner(of: picture.place) else { return false }
    let isOwned = rivals.contains {
      Self.owner(of: $0.place) == nil && $0.share(PictureText.isBare) < 0.5
    }
    if isOwned { return true }
    let isNamed = evidence.contains { other in
      let name = other.place.steps.last?.name ?? ""
      return other.place.steps.dropLast() == owner
        && (FieldRules.isID(name) || FieldRules.confidence("title", NameWords.plain(name)) >= 0.7)
    }
    let hasRival = rivals.contains { $0.place.steps[0].name != steps[0].name }
    return isNamed && (isShared || hasRival)
      && steps[owner.count...].contains { FieldRules.isPicture($0.name) }
      && rankings[.title]?.first?.evidence.place.steps.starts(with: owner) != true
  }

  /// The steps to the object around a picture that is neither the item nor a form or a picture of it; nil if none is.
  private static func owner(of place: FieldPlace) -> ArraySlice<FieldPlace.Step>? {
    let around = place.steps.dropLast().prefix { !FieldRules.isPicture($0.said) }
    let other = around.firstIndex { step in
      let name = NameWords.plain(step.name)
      return !FieldRules.has("wrapper", in: name) && !FieldRules.has("variant", in: name)
        && !name.hasSuffix("variant")
    }
    return other.map { place.steps[...$0] }
  }

  /// The likeliest picture that all items have, or nil if the best picture and the gallery leave no item without one.
  private static func complete(
    _ best: FieldScore,
    _ gallery: FieldScore?,
    among ranking: [FieldScore]
  ) -> FieldScore? {
    let known = [best.evidence.firsts, gallery?.evidence.firsts ?? []]
    let isLacking = (0..<best.evidence.total).contains { item in
      known.allSatisfy { !$0.indices.contains(item) || $0[item] == nil }
    }
    guard isLacking else { return nil }
    return ranking.first { other in
      other.isSure && other.evidence.share == 1 && other.confidence > best.confidence - 0.2
        && (isWhole(other.evidence) || !isWhole(best.evidence)) && !isBackdrop(other)
    }
  }

  /// Whether a picture is a banner or a background, which an item shows only if it has no other picture.
  private static func isBackdrop(_ score: FieldScore) -> Bool {
    score.evidence.place.steps.contains {
      FieldRules.has("backdrop", in: NameWords.plain($0.name))
    }
  }

  /// Whether most of the pictures at a path are URLs with a host.
  private static func isWhole(_ evidence: FieldEvidence) -> Bool {
    evidence.share(PictureText.isAbsolute) > 0.5
  }

  /// A ranking without the parts of URLs that are beside a URL, as in `{"key": "a/1.jpg", "url": "https://…/a/1.jpg"}`.
  ///
  /// Other paths and file names come after a URL with a host that as many items have.
  private static func whole(_ ranking: [FieldScore]) -> [FieldScore] {
    let whole = ranking.filter { isWhole($0.evidence) }
    let objects = Set(
      whole.map { $0.evidence.place.steps.dropLast() }.filter { !$0.isEmpty }
    )
    let rest = ranking.filter {
      isWhole($0.evidence) || !objects.contains($0.evidence.place.steps.dropLast())
    }
    func isPart(_ score: FieldScore) -> Bool {
      !isWhole(score.evidence)
        && whole.contains {
          $0.isSure && $0.evidence.held >= score.evidence.held
            && $0.evidence.variety >= 0.9 * score.evidence.variety
        }
    }
    return rest.filter { !isPart($0) } + rest.filter(isPart)
  }

  /// The size of the pictures, only to be compared with the sizes at other paths.
  ///
  /// It is that of their name (``FieldRules/pictureSize(_:)``), or else the width beside them or in their URLs. Of two
  /// names such as `large` and `big`, the width decides.
  private func size(of evidence: FieldEvidence) -> Int {
    let named = evidence.place.names.map(FieldRules.pictureSize)
      .last { $0 != FieldRules.usualSize }
    let pixels = evidence.width ?? PictureText.pixels(evidence)
    guard let named else { return pixels ?? FieldRules.usualSize }
    if named >= FieldRules.largeSize { return named + min(pixels ?? 0, FieldRules.largeSize - 1) }
    return named == FieldRules.mediumSize ? evidence.width ?? named : named
  }

  /// The candidate with the largest pictures, or nil if no candidate has larger pictures than `score`.
  private func larger(_ score: FieldScore, among others: [FieldScore]) -> FieldScore? {
    let own = size(of: score.evidence)
    let isWhole = Self.isWhole(score.evidence)
    return others.filter {
      $0.isSure && size(of: $0.evidence) > own
        && Self.isWhole($0.evidence) == isWhole
    }.max { size(of: $0.evidence) < size(of: $1.evidence) }
  }

  /// The largest size of the same picture, or nil if there is no larger size.
  ///
  /// For example, `$.images.large` for `$.images.small`.
  private func largest(_ score: FieldScore) -> FieldScore? {
    let place = score.evidence.place
    func isForm(_ name: String) -> Bool {
      FieldRules.has("picture", "largest", "smallest", in: NameWords.plain(name))
        || FieldRules.pictureSize(name) != FieldRules.usualSize
    }
    let own = size(of: score.evidence)
    let others = evidence.filter { other in
      guard other.isPictureText, other.held == score.evidence.held, !other.isPage,
        let step = Self.difference(place, other.place),
        Self.isWhole(other) || !Self.isWhole(score.evidence)
      else { return false }
      let isPicture =
        FieldScore.judge(.thumbnail, other).isSure
        || [place, other.place].allSatisfy { isForm($0.steps[step].said) }
      return isPicture && size(of: other) > own
    }
    let unsized = evidence.first { other in
      let samples = other.samples
      return samples.count == score.evidence.samples.count && other.isPictureText
        && Self.difference(place, other.place) != nil
        && zip(score.evidence.samples, samples).allSatisfy { PictureText.isSized($0, of: $1) }
    }
    return (unsized ?? others.max { size(of: $0) < size(of: $1) }).map {
      FieldScore(evidence: $0, confidence: score.confidence)
    }
  }

  /// The path to all pictures of an object that numbers them, such as `{"1": …, "2": …}`.
  ///
  /// - Parameter score: The path to one of these pictures.
  /// - Returns: Nil if the pictures are not numbered.
  private func numbered(_ score: FieldScore) -> FieldScore? {
    let place = score.evidence.place
    for other in rankings[.thumbnail] ?? [] {
      guard let step = Self.difference(place, other.evidence.place),
        [place, other.evidence.place].allSatisfy({ Int($0.steps[step].name) != nil })
      else { continue }
      var evidence = score.evidence
      evidence.place.steps[step] = FieldPlace.Step(name: FieldPlace.everyElement)
      return FieldScore(evidence: evidence, confidence: score.confidence)
    }
    return nil
  }

  /// The index of the only name that differs between two paths, or nil if more than one name differs.
  private static func difference(_ one: FieldPlace, _ other: FieldPlace) -> Int? {
    guard one.steps.count == other.steps.count else { return nil }
    let apart = one.steps.indices.filter { one.steps[$0] != other.steps[$0] }
    guard apart.count == 1, !one.steps[apart[0]].isList, !other.steps[apart[0]].isList,
      (one.steps[apart[0]].choice == nil) == (other.steps[apart[0]].choice == nil)
    else { return nil }
    return apart[0]
  }

  // MARK: - All of it

  /// Whether an id and a title were found, without which no item can be read.
  func isUsable(in place: ItemPlace) -> Bool {
    rankings[.title] != nil && (place.kind == .itemsByID || rankings[.id] != nil)
  }

  /// Whether the objects have an id, a price, or a title with a picture.
  var areWhole: Bool {
    func isSure(_ scores: [FieldScore]?) -> Bool { scores?.first?.isSure == true }
    return isSure(rankings[.id]) || isSure(salePrice) || isSure(normalPrice)
      || isSure(rankings[.title]) && isSure(thumbnail)
  }

  /// The confidence that the objects with these fields are items, from 0 to 1.
  var confidence: Double {
    func part(_ score: FieldScore?) -> Double {
      score.map {
        // A choice between two fields is no doubt about the items.
        ($0.confidence == FieldScore.doubt ? 0.85 : $0.confidence)
          * ($0.evidence.place.isBorrowed && !$0.evidence.isOne ? 0.5 : 1)
      } ?? 0
    }
    return 0.25 * part(rankings[.id]?.first) + 0.3 * part(rankings[.title]?.first)
      + 0.25 * max(part(salePrice.first), part(normalPrice.first))
      + 0.2 * max(part(thumbnail.first), part(gallery.first))
  }
}
