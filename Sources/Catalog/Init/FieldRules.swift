/// The meanings of names in a shop's JSON, such as `preis` for a price and `thumb` for a picture.
///
/// `larder catalog init` finds the fields of an item by these meanings, together with the values (``FieldEvidence``).
enum FieldRules {
  /// A field of an item that can be recognized.
  enum Field: String {
    case id, title, description, badges, deliveryTypes, normalPrice, salePrice
    case latitude, longitude, address, thumbnail, gallery
  }

  /// The confidences of the words in `Words/names.txt`, first by meaning and then by name.
  private static let known = WordTable.names.values.mapValues { $0.compactMapValues(Double.init) }

  /// The confidence that a whole name has a meaning, or 0 if the table does not have the name.
  static func confidence(_ meaning: String, _ name: String) -> Double {
    known[meaning]?[name] ?? 0
  }

  /// All names with a meaning.
  static func names(of meaning: String) -> some Sequence<String> { (known[meaning] ?? [:]).keys }

  /// Whether the table has a whole name, in the form of ``NameWords/plain(_:)``, with a meaning.
  static func isNamed(_ meaning: String, _ name: String) -> Bool { known[meaning]?[name] != nil }

  /// Whether a name, or one of its words, has one of the meanings.
  static func has(_ meanings: String..., in name: String) -> Bool {
    meanings.contains { meaning in
      let names = known[meaning] ?? [:]
      return names[name] != nil
        || name.split(separator: " ").contains { word in
          // A number at the end is ignored: `img1` means the same as `img`.
          names[String(word)] != nil
            || word.lastIndex { !$0.isNumber }.map { names[String(word[...$0])] != nil } ?? false
        }
    }
  }

  /// Whether a name means a title or a description.
  ///
  /// A shop can write these in several languages.
  static func isText(_ name: String) -> Bool {
    let plain = NameWords.plain(name)
    return isNamed("title", plain) || isNamed("description", plain)
  }

  static func isID(_ name: String) -> Bool {
    let plain = NameWords.plain(name)
    return isNamed("id", plain)
      || ["id", "uuid", "sku"].contains(plain.split(separator: " ").last)
  }

  /// Whether a name in the form of ``NameWords/plain(_:)`` means something that an item only speaks of, or several persons.
  static func isOfOthers(_ name: String) -> Bool {
    has("other", "person", in: name)
      || name.hasSuffix("s") && has("person", in: String(name.dropLast()))
  }

  static func isPicture(_ name: String) -> Bool { has("picture", in: NameWords.plain(name)) }

  /// Whether a name says how large a picture is, such as `large` or `MediumSmall`.
  static func isPictureSize(_ name: String) -> Bool {
    has("smallest", "middle", "largest", in: NameWords.plain(name))
  }

  /// The assumed width of a picture, in pixels, if neither the name of its field nor its URL says more.
  static let usualSize = 400
  /// The assumed width of a picture whose name is such as `medium`.
  static let mediumSize = 300
  /// The least size of pictures whose name is such as `large`; it is above all widths.
  static let largeSize = 10_000

  /// The size of the pictures in a field with the given name, only to be compared with the sizes of other fields.
  ///
  /// For example, 640 for `image_640`, 0 for `thumb`, ``largeSize`` for `large`, and more for `original`.
  static func pictureSize(_ name: String) -> Int {
    let plain = NameWords.plain(name)
    if has("largest", in: plain) {
      let order = ["huge", "whole", "source"].lastIndex { has($0, in: plain) }
      return (order.map { $0 + 2 } ?? 1) * largeSize
    }
    let pixels = name.split { !$0.isWholeNumber }.compactMap { Int($0) }.max() ?? 0
    if pixels >= 16 { return pixels }
    return has("smallest", in: plain) ? 0 : has("middle", in: plain) ? mediumSize : usualSize
  }
}

/// A kind of price that the name of a field can mean.
enum PriceMeaning {
  /// The usual price to pay, such as `price`.
  case asked
  /// A reduced price, such as `sale_price`. If an item has a reduced price, that is the price to pay.
  case reduced
  /// The price before a reduction, such as `old_price`.
  case former

