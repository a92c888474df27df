/// The proposed way to read pictures of one role, such as the thumbnail of an item.
///
/// For example, `{path: $.image, template: "https://cdn.example/{value}"}` reads a file name and makes a URL of it.
struct PictureProposal {
  /// The paths in an item, the best first.
  ///
  /// A later path is for items that have no value at the earlier paths. It can also have further pictures, such as
  /// `image2`, or be for the second kind of element in a list such as `["a.jpg", {"url": "b.jpg"}]`.
  let scores: [FieldEvidence]
  /// The YAML values to write for the role in the catalog file, such as `{path: $.image}`.
  ///
  /// Each further value is for items without a picture at the paths of the values before it.
  let values: [String]
  /// The YAML values that read only an item's first picture; empty if one text has the URLs of several pictures.
  let firsts: [String]

  /// Proposes how to read the pictures of a role.
  ///
  /// - Parameters:
  ///   - ranking: The paths to the pictures. An item's pictures are at the first path where the item has a value.
  ///   - isMany: Whether the role takes all pictures of an item, as the gallery does.
  ///   - all: The values at all paths in the items.
  ///   - root: The whole response. A base URL of the pictures can be outside the items.
  init?(_ ranking: [FieldEvidence], isMany: Bool, among all: [FieldEvidence], root: JSONNode) {
    guard var best = ranking.first else { return nil }
    let columns = ranking.dropFirst().filter { isMany && $0.place.isColumn(beside: best.place) }
    let mixed = columns + (columns.isEmpty ? Self.mixed(with: best, among: all) : [])
    let template = Self.template(for: best, among: all, root: root)
    let isBare = template == nil && best.share(PictureText.isBare) > 0.5
    let arePages = best.share(PictureText.isPage) > 0.5
    isSaid = !isBare && !arePages && best.confidence >= Confidence.doubt
    if isBare || arePages { best = best.doubtful }
    let mark = PictureText.separator(of: best)
    let places = [best.place] + mixed.map(\.place)
    let others = ranking.dropFirst(1 + columns.count)
    scores = [best] + mixed.map { $0.rated(best.confidence) } + others
    func largest(_ isMany: Bool) -> String? {
      guard mixed.isEmpty, template == nil else { return nil }
      return Self.largest(best, isMany: isMany, among: all)
    }
    func values(_ isMany: Bool) -> [String] {
      let mark = isMany ? mark : nil
      let value =
        largest(isMany) ?? Self.yaml(places, isMany: isMany, mark: mark, template: template)
      return
        ([value]
        + others.map { Self.yaml([$0.place], isMany: isMany, template: template) })
        .unique(by: \.self)
    }
    self.values = values(isMany)
    firsts = mark == nil && !best.hasTextLists ? values(false) : []
  }

  /// Whether the role becomes a key of the catalog file; if false, it is only written in a comment.
  ///
  /// A choice between several pictures of the item becomes a key, and a file name without a folder does not.
  let isSaid: Bool

  /// Whether the pictures are in no doubt.
  var isSure: Bool { scores[0].isSure }

  /// The value of a role in the catalog file.
  ///
  /// - Parameters:
  ///   - places: The paths whose pictures are all read.
  ///   - isMany: Whether all pictures at a path are read, not only the first.
  ///   - mark: The separator, if one text holds several URLs.
  ///   - template: The template that makes URLs of the texts.
  /// - Returns: YAML on one line.
  static func yaml(
    _ places: [FieldPlace],
    isMany: Bool,
    mark: String? = nil,
    template: String? = nil
  ) -> String {
    var members: [String] = []
    if places.count > 1 {
      // Each path selects the elements of a list one by one, so that it can skip the elements of the other kind.
      let paths = places.map { isMany ? $0.elements : $0.first }
      members.append("all: \(YAMLText.list(paths.map(YAMLText.quoted)))")
    } else {
      members.append("path: \(YAMLText.scalar(isMany ? places[0].all : places[0].first))")
    }
    if let mark { members.append("split: \(YAMLText.quoted(mark))") }
    if let template { members.append("template: \(YAMLText.quoted(template))") }
    return YAMLText.rule(members)
  }

