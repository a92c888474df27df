/// The prices that `larder catalog init` chooses among all paths in the items.
///
/// The names on the paths say which paths are candidates (``PriceMeaning``). A choice is certain only if the amounts of
/// all items agree with it, and if no other candidate has different amounts. Otherwise the file has the candidates in
/// comments, and the user decides.
struct PriceChoice {
  /// The candidates for the price to pay, the likeliest first.
  private(set) var offered: [FieldEvidence]
  /// The candidates for the price before a reduction, the likeliest first.
  private(set) var former: [FieldEvidence]
  /// The chosen paths of the price to pay; an item's price is at the first path where the item has a value.
  private(set) var salePrice: [FieldEvidence] = []
  /// The chosen path of the price before a reduction.
  private(set) var normalPrice: [FieldEvidence] = []
  /// The values that are called a cost, which can be a purchase price.
  private let costs: [FieldEvidence]
  /// The amounts of other prices, such as those in a list, which are shown if the items have no better price.
  private let called: [FieldEvidence]
  /// Whether texts that are no amounts are called the price to pay.
  private let isWritten: Bool

  /// Chooses the prices.
  ///
  /// - Parameters:
  ///   - all: The values at every path in the items.
  ///   - taken: The paths to other fields, such as the title "Cup 1", which are no prices.
  init(among all: [FieldEvidence], besides taken: Set<FieldPlace>) {
    offered = Self.candidates(.salePrice, among: all)
    former = Self.candidates(.normalPrice, among: all)
    // If an amount of 0 is all that the items say about a price, they say nothing about it. If most items have it, they
    // can be free, or have no price.
    if former.isEmpty {
      offered.removeAll { $0.zeros == 1 }
      offered = offered.map { $0.meaning == .asked && $0.zeros >= 0.5 ? $0.doubtful : $0 }
    }
    // A number that all items share is no price, if their prices differ.
    let areDifferent = offered.contains { $0.amounts.count > 1 }
    func isConstant(_ score: FieldEvidence) -> Bool {
      areDifferent && !score.isPartial && score.amounts.count == 1
    }
    offered.removeAll { isConstant($0) && $0.meaning == .asked }
    former.removeAll { isConstant($0) && $0.share(PriceText.isWhole) == 1 }
    // The price of a piece or a night, such as `unitPrice`, is the price if the items have no other.
    if offered.count == 1, former.isEmpty, offered[0].confidence > Confidence.doubt,
      PriceMeaning.plain(offered[0].place.name).hasPrefix("unit ")
    {
      offered[0].confidence = max(offered[0].confidence, 0.8)
    }
    let others = all.filter { !taken.contains($0.place) && $0.isMoney }
    costs = all.filter { !taken.contains($0.place) && $0.isCost }
    called = all.filter { evidence in
      evidence.place.steps.count <= 2
        && PriceMeaning.isPrice(PriceMeaning.plain(evidence.place.name))
        && evidence.share > 0.5 && evidence.amountShare == 1
        && evidence.zeros < 1
    }
    isWritten = all.contains { evidence in
      evidence.isUnreadPrice && PriceMeaning.of(evidence.place)?.meaning == .asked
        && evidence.share > 0.5 && evidence.amountShare == 0
    }
    choose(among: others)
    chooseNormalPrice()
    // A discount beside a single price can still be taken off.
    if normalPrice.isEmpty, all.contains(where: \.isDiscount) {
      salePrice = salePrice.map { $0.meaning == .asked ? $0.doubtful : $0 }
    }
  }

  /// The candidates for a price, the likeliest first.
  ///
  /// Amounts of 0 and negative ones are removed from candidates for reduced and former prices, because they mean "none".
  private static func candidates(
    _ field: FieldRules.Field,
    among all: [FieldEvidence]
  ) -> [FieldEvidence] {
    let ranking = all.ranking(field)
    let isFree = ranking.allSatisfy { $0.zeros >= 0.5 }
    let paid = ranking.filter { score in
      score.meaning == .asked ? isFree || score.zeros < 0.5 : score.zeros < 1
    }
    return paid.map { score in
      // The price of the item itself goes before that of a variant, perhaps of a larger size.
      let isPart =
        score.place.isOfVariant && paid.contains { !$0.place.entersList }
      var score = isOneOfSeveral(score) || isPart ? score.doubtful : score
      if score.meaning != .asked { score.dropZeros() }
      return score
    }.ranked(by: \.confidence)
  }