  /// The kind of price that the names on a path mean, with a confidence from 0 to 1.
  ///
  /// A name such as `price` makes a price. Names that only mean an amount can follow it, as in `{"price": {"amount":
  /// 7}}` and `{"price": {"EUR": 7}}`.
  ///
  /// - Returns: Nil if the names do not mean a price of the item.
  static func of(_ place: FieldPlace) -> (meaning: PriceMeaning, confidence: Double)? {
    guard !FieldRules.isID(place.name) else { return nil }
    // A price can be called `price_with_tax`, but `tax` alone is not a price.
    var isNet = false
    var isLowest = false
    let path = place.names.map { name in
      let plain = plain(name)
      guard isPrice(plain) else { return plain }
      let words = plain.split(separator: " ")
      isLowest = isLowest || words.contains { FieldRules.isNamed("lowest", String($0)) }
      isNet = isNet || words.contains { FieldRules.isNamed("partly", String($0)) }
      return words.filter { !["tax", "taxes", "vat"].contains($0) }.joined(separator: " ")
    }
    guard !path.contains(where: { FieldRules.has("never", in: $0) }),
      let named = path.lastIndex(where: isPrice)
    else { return nil }
    let tail = path[(named + 1)...]
    let others = tail.filter { !Currency.codes.contains($0.uppercased()) }.flatMap { name in
      name.split(separator: " ").map(String.init).filter { word in
        !["amount", "price", "former", "reduced"].contains { FieldRules.isNamed($0, word) }
      }
    }
    // The price of a size is one of several.
    guard others.allSatisfy(FieldRules.isPictureSize) else { return nil }
    // The enclosing object counts too: in `{"compareAtPrice": {"minPrice": 7}}`, its name means the former price.
    let words = path[max(0, named - 1)...].joined(separator: " ")
    // A price without tax or per kilogram gets a low confidence, so that any other price of the item precedes it. The
    // same is true of the lowest price of a range, because it can also be a limit for sellers.
    isNet =
      isNet || path.contains { FieldRules.isNamed("partly", $0) }
      || tail.contains { FieldRules.has("untaxed", in: $0) }
    // So does the price of a topping, or of another thing that is sold with the item.
    let isExtra = path.contains { FieldRules.has("extra", in: $0) }
    let confidence = min(
      Self.confidence(of: path[named]),
      isExtra ? 0.5 : !others.isEmpty ? Confidence.doubt : isNet ? 0.65 : isLowest ? 0.8 : 1
    )
    if FieldRules.has("former", in: words) { return (.former, confidence) }
    return (FieldRules.has("reduced", in: words) ? .reduced : .asked, confidence)
  }

  /// Whether the name of an item's member means a price.
  static func isPriceMember(_ name: String) -> Bool {
    of(FieldPlace(steps: []).adding(name)) != nil
  }

  /// A name as by ``NameWords/plain(_:)``, in which a group of words with a meaning of its own is one word.
  static func plain(_ name: String) -> String {
    phrases.reduce(NameWords.plain(name)) { name, row in
      row.words.reduce(name) { $0.replacing($1, with: row.value) }
    }
  }

  /// For example, a `price_without_rebate` is a price from before the rebate.
  private static let phrases = WordTable.names.rows(of: "phrase")

  /// Whether a name in the form of ``plain(_:)`` means a price by itself.
  static func isPrice(_ name: String) -> Bool { confidence(of: name) > 0 }

  /// The confidence that a name by itself means a price.
  ///
  /// `sale price` does, because one of its words is `price`. `sale` alone does not.
  private static func confidence(of name: String) -> Double {
    let whole = ["price", "former", "reduced"].first { meaning in
      FieldRules.isNamed(meaning, name)
        && (meaning == "price" || ["mrp", "msrp", "rrp", "uvp", "was"].contains(name)
          || name.contains { !$0.isASCII })
    }
    if let whole {
      return FieldRules.isNamed("priceWord", name)
        ? 0 : min(FieldRules.confidence(whole, name), 0.97)
    }
    let words = name.split(separator: " ").map(String.init)
    let isCalled = words.contains {
      FieldRules.confidence("price", $0) == 0.95 || ["mrp", "msrp", "rrp", "uvp"].contains($0)
    }
    guard isCalled else {
      // Thai, Chinese, Japanese and Korean write compounds without spaces: the word for price is a part of them. The
      // letters of other languages come before those of Thai in Unicode. There, the letters of a price can also be in
      // another word, such as that for calories in Arabic.
      func isCompound(_ meaning: String) -> Bool {
        FieldRules.names(of: meaning).contains { word in
          word.count > 1 && word.unicodeScalars.allSatisfy { $0.value >= 0xE00 }
            && name.contains(word)
        }
      }
      return isCompound("price") && !isCompound("never") ? 0.9 : 0
    }
    return words.map { FieldRules.confidence("price", $0) }.filter { $0 > 0 && $0 != 0.95 }.max()
      ?? 0.95
  }
}