  /// The rule that takes the largest size of a picture from a list such as `[{"url": "/1.jpg", "width": 100}, …]`.
  ///
  /// - Returns: YAML on one line, or nil if the elements of the list are not the sizes of one picture. They are if the
  ///   largest width is at least twice the smallest, and every item has one element of each width. Three items or
  ///   fewer can have the same widths by chance.
  private static func largest(
    _ evidence: FieldEvidence,
    isMany: Bool,
    among all: [FieldEvidence]
  ) -> String? {
    let list = FieldPlace(steps: Array(evidence.place.steps.dropLast()))
    let width = all.first { other in
      other.place.steps.dropLast() == list.steps[...] && other.texts == 0
        && FieldRules.isNamed("width", other.place.plainName)
    }
    guard list.steps.last?.isList == true, let width, width.values == evidence.values else {
      return nil
    }
    let sizes = Set(width.samples.compactMap(Double.init))
    guard let least = sizes.min(), let most = sizes.max(), least > 0, most >= 2 * least,
      width.held > 3, sizes.count * width.held == width.values
    else { return nil }
    func path(_ evidence: FieldEvidence) -> String {
      "$" + FieldPlace.segment(evidence.place.steps[list.steps.count].name)
    }
    return YAMLText.rule([
      "path: \(YAMLText.scalar(isMany ? list.all : list.firstList))",
      "largest: \(YAMLText.scalar(path(width)))", "url: \(YAMLText.scalar(path(evidence)))",
    ])
  }

  /// The values of the other kind in a mixed list such as `["a.jpg", {"url": "b.jpg"}]`.
  ///
  /// If `evidence` has the texts of the list, the result is about the members of the objects. If `evidence` has such a
  /// member, the result is about the texts.
  private static func mixed(
    with evidence: FieldEvidence,
    among all: [FieldEvidence]
  ) -> [FieldEvidence] {
    let steps = evidence.place.steps
    let list = steps.last?.isList == true ? steps : Array(steps.dropLast())
    guard list.last?.isList == true else { return [] }
    let others = all.filter { other in
      let isObject = steps == list && other.place.steps.dropLast() == list[...]
      return other.place != evidence.place && other.isPictureText
        && (other.place.steps == list || isObject)
    }
    return Array(others.prefix(2))
  }

  /// The template that makes URLs of file names, such as `https://cdn.example/{value}`.
  ///
  /// - Returns: Nil if the texts are URLs already, or if the response has no base URL of pictures.
  private static func template(
    for evidence: FieldEvidence,
    among all: [FieldEvidence],
    root: JSONNode
  ) -> String? {
    guard evidence.share(PictureText.isAbsolute) < 0.2 else { return nil }
    if evidence.share(PictureText.isHosted) > 0.8 { return "https://{value}" }
    let isRooted = evidence.share { $0.hasPrefix("/") } > 0.8
    let host = all.first { other in
      !other.place.isMany && other.distinct.count == 1 && other.share == 1
        && other.share(PictureText.isHost) == 1 && other.place.names.contains(where: isBase)
    }
    if let text = host?.samples.first, !text.contains("{") {
      return (text.hasSuffix("/") ? String(text.dropLast()) : text) + (isRooted ? "" : "/")
        + "{value}"
    }
    let own = Set(evidence.place.names.flatMap(NameWords.words))
    func shared(_ name: String) -> Int { own.intersection(NameWords.words(of: name)).count }
    let found = prefixes(in: root).max { shared($0.name) < shared($1.name) }
    guard var prefix = found?.text, !prefix.contains("{") else { return nil }
    if prefix.hasSuffix("/"), isRooted { prefix.removeLast() }
    if !prefix.hasSuffix("/"), !isRooted, !prefix.hasSuffix("=") { prefix += "/" }
    return prefix + "{value}"
  }

  /// Whether a name can mean the base URL of pictures.
  private static func isBase(_ name: String) -> Bool {
    FieldRules.isPicture(name)
      || NameWords.words(of: name).contains { FieldRules.isNamed("pictureBase", $0) }
  }

  /// The members of the response that are possibly a base URL of pictures, with the names that lead to them.
  private static func prefixes(in root: JSONNode) -> [(name: String, text: String)] {
    root.envelope().compactMap { names, value in
      guard let name = names.last, isBase(name), let text = value.text, text.utf8.count < 300,
        !text.contains(where: \.isWhitespace), PictureText.isAbsolute(text) || text.hasPrefix("/"),
        !PictureText.hasEnding(text)
      else { return nil }
      // For example `media_cdn` for `{"media": {"cdn": …}}`.
      return (names.joined(separator: "_"), text)
    }
  }
}