  /// Whether an amount is one of several prices of an item, for example the first in a list of wholesale and retail
  /// prices or of the offers of several shops, or an attribute that another shop could have set.
  ///
  /// The first of an item's variants stands for the item.
  private static func isOneOfSeveral(_ evidence: FieldEvidence) -> Bool {
    let place = evidence.place
    let isListed = place.steps.contains {
      $0.isList && PriceMeaning.isPrice(PriceMeaning.plain($0.name))
    }
    return place.isChosen
      || evidence.values > evidence.held && (isListed || place.entersList && !place.isOfVariant)
  }

  /// Chooses the price to pay: the reduced price if there is one, followed by the price of the other items.
  private mutating func choose(among others: [FieldEvidence]) {
    let asked = offered.filter { $0.meaning == .asked }
    let reduced = offered.first { $0.meaning == .reduced }
    let full =
      asked.first { full in reduced.map { full.isSibling(of: $0) } ?? true } ?? asked.first
    if let reduced, let full {
      let isLower = reduced.isNever(above: full, by: 4)
      let isPart = !isLower && reduced.isNever(above: full, by: .infinity)
      salePrice = isPart ? [full] : reduced.isPartial ? [reduced, full] : [reduced]
      // The lowest offer, which other sellers can have, is possibly no reduced price.
      let isLowest = reduced.confidence < full.confidence - 0.1
      if !isLower || isLowest || full.isPartial { salePrice = salePrice.map(\.doubtful) }
    } else if let price = reduced ?? full {
      // Of an amount in cents and the same amount with decimals, the one with decimals has no doubtful unit.
      let written = offered.first { other in
        other.isSame(as: price) && other.held == price.held
          && other.share(PriceText.hasDecimals) > 0.5
      }
      let isWhole = price.share(PriceText.isWhole) == 1
      salePrice = [isWhole ? written ?? price : price]
      let lacking = price.lacking
      if lacking > 0, reduced != nil || lacking * 50 > price.total {
        // Items without the chosen price can have a price before a reduction. That price is then the price to pay.
        salePrice += former.first { $0.fills(price) }.map { [$0] } ?? []
        let isFilled =
          salePrice.count > 1 && reduced != nil && price.isSibling(of: salePrice[1])
          && price.isNever(above: salePrice[1], by: 4) && !salePrice[1].isPartial
        if !isFilled, reduced != nil || salePrice.count > 1 || lacking * 2 > price.total {
          salePrice = salePrice.map(\.doubtful)
        }
      }
    } else {
      chooseOnlyPrice(others)
    }
    // The price of an option can be added to an amount of the item that nobody calls a price.
    let isAdded = salePrice.contains { price in
      price.place.steps.contains {
        $0.isList && FieldRules.isNamed("option", $0.name.lowercased())
      }
    }
    if isAdded, (others + costs).contains(where: { $0.share > 0.5 && !$0.place.isMany }) {
      salePrice = salePrice.map(\.doubtful)
    }
    guard let sale = salePrice.first, sale.confidence > Confidence.floor else { return }
    let unnamed = others.map { $0.rated(0.5) }.filter { rival in
      let isCalled = FieldRules.has("former", "reduced", in: rival.place.plainName)
      return rival.isLike(sale) && (isCalled || rival.share > 0.9)
    }
    offered += unnamed
    let known = salePrice + [full].compactMap(\.self)
    let rivals =
      offered.filter { rival in
        rival.confidence > sale.confidence - 0.15
          && !known.contains { $0.isSame(as: rival) || $0.isConverted(to: rival) }
      } + unnamed
    if salePrice.contains(where: { !$0.isSure }) { salePrice = salePrice.map(\.doubtful) }
    guard let rival = rivals.first else { return }
    // The lower one of two prices is the better guess, and the higher one is possibly the price before a reduction.
    let isNamed =
      rival.confidence > 0.5 || FieldRules.has("reduced", in: rival.place.plainName)
    if isNamed, rival.isNever(above: sale, by: 50) {
      former.append(sale.doubtful)
      salePrice = rival.isPartial ? [rival] + salePrice : [rival]
    } else if sale.isNever(above: rival, by: 50) {
      former.append(rival.doubtful)
    }
    salePrice = salePrice.map(\.doubtful)
  }