/// The limits of a confidence, which is from 0 to 1.
enum Confidence {
  /// A path with a lower confidence is not proposed at all.
  static let floor = 0.3
  /// The highest confidence of a doubtful choice.
  static let doubt = 0.6
  /// A field whose path has a lower confidence is commented out in the proposed file.
  static let sure = 0.7
}

/// The likelihood that a certain path in an item, such as `$.price`, leads to a certain field, such as `salePrice`.
extension FieldEvidence {
  var isSure: Bool { confidence >= Confidence.sure }
  /// The same path, marked as doubtful: the proposed file has the field only in a comment.
  var doubtful: FieldEvidence { atMost(Confidence.doubt) }
  /// Whether the path has a known name of a title, such as `name`.
  var isCalledTitle: Bool { FieldRules.isNamed("title", place.plainName) }

  /// The same path, with another confidence.
  func rated(_ confidence: Double) -> FieldEvidence {
    var rated = self
    rated.confidence = confidence
    return rated
  }

  /// The same path, with a confidence that is not above a limit.
  func atMost(_ limit: Double) -> FieldEvidence { rated(min(confidence, limit)) }

  /// Judges from the names on a path and from its values how likely it is that the path leads to the field.
  func judged(as field: FieldRules.Field) -> FieldEvidence {
    let score = named(field) * fit(field)
    // Among paths that are equally likely, a shorter path precedes, and a path where more items have a value.
    let depth = Double(max(0, place.steps.count - 1))
    let judged = rated(score * max(0.94, 1 - 0.01 * depth) * (0.95 + 0.05 * share))
    // What few items have in another object is possibly that of this object, such as the terms of a coupon.
    let isRare =
      [.description, .thumbnail, .gallery].contains(field) && share < 0.25
      && ItemFields.isOwned(place)
    return isRare ? judged.doubtful : judged
  }

