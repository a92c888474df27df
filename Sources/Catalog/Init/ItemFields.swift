/// The paths that `larder catalog init` chooses for the fields of the items in a response.
///
/// Each field has several candidates: paths such as `$.price` and `$.cost`, and for each path the confidence that it
/// leads to the field (``FieldEvidence``).
struct ItemFields {
  typealias Field = FieldRules.Field

  /// The values at every path in the items.
  let evidence: [FieldEvidence]
  /// The candidates for each field, the likeliest first.
  private(set) var rankings: [Field: [FieldEvidence]] = [:]
  /// The chosen paths of the price to pay; an item's price is at the first path where the item has a value.
  private(set) var salePrice: [FieldEvidence] = []
  /// The chosen path of the price before a reduction.
  private(set) var normalPrice: [FieldEvidence] = []
  /// The chosen paths of the thumbnail; an item's thumbnail is at the first path where the item has a value.
  private(set) var thumbnail: [FieldEvidence] = []
  /// The chosen path of the item's pictures.
  private(set) var gallery: [FieldEvidence] = []

  /// Chooses the fields among all paths in the items.
  ///
  /// - Parameters:
  ///   - evidence: The values at every path in the items.
  ///   - isOneList: Whether the items are in one list. Items of several lists, which are sections, can have equal ids.
  ///   - isLenient: Whether any short text can be the title if no path looks like one, and whether a title, a URL or a
  ///     picture that several items have can be the id. A sync skips the later ones of the items with one id.
  init(_ evidence: [FieldEvidence], isOneList: Bool, isLenient: Bool = false) {
    self.evidence = evidence
    var taken: Set<FieldPlace> = []
    for field in [
      Field.title, .id, .description, .badges, .deliveryTypes, .latitude, .longitude, .address,
    ] {
      var ranking = evidence.ranking(field).filter { !taken.contains($0.place) }
      let title = rankings[.title]?.first
      switch field {
      case .title:
        ranking = Self.doubted(Self.named(ranking))
        if let best = ranking.first {
          // The same names lead to one value in some items, and to a list of values in the others.
          let forms = evidence.filter { form in
            form.place.names == best.place.names && !ranking.contains { $0.place == form.place }
          }
          ranking += forms.map { $0.rated(best.confidence) }
        }
        // A name that many items lack, such as that of their fuel, is no title if no other title stands in for it.
        let isWhole = ranking.first.map { best in
          !best.isRefused || ranking.contains { $0.fills(best) }
        }
        if isWhole != true {
          ranking = isLenient ? evidence.possibleTitles + ranking : []
        }
      case .description:
        guard let title else { break }
        ranking.removeAll { title.share(with: $0, ==) > 0.9 }
        ranking = ranking.ranked { $0.confidence * (0.7 + 0.3 * $0.share) }
      case .id:
        if let title { ranking = Self.identifying(ranking, title, isOneList: isOneList) }
        if ranking.first?.share(PictureText.isLink) ?? 0 > 0.9,
          let code = ranking.firstIndex(where: {
            $0.isSure && $0.isNearlyUnique && $0.share(PictureText.isLink) == 0
          })
        {
          ranking.insert(ranking.remove(at: code), at: 0)
        }
        ranking = Self.doubted(ranking)
      default: break
      }
      guard let first = ranking.first else { continue }
      taken.insert(first.place)
      rankings[field] = ranking
    }
    if rankings[.latitude] == nil || rankings[.longitude] == nil {
      rankings[.latitude] = nil
      rankings[.longitude] = nil
    }
    choosePictures()
    let prices = PriceChoice(among: evidence, besides: taken)
    rankings[.salePrice] = prices.offered
    rankings[.normalPrice] = prices.former
    salePrice = prices.salePrice
    normalPrice = prices.normalPrice
    let ids = ids(takesRepeats: isLenient || !isOneList)
    rankings[.id] = ids.isEmpty ? nil : ids
  }

