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
    case .thumbnail: return evidence.share(PictureText.hasEnding) > 0.8 ? 0.6 : 0
    default: return 0
    }
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
      guard evidence.isText, !evidence.place.isMany else { return 0 }
      let isLink = evidence.share(PictureText.isLink) > 0.5
      return isLink ? 0 : evidence.share * (0.5 + 0.5 * evidence.variety)
    case .description:
      guard evidence.isText, !evidence.place.isMany else { return 0 }
      return evidence.share(PictureText.isLink) > 0.5 ? 0 : share
    case .badges, .deliveryTypes:
      guard evidence.isText else { return 0 }
      return evidence.share(PictureText.isLink) > 0.5 ? 0 : share
    case .normalPrice, .salePrice:
      let isList = evidence.place.isMany && !evidence.place.entersList
      let read = evidence.share { PriceText.isPrice($0) }
      return isList || read < 0.8 ? 0 : share * read
    case .latitude, .longitude:
      let bound = field == .latitude ? 90.0 : 180.0
      let isDegrees = evidence.share { Double($0).map { abs($0) <= bound } ?? false } == 1
      return isDegrees && !evidence.place.isMany ? share : 0
    case .thumbnail:
      guard evidence.isText, isPictures(evidence) else { return 0 }
      return share * (evidence.place.isMany ? 0.8 : 1)
    case .gallery:
      guard evidence.isText, evidence.place.isMany, isPictures(evidence) else { return 0 }
      return share
    }
  }

  /// Whether the values may be pictures: URLs or paths, and no pages by their ending.
  private static func isPictures(_ evidence: FieldEvidence) -> Bool {
    evidence.share(PictureText.isLink) > 0.8 && evidence.share(PictureText.isPage) < 0.2
  }
}

/// What a text that may name a picture looks like.
enum PictureText {
  private static let endings = [
    ".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif", ".svg", ".bmp", ".tif", ".tiff",
  ]

  /// Whether its path ends as pictures do.
  static func hasEnding(_ text: String) -> Bool {
    let path = path(text)
    return endings.contains(where: path.hasSuffix)
  }

  /// Whether its path ends as pages do.
  static func isPage(_ text: String) -> Bool {
    let path = path(text)
    return [".html", ".htm", ".php", ".asp", ".aspx", ".jsp"].contains(where: path.hasSuffix)
  }

  /// Whether it is a URL, or a path that ends as pictures do.
  static func isLink(_ text: String) -> Bool {
    let lower = text.lowercased()
    if lower.contains(where: \.isWhitespace) { return false }
    return ["http://", "https://", "//", "/"].contains(where: lower.hasPrefix) || hasEnding(text)
  }

  private static func path(_ text: String) -> String {
    text.prefix { $0 != "?" && $0 != "#" }.lowercased()
  }
}

/// What a text that may be a price looks like.
enum PriceText {
  /// Whether it is a number, with separators and a few letters of a currency at most.
  static func isPrice(_ text: String) -> Bool {
    let trimmed = text.filter { !$0.isWhitespace }
    let digits = trimmed.utf8.count { (0x30...0x39).contains($0) }
    let rest = trimmed.filter {
      !($0.isASCII && $0.isNumber) && ![".", ",", "'", "-"].contains($0)
    }
    return digits > 0 && digits <= 15 && rest.count <= 4 && !rest.contains("/")
      && !rest.contains("%")
  }

  /// Whether it is digits alone.
  static func isWhole(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