  /// The confidence that the names on a path mean the field.
  ///
  /// Ids, titles, prices and pictures with an unknown name are recognized by their values.
  func named(_ field: FieldRules.Field) -> Double {
    let path = place.plainNames
    let name = path.last ?? ""
    let parents = path.dropLast()
    let isOfOthers = parents.contains(where: FieldRules.isOfOthers)
    let isOfPicture = parents.contains { FieldRules.has("picture", in: $0) }
    let known = FieldRules.confidence(field.rawValue, name)
    switch field {
    case .id, .title:
      // A name inside an object such as `attributes` is the item's own. Inside any other object, it can be the name of
      // that object, for example of a brand. `currentLocation` is no such wrapper, because a location has its own id.
      let isOwn = parents.allSatisfy {
        FieldRules.has("wrapper", in: $0) && !FieldRules.has("whereabouts", in: $0)
      }
      let kin = isOfOthers || isOfPicture ? 0.35 : isOwn ? 1 : variety == 1 ? 0.65 : 0.4
      let guess = field == .id ? unnamedID : unnamedTitle
      return (known > 0 ? known : guess(name)) * kin
    case .description:
      if isOfOthers || isOfPicture { return 0.4 * known }
      let isOfElement = place.steps.dropLast().contains {
        $0.isList && !FieldRules.isText($0.name)
      }
      return (known > 0 ? known : unnamedDescription(name)) * (isOfElement ? 0.85 : 1)
    case .latitude, .longitude, .address: return known
    case .badges, .deliveryTypes:
      guard known == 0, ["name", "title", "label", "text"].contains(name) else { return known }
      return FieldRules.confidence(field.rawValue, parents.last ?? "") * 0.95
    case .salePrice, .normalPrice:
      guard let (meaning, confidence) = PriceMeaning.of(place) else {
        return field == .salePrice ? unnamedPrice : 0
      }
      return (meaning == .former) == (field == .normalPrice) ? confidence : 0
    case .thumbnail, .gallery:
      if isPage { return 0 }
      let isNamed = path.contains { FieldRules.has("picture", in: $0) }
      let isMark = path.contains { FieldRules.has("mark", in: $0) }
      let hasEndings = share(PictureText.hasEnding) > 0.8
      let isForm = FieldRules.has("link", "picture", in: name)
      let own = max(known, isNamed && isForm ? 0.9 : 0, hasEndings ? 0.8 : 0)
      let isBackdrop = path.contains { name in
        FieldRules.has("backdrop", in: name)
          && (name != path.last || FieldRules.has("picture", in: name))
      }
      let isTemplate =
        share(PictureText.isTemplate) > 0.2
        // The target of a link around a picture, as scrapers call it.
        || !hasEndings && name.split(separator: " ").last == "href"
      let likely =
        isOfOthers || FieldRules.isID(place.name)
        ? 0.35
        : isMark
          // A mark such as an avatar can be the only picture of an item; a suffix is no picture.
          ? FieldRules.has("other", in: name) ? 0.4 : 0.35
          : isTemplate ? 0.5 : isBackdrop || Self.isOfAnother(name) ? 0.6 : 1
      return own * likely * (share(PictureText.isHosted) > 0.8 ? 0.9 : 1)
    }
  }

  /// Whether a picture's name says that it shows a person or another thing, as `seller_photo` and `brand_img` do.
  ///
  /// The words `first` and `last` only mean a person in names of texts, such as `first_name`.
  static func isOfAnother(_ name: String) -> Bool {
    name.split(separator: " ").contains { word in
      FieldRules.has("person", "other", in: String(word)) && word != "first" && word != "last"
    }
  }

  /// The confidence that a path with an unknown name, such as `imdbID`, leads to the id.
  ///
  /// The values must differ in all items.
  private func unnamedID(_ name: String) -> Double {
    let words = name.split(separator: " ").map(String.init)
    let isOther =
      FieldRules.has("other", "person", "address", "contact", "measure", "tally", in: name)
      || FieldRules.has("never", in: name) || words.last == "amount"
    let isID = words.count > 1 && [words.first, words.last].contains("id")
    guard place.steps.count < 3, variety >= 0.95, !isOther,
      PriceMeaning.of(place) == nil || isCount,
      share({ text in
        text.utf8.count <= 80 && (isID || !text.contains(" ")) && !PictureText.isLink(text)
      }) == 1
    else { return 0 }
    if FieldRules.has("counter", in: name) || isCount && !isID {
      return variety == 1 ? 0.35 : 0
    }
    // The name begins or ends with a word such as `id`, as in `id_producto`, `objectNumber` and `itemcode`. A `keyName` is
    // not called one.
    let isCalled =
      !FieldRules.isText(words.last ?? "")
      && [words.first, words.last].contains { FieldRules.isNamed("idWord", $0 ?? "") }
      || ["code", "sku", "id"].contains(where: name.hasSuffix)
    if isCalled {
      return FieldRules.has("group", in: name) ? 0.5 : mayCount(words) ? Confidence.floor : 0.85
    }
    if variety < 1 { return 0 }
    // Words, such as the kinds of three plants, and dates can differ by chance.
    let areWords = share { !$0.contains(where: \.isNumber) || Self.isDate($0) } > 0.5
    if areWords { return Confidence.floor }
    // A number gets a lower confidence than a text, because it can also be a year or a size.
    return isText && share(PriceText.isPrice) < 1 ? 0.5 : 0.4
  }