  /// A ranking of ids in which a path is doubtful or less if a sync would skip many items with these ids.
  private static func identifying(
    _ ranking: [FieldEvidence],
    _ titles: FieldEvidence,
    isOneList: Bool
  ) -> [FieldEvidence] {
    ranking.map { score in
      // The ids of several lists can begin with 1 in each.
      if score.isShared(by: titles) { return score.rated(0.35) }
      let isUnique = score.distinct.count * 50 >= score.held * 49 && !score.isRefused
      return isUnique || !isOneList ? score : score.doubtful
    }.ranked(by: \.confidence)
  }

  /// A ranking of titles in which a Latin name follows the other names of the items.
  private static func named(_ ranking: [FieldEvidence]) -> [FieldEvidence] {
    func isEpithet(_ score: FieldEvidence) -> Bool {
      FieldRules.has("epithet", in: score.place.plainName)
    }
    func isName(_ score: FieldEvidence) -> Bool {
      score.isCalledTitle || FieldEvidence.isCalledTitle(score.place.plainName)
    }
    guard let first = ranking.first, isEpithet(first),
      let best = ranking.first(where: { isName($0) && !isEpithet($0) })
    else { return ranking }
    let others = ranking.filter { $0.place != best.place }.map { other in
      isEpithet(other) ? other.atMost(best.confidence) : other
    }
    return [best] + others.ranked(by: \.confidence)
  }

  /// A ranking whose paths are all marked as doubtful if a path is nearly as likely as the first and has other values.
  private static func doubted(_ ranking: [FieldEvidence]) -> [FieldEvidence] {
    guard let best = ranking.first else { return [] }
    let hasRival = ranking.dropFirst().contains { other in
      // A path with the same names is the same field in another language.
      other.confidence > best.confidence - 0.15
        && other.place.names != best.place.names && best.share(with: other, ==) < 0.9
    }
    return hasRival ? ranking.map(\.doubtful) : ranking
  }

  /// The chosen path of a field, followed by the paths for items that have no value there.
  ///
  /// Only a title has such further paths, two at most, and an id that many items lack.
  func alternatives(_ field: Field) -> [FieldEvidence] {
    guard let ranking = rankings[field], let best = ranking.first else { return [] }
    let hasOthers = field == .title || field == .id && best.isRefused
    let others = ranking.dropFirst().filter { hasOthers && $0.fills(best) }
    return [best] + others.prefix(best.leading < 1 ? 2 : 0)
  }

  /// The texts with a price's name that are no amounts, such as "USD 3.09+"; nil if there are none.
  func unread(_ field: Field) -> FieldEvidence? {
    evidence.first { evidence in
      let meaning = PriceMeaning.of(evidence.place)?.meaning
      let isCalled = field == .normalPrice ? meaning == .former : meaning != nil
      return isCalled && evidence.isUnreadPrice
    }
  }

  /// The candidates for both prices, the chosen ones first.
  var prices: [FieldEvidence] {
    [salePrice, normalPrice].compactMap(\.first)
      + [.salePrice, .normalPrice].flatMap { rankings[$0] ?? [] }
  }

  // MARK: - Pictures