extension FieldEvidence {
  /// Whether most values are texts that can be the URLs of pictures.
  var isPictureText: Bool {
    isText
      && share {
        PictureText.isLink($0) && !PictureText.isOther($0) && !PictureText.isTemplate($0)
      } > 0.8
  }
}

/// Judges whether a text is the URL of a picture.
enum PictureText {
  /// Whether the path of a URL has the ending of a picture file, such as `.jpg`.
  static func hasEnding(_ text: String) -> Bool { FieldRules.isNamed("pictureFile", ending(text)) }

  /// Whether a text is a `data:` URL, which holds the picture itself. (RFC 2397)
  static func isData(_ text: String) -> Bool { text.prefix(5).lowercased() == "data:" }

  /// The character that separates several URLs in one text, or nil if each text is a single URL.
  static func separator(of evidence: FieldEvidence) -> String? {
    guard evidence.isText, evidence.samples.contains(where: { !$0.isEmpty }) else { return nil }
    return [",", "|", ";", " ", "\n"].first { mark in
      var (several, odd) = (0, 0)
      var isClear = false
      for text in evidence.samples {
        let parts = text.split(separator: mark).map(\.trimmed)
        guard parts.count > 1 else {
          if !parts.allSatisfy(isLink) { odd += 1 }
          continue
        }
        // A comma or a space can also be part of a URL, as in `https://cdn.example/w_300,h_200/a.png` and `/a 0.jpg`.
        guard parts.allSatisfy(isWhole) || parts.allSatisfy(hasEnding), !isSizes(text) else {
          odd += 1
          continue
        }
        several += 1
        isClear = isClear || parts.allSatisfy(hasEnding) || parts.allSatisfy(isAlone)
      }
      // One text such as `a.jpg;b.jpg` tells enough, even if the other items have one picture each. If most texts have
      // several URLs, a few others, such as headings among the rows, do not matter.
      let areMost = several * 2 > evidence.samples.count
      return odd == 0 ? isClear || areMost : areMost && odd * 10 <= evidence.samples.count
    }
  }

  /// Whether a text has a URL behind a separator, so that it is not a single URL.
  static func hasSeveral(_ text: String) -> Bool {
    text.split { ",|; \n".contains($0) }.dropFirst().contains { isAbsolute(String($0)) }
  }

  /// Whether a part of a text is a URL with a host and no separator of a list at its end.
  private static func isAlone(_ text: String) -> Bool {
    isAbsolute(text) && !",|;".contains(text.suffix(1))
  }

  /// The width in pixels that all URLs contain: 50 for `/1_50.jpg` and `/2_50.jpg`; nil if they have no number in
  /// common.
  static func pixels(_ evidence: FieldEvidence) -> Int? {
    var common: Set<Int>?
    for text in evidence.samples {
      // A folder such as `2024` is a year.
      let parts = text.split(separator: "/").filter {
        !(Int($0).map { 2001..<2048 ~= $0 } ?? false)
      }
      let numbers = Set(parts.flatMap { $0.split { !$0.isWholeNumber }.compactMap { Int($0) } })
      common = common?.intersection(numbers) ?? numbers.filter { (16..<10_000).contains($0) }
      if common?.isEmpty == true { return nil }
    }
    return evidence.distinct.count > 1 ? common?.max() : nil
  }

  /// Whether a URL seems to be that of the page of an item, such as `https://www.shop.example/product/7`.
  ///
  /// Hosts of pictures are hardly ever called `www`.
  static func isPage(_ text: String) -> Bool {
    guard isAbsolute(text), !hasEnding(text) else { return false }
    let parts = text.prefix { $0 != "?" && $0 != "#" }.split(separator: "/")
      .dropFirst(text.hasPrefix("//") ? 0 : 1).map { $0.lowercased() }
    let folders = parts.dropFirst()
    return parts.first?.hasPrefix("www.") == true
      && folders.contains { FieldRules.isNamed("pageFolder", $0) }
      && !folders.contains(where: FieldRules.isPicture)
  }