  /// Whether a name such as `num_pages` means how many there are.
  ///
  /// A `number` can mean it too if its values are small, and in no order.
  private func mayCount(_ words: [String]) -> Bool {
    guard FieldRules.isNamed("number", words[0]) else { return false }
    if words.count > 1 {
      let isOfMany = words[1...].contains {
        $0.hasSuffix("s") || FieldRules.isNamed("ofMany", $0)
      }
      return isOfMany && !FieldRules.isNamed("thing", words[words.count - 1])
    }
    let numbers = samples.compactMap { Int($0) }
    return numbers.count == samples.count && numbers.allSatisfy { $0 < 1000 }
      && numbers != numbers.sorted()
  }

  /// The confidence that a path with an unknown name, such as `goods_nm`, leads to the title.
  ///
  /// Most of the values should be short texts of several words.
  private func unnamedTitle(_ name: String) -> Double {
    let words = name.split(separator: " ").map(String.init)
    // The location of an item names a place that many items share.
    let isPlace = FieldRules.has("whereabouts", in: name) && !Self.isCalledTitle(name)
    if isPlace || FieldRules.has("person", "other", in: name) || words.contains("file") {
      return 0
    }
    let isWords = share { $0.contains(" ") && $0.utf8.count <= 200 } > 0.5
    if Self.isCalledTitle(name), !FieldRules.has("engines", "contact", in: name) {
      let called = FieldRules.isNamed("thing", name) ? 0.75 : 0.85
      return isWords && variety > 0.8 ? called : 0.5
    }
    // If the items have no better title, their description can serve as the title.
    let isOwn = variety > 0.75 && place.steps.count < 3
    return isWords && isOwn ? share(Self.isSentence) > 0.5 ? 0.35 : 0.45 : 0
  }

  /// Whether a name has a word that means a title, as `goods_nm` and `commonName` have.
  static func isCalledTitle(_ name: String) -> Bool {
    let words = name.split(separator: " ").map(String.init)
    return words.contains { ["nm", "name", "title"].contains($0) }
      || FieldRules.isNamed("thing", name)
      || FieldRules.confidence("title", words.first ?? "") > 0.9
  }

  /// The confidence that a path with an unknown name, such as `flavorText`, leads to the description.
  ///
  /// The values should differ in most of the items and be long sentences.
  private func unnamedDescription(_ name: String) -> Double {
    // A `brand_description`, an `artist_bio` or a `shipping_note` is about something else.
    let isOther = FieldRules.has("other", "person", "picture", "never", in: name)
    guard isText, variety > 0.5, share >= 0.1, !isOther else { return 0 }
    // A text such as "5.98 per kg" in `unitPriceDescription` is a price.
    let isOfPrice = name.split(separator: " ").contains {
      FieldRules.confidence("price", String($0)) == 0.95
    }
    if isOfPrice, share({ $0.contains(where: \.isWholeNumber) }) > 0.5 { return 0 }
    let words = name.split(separator: " ").map(String.init)
    // `aciklamasi` is a form of `aciklama`.
    let isCalled = words.contains { word in
      ["desc", "descr"].contains(word) || FieldRules.confidence("description", word) >= 0.9
        || FieldRules.names(of: "description").contains { $0.count > 5 && word.hasPrefix($0) }
    }
    if isCalled, share({ $0.count { $0 == " " } > 1 }) > 0.5 { return 0.85 }
    return place.steps.count < 4 && share(Self.isSentence) > 0.7 ? 0.6 : 0
  }

  /// Whether a text has six words or more, and a mark such as a point that ends a sentence.
  ///
  /// An object or a list written as text, such as `{"42": {"stock": 1}}`, is none.
  private static func isSentence(_ text: String) -> Bool {
    !text.hasPrefix("{\"") && !text.hasPrefix("[{") && text.utf8.count >= 40
      && text.count { $0 == " " } >= 5
      && text.contains { ".!?。！？".contains($0) }
  }

  /// The confidence that a path whose names do not mean a price leads to a price.
  ///
  /// The values must contain a currency, such as `9 €`.
  private var unnamedPrice: Double {
    let isOther = place.plainNames.contains {
      FieldRules.has("never", "former", "reduced", "person", "other", in: $0)
    }
    guard place.steps.count <= 3, !place.isMany, !isOther else { return 0 }
    guard isText, share(PriceText.hasUnit) > 0.8 else { return 0 }
    // Two amounts can be what people spend at a place, such as "2001～3000円".
    return share(PriceText.isRange) > 0.5 ? Confidence.doubt : 0.8
  }