  /// Chooses the pictures: the likeliest single one as the thumbnail, and the list or the largest form as the gallery.
  ///
  /// Both are doubtful if another field has other pictures of the item, of an unknown or larger size, because the largest
  /// pictures have to be somewhere.
  private mutating func choosePictures() {
    let all = evidence.ranking(.thumbnail)
    // A text with several URLs is not a thumbnail.
    let singles = own(
      all.filter { !$0.hasTextLists && PictureText.separator(of: $0) == nil },
      among: all
    )
    let lists = own(evidence.ranking(.gallery), among: all)
    rankings[.thumbnail] = singles
    let list = (lists.first { $0.isSure } ?? lists.first).map { largest($0, among: []) ?? $0 }
    gallery = [list].compactMap(\.self)
    guard var best = singles.first else { return rankings[.gallery] = lists }
    // An address that names fewer than 100 pixels is an icon: a larger form is the better thumbnail.
    if Self.isIcon(best), let large = largest(best, among: []) { best = large }
    thumbnail = forms(of: best)
    if let list = gallery.first, list.place.isMany {
      let isForm = thumbnail.contains { $0.place == list.place }
      gallery = (isForm ? thumbnail : forms(of: list)).map { $0.rated(list.confidence) }
    }
    let isSmall =
      gallery.first.map { list in
        !list.isSure || list.place.names.contains { FieldRules.pictureSize($0) == 0 }
      } ?? true
    // In the order of the items: `image1`, `image2`. An icon that many items share is no picture of one of them.
    let columns = evidence.filter {
      $0.place.isColumn(beside: best.place) && $0.isPictureText
        && ($0.held < 4 || 3 * $0.variety > best.variety)
    }.map { $0.rated(best.confidence) }
    if lists.isEmpty, columns.count > 1 {
      (thumbnail, gallery) = ([columns[0]], columns)
    } else if isSmall, let large = numbered(best) ?? largest(best, among: singles) {
      gallery = [large]
    }
    let chosen = thumbnail + gallery
    let rivals = (lists + singles).filter { other in
      let isShown = chosen.contains {
        $0.place == other.place || $0.hasPictures(of: other) || $0.place.holds(other.place)
          || other.place.steps.starts(with: $0.place.steps)
      }
      let isPart = Self.isWhole(best) && !Self.isWhole(other)
      return other.isSure && !isShown && !isPart && other.held * 2 >= best.held
        && !Self.isForm(other) && !other.place.isChosen
        && chosen.allSatisfy { Self.isLarger(other, than: $0) != false }
    }
    rankings[.gallery] = gallery + rivals + lists
    guard let rival = rivals.first else { return }
    gallery = gallery.isEmpty ? [rival.doubtful] : gallery.map(\.doubtful)
    thumbnail = thumbnail.map(\.doubtful)
  }

  /// The path to pictures, and the paths for items whose value there has another form.
  ///
  /// A member can be a text in one item, and an object or a list in another item: an element of XML is a list in items
  /// that repeat it. The longer paths and those to lists come first, because they find nothing in the other forms.
  private func forms(of best: FieldEvidence) -> [FieldEvidence] {
    let place = best.place
    let forms = evidence.filter { other in
      let isMember =
        [place, other.place].contains { $0.steps.count == 1 && !$0.isMany }
        && other.place.steps[0].name == place.steps[0].name
      return other.place != place && (isMember || other.place.isForm(of: place))
        && other.isPictureText && other.fills(best)
    }
    return ([best] + forms.map { $0.rated(best.confidence) })
      .ranked { 2 * Double($0.place.steps.count) + ($0.place.isMany ? 1 : 0) }
  }

  /// A ranking in which pictures of other things, such as the item's shop, have a low confidence.
  ///
  /// Of two pictures that are as likely, the one that more items have precedes, and a URL with a host precedes a path.
  private func own(_ ranking: [FieldEvidence], among all: [FieldEvidence]) -> [FieldEvidence] {
    ranking.map { score in
      score.rated((isOfAnother(score, among: all) ? 0.35 : 1) * score.confidence)
    }.filter { $0.confidence >= Confidence.floor }.ranked { score in
      score.confidence * (0.7 + 0.3 * score.share) * (Self.isWhole(score) ? 1 : 0.7)
    }
  }

  /// Whether a picture is that of another thing, such as the shop or the person to contact.
  ///
  /// Such a picture is the same in many items, although another picture differs far more. Or it is in an object that
  /// holds neither the item nor its pictures, such as `agent`, and the item has a picture outside of such objects.
  private func isOfAnother(_ picture: FieldEvidence, among all: [FieldEvidence]) -> Bool {
    let rivals = all.filter { $0.isSure && $0.held >= picture.held && $0.place != picture.place }
    // Three items or fewer can have the same picture by chance.
    let isShared = picture.held > 3 && picture.variety < 0.5
    let usual = min(0.9, 3 * picture.variety)
    if isShared, rivals.contains(where: { $0.variety > usual }) { return true }
    guard Self.isOwned(picture.place) else { return false }
    return isShared
      || rivals.contains { !Self.isOwned($0.place) && $0.share(PictureText.isBare) < 0.5 }
  }