  /// Whether a URL is surely not that of a picture: it ends like a web page or a video, or it is only a host.
  static func isOther(_ text: String) -> Bool {
    isHost(text) || FieldRules.isNamed("otherFile", ending(text))
  }

  /// Whether a text is a template of a URL, such as `https://cdn.example/{size}/1.jpg` or `/<size>/1.jpg`.
  ///
  /// A percent sign without two digits behind it is no part of a URL either. (RFC 3986, section 2.1)
  static func isTemplate(_ text: String) -> Bool {
    // Most texts have none of these characters, and parsing the regular expression takes longer than to look for them.
    text.utf8.contains(where: "{<[%#".utf8.contains)
      && text.contains(/[{<]|\[[A-Za-z_]+\]|%(?![0-9A-Fa-f]{2})|#\./)
  }

  /// Whether a text begins with a mark with which no URL begins, such as `@https://cdn.example/1.jpg`.
  static func isMarked(_ text: String) -> Bool {
    text.trimmed.first.map { "@\"'(<[|*#".contains($0) } ?? false
  }

  /// Whether a text is the name of a file alone, such as `p0.jpg`, which tells nothing about its folder or host.
  static func isBare(_ text: String) -> Bool { !text.contains("/") }

  /// Whether a text is a URL without its scheme, such as `images.shop.example/cups/1`.
  ///
  /// The host must have three labels or more, because two are also found in the names of files and folders.
  static func isHosted(_ text: String) -> Bool {
    let host = text.prefix { $0 != "/" }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count > 2 && host.utf8.count + 1 < text.utf8.count
      && labels.allSatisfy { label in
        !label.isEmpty
          && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
      }
      && labels[labels.count - 1].count > 1 && labels[labels.count - 1].allSatisfy(\.isLetter)
  }

  /// Whether a URL is a host without a path, such as `https://cdn.example`.
  static func isHost(_ text: String) -> Bool {
    let host = text.drop { $0 != "/" }.drop { $0 == "/" }
    return isAbsolute(text) && !host.isEmpty && !host.dropLast().contains("/")
  }

  /// Whether a text is a URL, a path that begins with `/`, or the name of a picture file; the scheme can be missing.
  ///
  /// White space around it does not count. White space within it is part of the name of a picture file, as in
  /// `/img/blue cup.jpg`: larder percent-encodes it.
  static func isLink(_ text: String) -> Bool {
    let text = text.trimmed
    // No sync can fetch `gs://`, `s3://` or `file://`.
    if let scheme = text.firstRange(of: "://"), !isAbsolute(text),
      text[..<scheme.lowerBound].allSatisfy(\.isLetter) || text.hasPrefix("s3:")
    {
      return false
    }
    if text.contains(where: \.isWhitespace) {
      return hasEnding(text) && text.utf8.count <= 500 && !text.contains(where: \.isNewline)
        && !isSizes(text)
    }
    return isWhole(text) || hasEnding(text)
  }

  /// Whether a text begins like a URL or like a path from the root or from `..`, and has no white space; the scheme can
  /// be missing.
  ///
  /// A JPEG picture in Base64 begins with `/9j/`, and is no path.
  private static func isWhole(_ text: String) -> Bool {
    !text.contains(where: \.isWhitespace)
      && (isAbsolute(text) || text.hasPrefix("/") && !text.hasPrefix("/9j/")
        || text.hasPrefix("../") || isHosted(text))
  }

  /// Whether a text is a list of the sizes of one picture, such as `/a.jpg 1x, /b.jpg 2x`. (HTML, section 4.8.4.2.1)
  static func isSizes(_ text: String) -> Bool {
    text.contains(where: \.isWhitespace)
      && text.contains(/\S\s+[0-9]+(?:\.[0-9]+)?[xw](?:\s*$|\s*,)/)
  }

  /// Whether a text is a URL with a host, with or without a scheme.
  static func isAbsolute(_ text: String) -> Bool {
    let text = text.prefix(20).lowercased().trimmed
    return ["http://", "https://", "//"].contains(where: text.hasPrefix)
  }

  /// The part of a URL's path after its last point, in lower case: `jpg` for `/a.JPG?v=2`.
  private static func ending(_ text: String) -> String {
    let path = text.prefix { $0 != "?" && $0 != "#" }
    return path.lastIndex(of: ".").map { path[$0...].dropFirst().lowercased().trimmed } ?? ""
  }
}