  /// How well the values fit the field, from 0 to 1; names do not count.
  fileprivate func fit(_ field: FieldRules.Field) -> Double {
    // An address with the text of a message in it has spaces and is no link, but neither is it prose.
    let isLinks = share { PictureText.isLink($0) || PictureText.isAbsolute($0) } > 0.5
    switch field {
    case .id:
      let isShort = share { $0.utf8.count <= 200 && !$0.contains("\n") } >= 0.95
      // An item can be listed in several sections. Therefore half as many different ids as items are enough.
      return isOne && isShort && reals == 0 ? share * min(1, variety * 2) : 0
    case .title:
      // Some of the titles can be numbers, such as that of the book "1984".
      guard texts * 2 > values, isOne, !isLinks, !isConstant else { return 0 }
      let isAmount =
        share(PriceText.hasUnit) > 0.5
        || share(PriceText.isPrice) > 0.5
          && (PriceMeaning.of(place) != nil || share(PriceText.hasDecimals) > 0.5)
      let isOther = isAmount || share(Self.isDate) > 0.5
      let isToken =
        share {
          !$0.contains(" ")
            && ($0.contains { "_./:".contains($0) } || Self.isSlug($0) || Self.isCode($0))
            || ListText.parts(of: $0) != nil
        } > 0.8
      return isOther ? 0 : leading * (0.5 + 0.5 * variety) * (isToken ? 0.6 : 1)
    case .description:
      let isAmount = share(PriceText.hasUnit) > 0.5
      return isText && isOne && !isLinks && !isAmount && !isConstant ? 1 : 0
    case .address:
      // An object that is written as a text is no address.
      return isText && isOne && !isLinks && share { $0.hasPrefix("{") } < 0.5 ? 1 : 0
    case .badges, .deliveryTypes:
      return isText && !isLinks && share(PriceText.isPrice) < 0.5 ? 1 : 0
    case .normalPrice, .salePrice:
      let isList = place.isMany && !place.entersList && !place.isChosen
      let read = amountShare
      let isCode = share(PriceText.isCode) > 0.5
      // 1, 2, 3 … are hardly prices: a `bid` that counts is the number of a book or a brand.
      let isNumber = isCount && place.plainName.hasSuffix("id")
      return isList || isCode || isNumber || read < 0.8 || leading == 0
        ? 0
        : isCount || isLevel
          || field == .salePrice && held >= 10 && share { Double($0) == 0 } > 0.8
          ? min(read, Confidence.doubt) : read
    case .latitude, .longitude:
      let bound = field == .latitude ? 90.0 : 180.0
      let isDegrees = share { Double($0).map { abs($0) <= bound } ?? false } == 1
      // Zero stands where a place is unknown.
      let unknown = share { Double($0) == 0 }
      guard isDegrees, unknown < 1, !place.isMany else { return 0 }
      return unknown > 0.2 ? Confidence.doubt : 1
    case .thumbnail:
      guard isText, arePictures else { return 0 }
      // The same address in all items is that of a stand-in, or of no picture. Several addresses in one text are none.
      let isOdd =
        isConstant || share(PictureText.isMarked) > 0.5
        || samples.contains(where: PictureText.hasSeveral)
      return isOdd ? Confidence.doubt : place.isMany ? 0.9 : 1
    case .gallery:
      let isMany =
        place.isMany || hasTextLists ? arePictures : PictureText.separator(of: self) != nil
      return isText && isMany ? 1 : 0
    }
  }

  /// Whether the values are 1, 2, 3, 4 or 5, which can say how expensive a place is.
  private var isLevel: Bool {
    held >= 10 && share { [1, 2, 3, 4, 5].contains(Double($0)) } == 1
  }

  /// Whether a text is a part of a URL that was made from a title, such as `blue-tea-cup`.
  private static func isSlug(_ text: String) -> Bool {
    text.count { $0 == "-" } > 1 && text == text.lowercased()
  }

  /// Whether a text is a code such as `ITM-59311`.
  private static func isCode(_ text: String) -> Bool {
    text.utf8.count > 5 && text.contains(where: \.isNumber) && text.allSatisfy(\.isASCII)
      && text == text.uppercased()
  }