  /// Whether a picture is in an object that is neither the item nor a form or a picture of it.
  static func isOwned(_ place: FieldPlace) -> Bool {
    place.steps.dropLast().prefix { !FieldRules.isPicture($0.said) }.contains { step in
      let name = NameWords.plain(step.name)
      return !FieldRules.has("wrapper", in: name) && !FieldRules.has("variant", in: name)
        && !name.hasSuffix("variant")
    }
  }

  /// Whether pictures are those of a variant of the item, or a banner that an item without a picture shows.
  private static func isForm(_ score: FieldEvidence) -> Bool {
    score.place.steps.contains {
      FieldRules.has("variant", "backdrop", in: NameWords.plain($0.name))
    }
  }

  /// Whether pictures are larger than others, or nil if nothing says so.
  ///
  /// The widths beside the pictures or in their URLs are compared, or else the names (``FieldRules/pictureSize(_:)``).
  private static func isLarger(_ one: FieldEvidence, than other: FieldEvidence) -> Bool? {
    let pixels = [one, other].compactMap { $0.width ?? PictureText.pixels($0) }
    if pixels.count == 2, pixels[0] != pixels[1] { return pixels[0] > pixels[1] }
    let names = [one, other].map { $0.place.names.map(FieldRules.pictureSize) }
    let named = names.map { $0.last { $0 != FieldRules.usualSize } ?? FieldRules.usualSize }
    // A picture with an unknown name can be as large as any other.
    let isKnown = named[0] < FieldRules.usualSize || named[0] > named[1]
    return named[0] == named[1] || !isKnown && named[0] == FieldRules.usualSize
      ? nil : named[0] > named[1]
  }

  /// The largest form of a picture, or nil if none is larger.
  ///
  /// For example, `$.images.large` for `$.images.small`.
  ///
  /// - Parameters:
  ///   - score: The picture.
  ///   - others: Other pictures of the item. They count too if their name or their URL says that they are larger.
  /// - Returns: The path to the larger pictures.
  private func largest(_ score: FieldEvidence, among others: [FieldEvidence]) -> FieldEvidence? {
    let place = score.place
    let siblings = evidence.compactMap { other in
      Self.difference(place, other.place).map { (step: $0, other: other) }
    }.filter { sibling in
      // The URL of a page, such as `original_url` beside `image`, is no form of a picture.
      let other = sibling.other
      let word = NameWords.words(of: other.place.name).last ?? ""
      let isPage =
        sibling.step == 0 && FieldRules.isNamed("pageLink", word)
        && !FieldRules.isPicture(other.place.name) && other.share(PictureText.hasEnding) <= 0.5
      return other.isPictureText && !other.isPage && !isPage
        && !FieldEvidence.isOfAnother(other.place.plainName)
    }
    let forms = siblings.filter { step, other in
      other.held == score.held
        && (step > 0 || [place, other.place].allSatisfy { Self.isFormName($0.steps[step].said) }
          || other.judged(as: .thumbnail).isSure)
    }
    let known = others.filter(\.isSure) + forms.map(\.other)
    let larger = known.filter { other in
      Self.isLarger(other, than: score) == true && Self.isWhole(other) == Self.isWhole(score)
    }
    let most = larger.max { Self.isLarger($1, than: $0) == true }
    return most.map { $0.rated(score.confidence) }
  }