  /// Chooses the price to pay if no path means a price to pay; the choice is doubtful.
  ///
  /// A price before a reduction can be the only price. Otherwise, a cost or any number can be the price to pay.
  private mutating func chooseOnlyPrice(_ others: [FieldEvidence]) {
    // The price to pay can be a text that is no amount, such as "€ 65 (3999 den.)".
    guard former.isEmpty || !isWritten else { return }
    offered = former
    if former.isEmpty {
      let possible = others.filter { other in
        let name = other.place.plainName
        let isCalled =
          FieldRules.has("former", "reduced", in: name)
          || ["amount", "value", "total", "money"].contains(name)
        return other.place.steps.count <= 3 && other.share > 0.5 && !other.place.isMany
          && (isCalled || other.share(PriceText.hasDecimals) > 0.5)
      }
      offered =
        costs.filter { $0.share > 0.5 }.map { $0.rated(0.4) }
        + (possible.isEmpty ? called : possible).map { $0.rated(Confidence.floor) }
    }
    salePrice = offered.prefix(1).map(\.doubtful)
  }

  /// Chooses the price before a reduction: a path that is called so, or else the price beside a reduced one.
  ///
  /// It is doubtful if it is below the price to pay in some items, if it is the same, or if there are several.
  private mutating func chooseNormalPrice() {
    guard let sale = salePrice.first else { return }
    let full = offered.first { $0.meaning == .asked && $0.place != sale.place }
    let isReduced = sale.meaning == .reduced
    let candidates = former.isEmpty ? [isReduced ? full : nil].compactMap(\.self) : former
    guard !candidates.isEmpty else {
      // A cost that is hardly ever below the price is no purchase price.
      normalPrice = costs.map { $0.rated(0.5) }.filter { cost in
        let amounts = sale.amounts(with: cost)
        return amounts.count { $0 <= $1 && $1 <= $0 * 10 } * 20 > amounts.count * 19
          && amounts.contains { $0 < $1 }
      }
      return
    }
    // Amounts that are a hundred times as large are in cents.
    func fits(_ score: FieldEvidence) -> Bool {
      let amounts = sale.amounts(with: score)
      return amounts.count { $0 <= $1 && $1 <= $0 * 50 } * 10 >= amounts.count * 9
    }
    guard let normal = candidates.first(where: { fits($0) && !$0.isSame(as: sale) })
    else {
      normalPrice = candidates.prefix(1).filter { $0.place != sale.place }
        .map(\.doubtful)
      return
    }
    let hasRival = former.contains { rival in
      rival.confidence > normal.confidence - 0.15 && !rival.isSame(as: normal)
        && !rival.isSame(as: sale)
    }
    // If the price to pay is a guess, so is the price before the reduction, and either can be the price to pay.
    let isGuess = offered.first.map { !$0.isSure || $0.meaning == .former } ?? true
    if isGuess { offered += former }
    let isDerived = !sale.isSure && (former.isEmpty || isGuess)
    normalPrice = [hasRival || isDerived ? normal.doubtful : normal]
  }
}

extension FieldPlace {
  /// Whether the value is in the list of an item's variants.
  fileprivate var isOfVariant: Bool {
    entersList && steps.contains { FieldRules.has("variant", in: NameWords.plain($0.name)) }
  }
}

extension FieldEvidence {
  /// The number of items without a value; an amount that was removed by ``dropZeros()`` does not count.
  var lacking: Int { total - firsts.count { $0 != nil } }

  /// Whether some item has no value.
  var isPartial: Bool { lacking > 0 }

  /// Whether the values can be amounts of money, and no name on the path says that they are something else.
  var isMoney: Bool {
    place.steps.count <= 5 && !FieldRules.isID(place.name) && !isCalledPrice
      && areAmounts(called: place.plainNames)
  }

  /// Whether many of the values are texts with a number that are no amounts, such as "USD 3.09+".
  var isUnreadPrice: Bool {
    isText && !place.isMany && !place.isChosen
      && share { text in
        text.contains(where: \.isWholeNumber) && text.utf8.count <= 100
          && !PriceText.isPrice(text)
      } > 0.2
  }

  /// Whether the values are called a discount, and some are not 0: "0.0" and "20%".
  fileprivate var isDiscount: Bool {
    FieldRules.has("discount", in: place.plainName) && !isCalledPrice
      && samples.contains { Double($0.prefix { !"% ".contains($0) }) ?? 0 != 0 }
  }

  /// Whether the values are called a price of the item.
  var isCalledPrice: Bool { PriceMeaning.of(place) != nil }

  /// Whether the values can be amounts of money, and are called the cost of the item.
  var isCost: Bool {
    let words = NameWords.words(of: place.name)
    let others = words.filter { !FieldRules.isNamed("cost", $0) }
    return others.count < words.count && place.steps.count <= 2 && isOne
      && areAmounts(called: others)
  }

  /// Whether all values are amounts, and none of the names means another number than an amount of money.
  private func areAmounts(called names: [String]) -> Bool {
    let isOther = names.contains {
      FieldRules.has("never", "measure", "person", "other", "counter", "tally", in: $0)
    }
    return !isOther && !place.isChosen && share(PriceText.isCode) == 0
      && (amountShare == 1 || amountShare > 0.9 && share(Self.isAmountOrNothing) == 1)
  }

