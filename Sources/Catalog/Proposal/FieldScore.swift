/// How well a place fits a field, and what speaks for it.
struct FieldScore {
  /// What the place holds.
  let evidence: FieldEvidence
  /// From 0, it is not this field, to 1, it surely is.
  let confidence: Double

  /// Below this nothing is proposed.
  static let floor = 0.3

  /// Judges a place as a field by its name and its values.
  static func judge(_ field: FieldVocabulary.Field, _ evidence: FieldEvidence) -> FieldScore {
    let name = FieldVocabulary.score(field, evidence.place)
    let fit = fit(field, evidence)
    // A name that says nothing leaves the values to speak, and these are seldom sure.
    let spoken = name > 0 ? name : silent(field, evidence)
    // Nested places are less likely meant than what stands at the top.
    let depth = max(0, evidence.place.steps.count - 1)
    let nearness = max(0.85, 1 - 0.03 * Double(depth))
    return FieldScore(evidence: evidence, confidence: spoken * fit * nearness)
  }

  /// All places that may be a field, the likeliest first; of equals the first in the item.
  static func ranking(_ field: FieldVocabulary.Field, _ all: [FieldEvidence]) -> [FieldScore] {
    all.map { judge(field, $0) }.enumerated()
      .filter { $0.element.confidence >= floor }
      .sorted { ($1.element.confidence, $0.offset) < ($0.element.confidence, $1.offset) }
      .map(\.element)
  }

  /// How likely values alone make it this field, for names that nobody knows.
  private static func silent(_ field: FieldVocabulary.Field, _ evidence: FieldEvidence) -> Double {
    if field == .gallery || field == .thumbnail {
      let place = evidence.place
      let isPicture =
        place.steps.count <= 3 && !FieldVocabulary.isOfAnother(place)
        && evidence.share(PictureText.hasEnding) > 0.8
      let isSingle = place.steps.count == 1 && !place.isMany
      return isPicture ? (isSingle ? 0.6 : 0.5) : 0
    }
    if field == .salePrice { return silentPrice(evidence) }
    guard evidence.place.steps.count == 1, !evidence.place.isMany else { return 0 }
    switch field {
    case .id:
      let isPrice = [FieldVocabulary.Field.salePrice, .normalPrice].contains {
        FieldVocabulary.score($0, evidence.place) > 0
      }
      return isPrice ? 0 : silentID(evidence)
    case .title:
      let isWords = evidence.share { $0.contains(" ") && $0.utf8.count <= 200 } > 0.5
      return isWords && evidence.variety > 0.8 ? 0.35 : 0
    default: return 0
    }
  }

  /// A price that nobody calls so is written with its currency, or stands beside it.
  private static func silentPrice(_ evidence: FieldEvidence) -> Double {
    let place = evidence.place
    guard place.steps.count <= 3, !place.isMany, !FieldVocabulary.isPriceAside(place) else {
      return 0
    }
    if evidence.isText, evidence.share(PriceText.hasUnit) > 0.8 { return 0.5 }
    return evidence.isBesideCurrency ? 0.5 : 0
  }

  private static func silentID(_ evidence: FieldEvidence) -> Double {
    let isToken = evidence.share {
      $0.utf8.count <= 40 && !$0.contains(" ") && !PictureText.isLink($0)
    }
    return evidence.variety == 1 && isToken == 1 ? 0.35 : 0
  }

  /// How well values fit, whatever the name says.
  private static func fit(_ field: FieldVocabulary.Field, _ evidence: FieldEvidence) -> Double {
    let share = 0.5 + 0.5 * evidence.share
    switch field {
    case .id:
      guard !evidence.place.isMany else { return 0 }
      let isShort = evidence.share { $0.utf8.count <= 200 && !$0.contains("\n") } == 1
      // One item may stand in several sections.
      return isShort && evidence.reals == 0 ? evidence.share * min(1, evidence.variety * 2) : 0
    case .title:
      guard evidence.isText, !evidence.place.isMany || evidence.place.isTextList else { return 0 }
      let isOther =
        evidence.share(PictureText.isLink) > 0.5 || evidence.share(PriceText.hasUnit) > 0.5
      return isOther ? 0 : evidence.share * (0.5 + 0.5 * evidence.variety)
    case .description:
      guard evidence.isText, !evidence.place.isMany || evidence.place.isTextList else { return 0 }
      return evidence.share(PictureText.isLink) > 0.5 ? 0 : share
    case .badges, .deliveryTypes:
      guard evidence.isText else { return 0 }
      return evidence.share(PictureText.isLink) > 0.5 ? 0 : share
    case .normalPrice, .salePrice:
      let isList = evidence.place.isMany && !evidence.place.entersList
      let read = evidence.share { PriceText.isPrice($0) }
      // Zero says that there is no such price.
      let asked = 1 - evidence.share { Double($0) == 0 }
      return isList || read < 0.8 ? 0 : share * read * asked
    case .latitude, .longitude:
      let bound = field == .latitude ? 90.0 : 180.0
      let isDegrees =
        evidence.share { Double($0).map { abs($0) <= bound } ?? false } == 1
      return isDegrees && !evidence.place.isMany ? share : 0
    case .address:
      guard evidence.isText, !evidence.place.isMany else { return 0 }
      return evidence.share(PictureText.isLink) > 0.5 ? 0 : share
    case .thumbnail:
      guard evidence.isText, isPictures(evidence) else { return 0 }
      return share * (evidence.place.isMany ? 0.8 : 1)
    case .gallery:
      guard evidence.isText else { return 0 }
      if evidence.place.isMany { return isPictures(evidence) ? share : 0 }
      return PictureText.separator(of: evidence) == nil ? 0 : share
    }
  }

  /// Whether the values may be pictures: URLs or paths, and no pages by their ending; some may be the picture itself.
  private static func isPictures(_ evidence: FieldEvidence) -> Bool {
    let addresses = evidence.samples.filter { !PictureText.isData($0) }
    guard !addresses.isEmpty else { return false }
    let links = addresses.count(where: PictureText.isLink)
    let pages = addresses.count(where: PictureText.isPage)
    return links * 5 > addresses.count * 4 && pages * 5 < addresses.count
  }
}