  /// The path to all pictures of an object that numbers them, such as `{"1": …, "2": …}`; nil if they have no numbers.
  private func numbered(_ score: FieldEvidence) -> FieldEvidence? {
    let place = score.place
    let step = (rankings[.thumbnail] ?? []).lazy.compactMap { other in
      Self.difference(place, other.place).flatMap { step in
        let names = [place, other.place].map { $0.steps[step].name }
        return names.allSatisfy { Int($0) != nil } ? step : nil
      }
    }.first
    var all = score
    if let step { all.place.steps[step] = FieldPlace.Step(name: FieldPlace.everyElement) }
    return step == nil ? nil : all
  }

  /// Whether a name is that of a picture or of its size, such as `large`.
  private static func isFormName(_ name: String) -> Bool {
    FieldRules.isPicture(name) || FieldRules.pictureSize(name) != FieldRules.usualSize
  }

  /// Whether a name has a number of pixels below 100, as `artworkUrl30` has, and does not mean a thumbnail.
  private static func isIcon(_ evidence: FieldEvidence) -> Bool {
    let name = evidence.place.name
    let isSmall = name.split { !$0.isWholeNumber }.compactMap { Int($0) }.contains {
      (16..<100).contains($0)
    }
    return isSmall && !FieldRules.has("thumbnail", "smallest", in: NameWords.plain(name))
  }

  /// Whether most of the pictures at a path are URLs with a host.
  private static func isWhole(_ evidence: FieldEvidence) -> Bool {
    evidence.share(PictureText.isAbsolute) > 0.5
  }

  /// The index of the only name that differs between two paths, or nil if more than one name differs.
  private static func difference(_ one: FieldPlace, _ other: FieldPlace) -> Int? {
    guard one.steps.count == other.steps.count else { return nil }
    let apart = one.steps.indices.filter { one.steps[$0] != other.steps[$0] }
    guard apart.count == 1, !one.steps[apart[0]].isList, !other.steps[apart[0]].isList else {
      return nil
    }
    return apart[0]
  }

  // MARK: - All of it

  /// Whether an id and a title were found, without which no item can be read.
  func isUsable(in place: ItemPlace) -> Bool {
    rankings[.title] != nil
      && ((place.kind == .itemsByID || place.areKeyed) && place.areNamedApart
        || rankings[.id] != nil)
  }

  /// Whether the objects have an id, a price, or a title with a picture.
  var areWhole: Bool {
    func isSure(_ scores: [FieldEvidence]?) -> Bool { scores?.first?.isSure == true }
    return isSure(rankings[.id]) || isSure(salePrice) || isSure(normalPrice)
      || isSure(rankings[.title]) && isSure(thumbnail)
  }

  /// How much the objects have of a shop's items: 0, or 1 with a picture or a price, or 2 with a picture and a price or
  /// the URL of a page.
  ///
  /// The brands or categories in a filter have names and counts, and an icon at most.
  var showing: Int {
    let hasPicture = thumbnail.first?.isSure == true
    let hasPrice = (salePrice + normalPrice).contains(where: \.isSure)
    let hasLink = evidence.contains { $0.isPageLink && $0.variety > 0.5 }
    return hasPicture && (hasPrice || hasLink) ? 2 : hasPicture || hasPrice ? 1 : 0
  }

  /// Whether some field can be a price or a picture of the items, even if it is in doubt.
  var mayShow: Bool {
    [FieldRules.Field.salePrice, .normalPrice].contains { rankings[$0]?.isEmpty == false }
      || !thumbnail.isEmpty
  }

  /// The confidence that the objects with these fields are items, from 0 to 1.
  var confidence: Double {
    func part(_ score: FieldEvidence?) -> Double {
      score.map {
        // A choice between two fields is no doubt about the items.
        ($0.confidence == Confidence.doubt ? 0.85 : $0.confidence)
          * ($0.place.isBorrowed && !$0.isOne ? 0.5 : 1)
      } ?? 0
    }
    return 0.25 * part(rankings[.id]?.first) + 0.3 * part(rankings[.title]?.first)
      + 0.25 * max(part(salePrice.first), part(normalPrice.first))
      + 0.2 * max(part(thumbnail.first), part(gallery.first))
  }
}