  /// Whether a text is a date or a timestamp. (RFC 3339)
  private static func isDate(_ text: String) -> Bool {
    let digits = text.prefix(10).map { $0.isWholeNumber ? "9" : $0 }
    return String(digits) == "9999-99-99"
  }

  /// Whether most of the values are URLs or paths, and few of them end like a web page or a video.
  ///
  /// `data:` URLs do not count.
  private var arePictures: Bool {
    let addresses = samples.filter { !PictureText.isData($0) }
    guard !addresses.isEmpty else { return false }
    let links = addresses.count(where: PictureText.isLink)
    // A program can send a picture: `thumb.php?pic=1` in a field that is called one.
    let isCalled = FieldRules.isPicture(place.name)
    let pages = addresses.count { PictureText.isOther($0) && !(isCalled && $0.contains("?")) }
    return links * 5 > addresses.count * 4 && pages * 5 < addresses.count
  }
}

extension [FieldEvidence] {
  /// The paths that possibly lead to the field, the likeliest first.
  ///
  /// Paths with equal scores keep the order that they have in the item.
  func ranking(_ field: FieldRules.Field) -> [FieldEvidence] {
    map { $0.judged(as: field) }.filter { $0.confidence >= Confidence.floor }
      .ranked(by: \.confidence)
  }

  /// The short texts that differ in most of the items, after a short description, which can repeat; each has the
  /// confidence ``Confidence/floor``.
  ///
  /// If there are none, a text such as `slug` is the title, or else a title that all items share, or else the URL of a
  /// page or a picture, or else a code, or else a text with a third as many values as items, or with more than
  /// 20, or else a number.
  var possibleTitles: [FieldEvidence] {
    // A number, such as that of the bedrooms of a house, is the title of last resort, and so is a mileage, or "64GB".
    func isNumber(_ evidence: FieldEvidence) -> Bool {
      evidence.share { PriceText.isPrice($0) || $0.contains(/^[0-9.,]+ ?\p{L}{1,3}$/) } >= 0.5
    }
    let repeating = filter { evidence in
      let isOther = evidence.place.names.contains {
        FieldRules.has("other", "person", "mark", "counter", in: NameWords.plain($0))
          || FieldRules.isID($0)
      }
      let varies = evidence.variety > 0.3 || evidence.distinct.count > 20
      return evidence.fit(.title) > 0.5 && varies && !isOther && !evidence.isRefused
        && evidence.share { $0.utf8.count <= 200 } == 1
    }
    let texts = repeating.filter { $0.variety > 0.5 }
    let slugs = filter { evidence in
      let isSlug = ["slug", "handle", "permalink"].contains(evidence.place.plainName)
      return isSlug && evidence.isText && evidence.variety > 0.5
    }
    let named = filter { evidence in
      let name = evidence.place.plainName
      let first = name.split(separator: " ").first.map(String.init) ?? ""
      return evidence.isText && evidence.isOne
        && (FieldEvidence.isCalledTitle(name) || FieldRules.isNamed("thing", first))
        && !FieldRules.has("other", "person", "measure", in: name)
    }.ranked(by: \.share)
    let shared = named.first.map { !$0.isRefused } == true ? named : []
    let links = filter { evidence in
      let isPicture = evidence.judged(as: .thumbnail).isSure && !evidence.place.isMany
      return (isPicture || evidence.isPageLink) && evidence.isNearlyUnique
    }
    let described = repeating.filter { evidence in
      FieldRules.confidence("description", evidence.place.plainName) >= 0.9
        && evidence.share { $0.utf8.count <= 80 } > 0.9
    }
    let short = texts.filter { !isNumber($0) }
    let ids = ranking(.id).filter { $0.isSure && $0.isNearlyUnique }
    let codes = ids.filter { !isNumber($0) }
    let words = repeating.filter { !isNumber($0) }
    let kinds = [described + short, slugs, shared, links, codes, words, ids, texts]
    let found = kinds.first { !$0.isEmpty } ?? []
    return found.map { $0.rated(Confidence.floor) }
  }
}