  /// Whether a text is an amount, or stands where an item has none, such as "-".
  private static func isAmountOrNothing(_ text: String) -> Bool {
    PriceText.isPrice(text) || FieldRules.isNamed("nothing", text.trimmed.lowercased())
  }

  /// The share of values that are prices, or a negative number that means "none", such as -1.
  ///
  /// Different negative numbers are changes of a price, and no prices.
  var amountShare: Double {
    let prices = share(PriceText.isPrice)
    let negative = Set(samples.filter(PriceText.isNegative).compactMap(Double.init))
    return prices == 0 || negative.count != 1
      ? prices : share { PriceText.isPrice($0) || PriceText.isNegative($0) }
  }

  /// Removes the amounts of 0, and negative ones, from ``firsts``.
  fileprivate mutating func dropZeros() {
    firsts = firsts.map { $0.flatMap { (PriceText.number($0) ?? 1) > 0 ? $0 : nil } }
  }

  /// The kind of price that the names on the path mean.
  var meaning: PriceMeaning { PriceMeaning.of(place)?.meaning ?? .asked }

  /// The amounts that mean that an item has no such price: negative ones, and 0 for reduced and former prices.
  var voids: [Int] {
    let isVoid: (Double) -> Bool = { [isPaid = meaning == .asked] in $0 < 0 || $0 == 0 && !isPaid }
    return Set(samples.compactMap(PriceText.number).filter(isVoid)).compactMap(
      Int.init(exactly:)
    ).sorted()
  }

  /// The share of amounts that are 0 or negative.
  fileprivate var zeros: Double { share { (PriceText.number($0) ?? 1) <= 0 } }

  /// The different amounts of the items.
  fileprivate var amounts: Set<String> { Set(firsts.compactMap(\.self)) }

  /// Whether two paths differ in one step, as `$.sale.amount` and `$.full.amount` do.
  fileprivate func isSibling(of other: FieldEvidence) -> Bool {
    let (steps, others) = (place.steps, other.place.steps)
    return steps.count == others.count && zip(steps, others).count { $0 != $1 } == 1
  }

  /// The amounts of items that have both prices, without amounts of 0.
  fileprivate func amounts(with other: FieldEvidence) -> [(Double, Double)] {
    pairs(with: other).compactMap { one, other in
      guard let one = PriceText.number(one), let other = PriceText.number(other) else {
        return nil
      }
      return one <= 0 || other <= 0 ? nil : (one, other)
    }
  }

  /// Whether the amounts are written as those of a price, and differ by a factor of at most 4 from it in nearly all items.
  fileprivate func isLike(_ price: FieldEvidence) -> Bool {
    let amounts = amounts(with: price)
    let isWritten = [self, price].map { $0.share(PriceText.hasDecimals) > 0.5 }
    return isWritten[0] == isWritten[1] && (!place.isMany || price.place.isMany)
      && (self.amounts.count > 1 || price.amounts.count == 1) && amounts.count > 1
      && amounts.count { $0 > 4 * $1 || $1 > 4 * $0 } * 50 < amounts.count && !isSame(as: price)
  }

  /// Whether two paths have equal amounts in nearly all items, perhaps in another notation or in cents.
  func isSame(as other: FieldEvidence) -> Bool {
    let share = self.share(with: other) {
      PriceText.digits($0) == PriceText.digits($1)
        || PriceText.number($0) == PriceText.number($1)
    }
    let amounts = amounts(with: other)
    return share >= 0.9
      || !amounts.isEmpty
        && amounts.allSatisfy { abs($0 - $1 * 100) < 0.6 || abs($1 - $0 * 100) < 0.6 }
  }

  /// Whether two names differ only in the currency, as `price_usd` and `price_eur` do.
  fileprivate func isConverted(to other: FieldEvidence) -> Bool {
    let words = [self, other].map { NameWords.words(of: $0.place.name) }
    let names = words.map { $0.filter { !Currency.codes.contains($0.uppercased()) } }
    return words[0] != words[1] && names[0] == names[1] && !names[0].isEmpty
      && names[0].count < words[0].count
      && names[1].count < words[1].count
  }

  /// Whether no amount is above the other price of the item, which is at most a number of times as high.
  func isNever(above other: FieldEvidence, by limit: Double) -> Bool {
    let amounts = amounts(with: other)
    return !amounts.isEmpty && amounts.allSatisfy { $0 <= $1 && $1 <= $0 * limit }
  }
}
