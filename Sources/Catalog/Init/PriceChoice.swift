/// The prices that `larder catalog init` chooses among all paths in the items.
///
/// The names on the paths say which paths are candidates (``PriceMeaning``). Then the amounts of two candidates are
/// compared item by item: of two prices, the one that is never lower is the price before a reduction.
struct PriceChoice {
  /// The candidates for the price to pay, the likeliest first.
  private(set) var offered: [FieldScore]
  /// The candidates for the price before a reduction, the likeliest first.
  private(set) var former: [FieldScore]
  /// The chosen paths of the price to pay; an item's price is at the first path where the item has a value.
  private(set) var salePrice: [FieldScore] = []
  /// The chosen path of the price before a reduction.
  private(set) var normalPrice: [FieldScore] = []

  /// Chooses the prices.
  ///
  /// - Parameters:
  ///   - all: The values at every path in the items.
  ///   - id: The path to the id, which is no price.
  init(among all: [FieldEvidence], besides id: FieldPlace?) {
    offered = Self.candidates(.salePrice, among: all)
    former = Self.candidates(.normalPrice, among: all)
    // If an amount of 0 is all that the items say about a price, they say nothing about it.
    if former.isEmpty { offered.removeAll { $0.zeros == 1 } }
    // A number that all items share is no price, if their prices differ.
    let areDifferent = offered.contains { $0.amounts.count > 1 }
    offered.removeAll { score in
      score.meaning == .asked && areDifferent && !score.evidence.isPartial
        && score.amounts.count == 1
    }
    // A standard price is a cost or a list price, unless it is beside a reduced price.
    if !offered.contains(where: { $0.meaning == .reduced }) {
      let standard = offered.filter { $0.meaning == .asked && $0.isCalled("standard") }
      offered.removeAll { score in standard.contains { $0.evidence.place == score.evidence.place }
      }
      if let price = offered.first {
        former += standard.filter { price.isNever(above: $0, by: 4) }.map(\.doubtful)
      }
    }
    former.removeAll { score in
      // A single digit says which price list the price is from. A reference price can be the price of a kilogram, but
      // not if only some items have it.
      score.amounts.count == 1 && score.evidence.reals == 0
        && score.evidence.samples.first?.utf8.count == 1 && areDifferent
        || score.isCalled("reference") && !score.evidence.isPartial
    }
    // A `discount` can be the reduced price, or the part by which the price was reduced.
    if let full = offered.first(where: { $0.meaning == .asked }) ?? former.first {
      offered.removeAll { score in
        PriceMeaning.plain(score.evidence.place.name) == "discount"
          && !score.amounts(with: full).allSatisfy { $0 * 2 >= $1 }
      }
    }
    if offered.isEmpty { offerRetailPrice() }
    let others = all.filter { $0.place != id && $0.isMoney }
    choose(among: others)
    compareUnexplained(others)
    // Other prices have a low confidence unless they are the chosen prices in another notation.
    offered = Self.doubted(offered, unlike: salePrice)
    former = Self.doubted(former, unlike: normalPrice)
  }

  // MARK: - Candidates

  /// The candidates for a price, the likeliest first.
  ///
  /// Amounts of 0 and negative ones are removed from candidates for reduced and former prices, because they mean "none".
  private static func candidates(
    _ field: FieldRules.Field,
    among all: [FieldEvidence]
  ) -> [FieldScore] {
    let ranking = inOneCurrency(FieldScore.ranking(field, all))
    let isFree = ranking.allSatisfy { $0.zeros >= 0.5 }
    let paid = ranking.filter { score in
      score.meaning == .asked ? isFree || score.zeros < 0.5 : score.zeros < 1
    }
    let names = Set(paid.map { $0.names { _ in false } })
    let taxed = Set(paid.filter { !$0.isCalled("untaxed") }.map { $0.names(without: isTax) })
    return paid.compactMap { score in
      let place = score.evidence.place
      let beside = all.filter { $0.place.steps.dropLast() == place.steps.dropLast() }
      guard !isSuperfluous(score, names, taxed, beside) else { return nil }
      let isStatistic =
        score.isCalled("lowest")
        && beside.contains { FieldRules.has("statistic", in: NameWords.plain($0.place.name)) }
      let isAttribute = place.isChosen && !hasCurrency(beside: place, all)
      let isDoubtful = isStatistic || isAttribute || isOfSeveralKinds(place, all)
      var score = isDoubtful ? score.doubtful : score
      if score.meaning != .asked { score.evidence.dropZeros() }
      return score
    }.ranked(by: \.confidence)
  }

  /// Whether an attribute next to this one has the currency, as in `[{"code": "price", "value": 5}, {"code": "currency",
  /// "value": "EUR"}]`.
  private static func hasCurrency(beside place: FieldPlace, _ all: [FieldEvidence]) -> Bool {
    all.contains { other in
      other.place.isChosen && other.place.steps.map(\.name) == place.steps.map(\.name)
        && FieldRules.isNamed("currency", NameWords.plain(other.place.name))
    }
  }

  /// Whether the elements of a list of prices are prices of different kinds, so that the first is one of several.
  ///
  /// For example, in `[{"type": "wholesale", "price": 5}, {"type": "retail", "price": 9}]`.
  private static func isOfSeveralKinds(_ place: FieldPlace, _ all: [FieldEvidence]) -> Bool {
    place.steps.indices.contains { index in
      let list = place.steps[...index]
      return list[index].isList && PriceMeaning.isPrice(PriceMeaning.plain(list[index].name))
        && all.contains { other in
          other.place.steps.count == list.count + 1 && other.place.steps.starts(with: list)
            && FieldRules.isNamed("priceKind", NameWords.plain(other.place.name))
            && Set(other.samples).count > 1
            && Set(other.samples).count * 2 <= other.values
        }
    }
  }

  /// A ranking without the prices in a second currency, such as the dollars in `{"EUR": 7, "USD": 8}`.
  private static func inOneCurrency(_ ranking: [FieldScore]) -> [FieldScore] {
    guard let best = ranking.first?.evidence.place, Currency.codes.contains(best.name.uppercased())
    else { return ranking }
    return ranking.filter { score in
      let place = score.evidence.place
      return place == best || place.steps.dropLast() != best.steps.dropLast()
        || !Currency.codes.contains(place.name.uppercased())
    }
  }

  private static func isTax(_ word: String) -> Bool {
    ["untaxed", "taxed"].contains { FieldRules.isNamed($0, word) }
      || ["tax", "taxes", "vat"].contains(word)
  }

  /// Whether another candidate is the same price with its tax or in the shop's currency, or this is a price per unit.
  ///
  /// - Parameters:
  ///   - score: The candidate.
  ///   - names: The names of all candidates.
  ///   - taxed: The names of the candidates with tax, without words about it.
  ///   - beside: The values in the same object as the candidate.
  /// - Returns: Whether the candidate is left out.
  private static func isSuperfluous(
    _ score: FieldScore,
    _ names: Set<[String]>,
    _ taxed: Set<[String]>,
    _ beside: [FieldEvidence]
  ) -> Bool {
    func isCurrency(_ word: String) -> Bool {
      Currency.codes.contains(word.uppercased())
        || ["euro", "euros", "dollar", "dollars"].contains(word)
    }
    let name = PriceMeaning.plain(score.evidence.place.name).split(separator: " ").map(String.init)
    let isTwin =
      score.isCalled("untaxed") && taxed.contains(score.names(without: isTax))
      || name.count > 1 && name.contains(where: isCurrency)
        && names.contains(score.names(without: isCurrency))
    let isPerUnit =
      !Set(name).isDisjoint(with: ["base", "unit", "grund"])
      && beside.contains { quantity in
        // A `reference_format` beside a `reference_price` is the quantity of that price, and not of the `unit_price`.
        let word = NameWords.words(of: quantity.place.name).first
        let isOfOther =
          word != name.first
          && beside.contains {
            NameWords.words(of: $0.place.name).first == word && PriceMeaning.of($0.place) != nil
          }
        return FieldRules.has("perUnit", in: NameWords.plain(quantity.place.name)) && !isOfOther
      }
    return isTwin || isPerUnit
  }

  /// The scores, with those marked as doubtful that have other amounts than the chosen prices.
  private static func doubted(_ scores: [FieldScore], unlike chosen: [FieldScore]) -> [FieldScore]
  {
    scores.map { score in
      let isLike = chosen.isEmpty || chosen.contains { $0.isSame(as: score) }
      return isLike ? score : score.doubtful
    }
  }

  // MARK: - Choice

  /// Offers a retail price as the price to pay if a list price is beside it that is never below it.
  private mutating func offerRetailPrice() {
    guard
      let retail = former.first(where: { retail in
        retail.isCalled("retail") && !retail.isCalled("advised")
          && former.contains { list in
            list.isCalled("catalogPrice") && list.isSibling(of: retail)
              && retail.isNever(above: list, by: 50)
          }
      })
    else { return }
    former.removeAll { $0.evidence.place == retail.evidence.place }
    offered = [retail]
  }

  private mutating func choose(among others: [FieldEvidence]) {
    var asked = offered.filter { $0.meaning != .reduced }
    // The item's own price precedes the prices of its parts.
    if let own = asked.first, !own.evidence.place.isMany, !own.evidence.isPartial {
      asked.removeAll { part in
        part.evidence.place.isMany
          && (own.isPlain || part.evidence.place.steps.last == own.evidence.place.steps.last)
      }
    }
    var reduced = offered.first { score in
      score.meaning == .reduced
        && asked.first.map { $0.evidence.place.isMany == score.evidence.place.isMany } ?? true
    }
    if let reduced, let first = asked.first, !first.isPlain,
      let sibling = asked.firstIndex(where: {
        $0.isSibling(of: reduced) && $0.isRival(of: first)
      })
    {
      asked.insert(asked.remove(at: sibling), at: 0)
    }
    let list = order(&asked, &reduced)
    if let reduced {
      let full = fallback(of: reduced, asked)
      salePrice =
        full.map { Self.ordered(reduced, below: $0) }
        ?? [
          reduced.evidence.isPartial && PriceMeaning.isReducedItself(reduced.evidence.place)
            || reduced.isRare ? reduced.doubtful : reduced
        ]
      chooseNormalPrice(list ?? full ?? asked.first)
    } else if let price = asked.first {
      salePrice = [price]
      // Items without the chosen price can have a price before a reduction. That price is then the price to pay.
      if let other = former.first, price.evidence.isPartial, !other.isCalled("advised"),
        other.evidence.fills(price.evidence)
      {
        salePrice.append(other)
      } else if price.isRare {
        salePrice = [price.doubtful]
      }
      chooseNormalPrice(list)
    } else {
      chooseOnlyPrice(others)
    }
  }

  /// Compares the likeliest price with its rivals by their amounts.
  ///
  /// - Parameters:
  ///   - asked: The candidates that are not called reduced. The price to pay becomes the first. It is marked as
  ///     doubtful if the amounts do not explain why a rival differs.
  ///   - reduced: The reduced price. If it is nil, it becomes the rival that only some items have, and that is never
  ///     the higher one.
  /// - Returns: The rival that is never the lower one.
  private func order(_ asked: inout [FieldScore], _ reduced: inout FieldScore?) -> FieldScore? {
    guard let first = asked.first else { return nil }
    var (best, list) = (first, FieldScore?.none)
    var isDoubtful = false
    for rival in asked.dropFirst() where rival.isRival(of: first) && !rival.isSame(as: best) {
      let amounts = best.amounts(with: rival)
      let isOnlySome =
        rival.evidence.isPartial && !best.evidence.isPartial && rival.isSibling(of: best)
      // If two prices are never equal, the rival can be another price, for example one with the delivery.
      let isOrdered = isOnlySome || amounts.contains { $0 == $1 }
      let limit = isOnlySome ? 4.0 : 50
      if isOnlySome, rival.isNever(above: best, by: limit) {
        reduced = reduced ?? rival
      } else if isOrdered, best.isKnown, best.isNever(above: rival, by: limit) {
        list = list ?? (rival.isKnown ? rival : rival.doubtful)
      } else if isOrdered, rival.isKnown, rival.isNever(above: best, by: limit),
        !rival.evidence.isPartial
      {
        (list, best) = (best, rival)
      } else if ![list, reduced].contains(where: { $0?.isSame(as: rival) == true }) {
        isDoubtful = true
      }
    }
    asked.removeAll { $0.evidence.place == best.evidence.place }
    asked.insert(isDoubtful ? best.doubtful : best, at: 0)
    list?.isFormer = true
    return list
  }

  /// The price to pay of items without the reduced price: a price of the same object, or one that is only called price.
  private func fallback(of reduced: FieldScore, _ asked: [FieldScore]) -> FieldScore? {
    if let first = asked.first, first.isSibling(of: reduced) { return first }
    if let plain = asked.first(where: \.isPlain) { return plain }
    let steps = reduced.evidence.place.steps
    if let first = asked.first, !first.isCalled("advised"), reduced.isNever(above: first, by: 50),
      first.evidence.place.steps.first == steps.first,
      first.evidence.place.steps.last == steps.last
    {
      return first
    }
    return former.first { score in
      reduced.evidence.isPartial && score.isSibling(of: reduced) && !score.isCalled("advised")
        && score.evidence.fills(reduced.evidence)
    }
  }

  /// Chooses the price before a reduction: a path that is called so, or else the other price.
  private mutating func chooseNormalPrice(_ other: FieldScore?) {
    guard let sale = salePrice.first else { return }
    let candidates = former.isEmpty ? [other].compactMap(\.self) : former
    // Amounts that are a hundred times as large are in cents.
    let fitting = candidates.filter { score in
      let amounts = sale.amounts(with: score)
      return amounts.count { $0 <= $1 && $1 <= $0 * 50 } * 10 >= amounts.count * 9
    }
    guard
      var normal = fitting.first(where: { !$0.isSame(as: sale) })
        ?? (fitting.first ?? candidates.first)?.doubtful
    else { return }
    // If the file has the price to pay only in a comment, the price before a reduction becomes a comment too.
    if !sale.isSure || Self.ordered(sale, below: normal)[0].isSure != sale.isSure {
      normal = normal.doubtful
    }
    normalPrice = [normal]
  }

  /// Chooses the price to pay if no path means a price to pay.
  ///
  /// A price before a reduction can be the only price. Otherwise, any number can be the price to pay.
  private mutating func chooseOnlyPrice(_ others: [FieldEvidence]) {
    if former.count == 1, former[0].isCalled("listed") {
      former[0].confidence = 0.7
      salePrice = former
      return
    }
    if former.isEmpty {
      let possible = others.filter { other in
        let name = NameWords.plain(other.place.name)
        let isCalled =
          FieldRules.has("former", "reduced", in: name)
          || ["amount", "value", "total", "money"].contains(name)
        return other.place.steps.count <= 3 && other.share > 0.5 && !other.place.isMany
          && (isCalled || other.share(PriceText.hasDecimals) > 0.5)
      }
      offered = possible.map { FieldScore(evidence: $0, confidence: FieldScore.floor) }
    }
    salePrice = (former.isEmpty ? offered : former).prefix(1).map(\.doubtful)
  }

  /// Marks the price to pay as doubtful if the items have another amount that can be it, and that nothing explains.
  ///
  /// The amounts are like the prices, item by item. Those that are never below the price are explained, as list prices,
  /// if their name says so or if some are equal to the price.
  ///
  /// - Parameter others: Amounts whose names do not say that they are prices.
  private mutating func compareUnexplained(_ others: [FieldEvidence]) {
    guard let sale = salePrice.first, sale.confidence > FieldScore.floor else { return }
    let known = Set((offered + former).map(\.evidence.place))
    for other in others where !known.contains(other.place) {
      let rival = FieldScore(evidence: other, confidence: 0.5)
      let name = NameWords.plain(other.place.name)
      let (isFormer, isReduced) = (
        FieldRules.has("former", in: name), FieldRules.has("reduced", in: name)
      )
      guard rival.isLike(sale), isFormer || isReduced || other.share > 0.9 else { continue }
      let isEqual = sale.isKnown && sale.amounts(with: rival).contains { $0 == $1 }
      if isFormer || isEqual, sale.isNever(above: rival, by: 4) {
        former.append(rival)
        if normalPrice.isEmpty { normalPrice = [rival] }
      } else if isReduced, rival.isNever(above: sale, by: 4), other.isPartial {
        salePrice = [rival] + salePrice.map(\.doubtful)
      } else {
        offered.append(rival)
        salePrice = salePrice.map(\.doubtful)
      }
    }
    if !salePrice[0].isSure { normalPrice = normalPrice.map(\.doubtful) }
  }

  /// Two prices, both marked as doubtful unless the first is the lower one in nearly all items.
  private static func ordered(_ low: FieldScore, below high: FieldScore) -> [FieldScore] {
    let share = low.evidence.share(with: high.evidence) { low, high in
      guard let low = PriceText.number(low), let high = PriceText.number(high) else { return true }
      return low <= high || high == 0
    }
    return share < 0.9 ? [low.doubtful, high.doubtful] : [low, high]
  }
}

extension FieldEvidence {
  /// Whether some item has no value; an amount that was removed by ``dropZeros()`` does not count.
  var isPartial: Bool { firsts.count { $0 != nil } < total }

  /// Whether the values can be amounts of money, and no name on the path says that they are something else.
  var isMoney: Bool {
    let isOther = place.names.map(NameWords.plain).contains {
      FieldRules.has("never", "measure", "person", "other", "counter", in: $0)
    }
    return place.steps.count <= 5 && !isOther && !place.isChosen && !FieldRules.isID(place.name)
      && PriceMeaning.of(place) == nil && amountShare == 1 && share(PriceText.isCode) == 0
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
}

extension FieldScore {
  /// The highest confidence of a doubtful choice.
  static let doubt = 0.6

  /// The same score, marked as doubtful: the proposed file has the field only in a comment.
  var doubtful: FieldScore {
    var score = self
    score.confidence = min(confidence, Self.doubt)
    return score
  }

  var meaning: PriceMeaning { PriceMeaning.of(evidence.place)?.meaning ?? .asked }

  /// The amounts that mean that an item has no such price: negative ones, and 0 for reduced and former prices.
  var voids: [Int] {
    let isVoid: (Double) -> Bool = { [isPaid = !isFormer && meaning == .asked] in
      $0 < 0 || $0 == 0 && !isPaid
    }
    return Set(evidence.samples.compactMap(PriceText.number).filter(isVoid)).compactMap(
      Int.init(exactly:)
    ).sorted()
  }

  /// The share of amounts that are 0 or negative.
  fileprivate var zeros: Double { evidence.share { (PriceText.number($0) ?? 1) <= 0 } }

  /// The different amounts of the items.
  fileprivate var amounts: Set<String> { Set(evidence.firsts.compactMap(\.self)) }

  /// Whether a name on the path, or one of its words, has the meaning.
  fileprivate func isCalled(_ meaning: String) -> Bool {
    evidence.place.names.contains { FieldRules.has(meaning, in: PriceMeaning.plain($0)) }
  }

  /// The names on the path, without some of their words.
  fileprivate func names(without isDropped: (String) -> Bool) -> [String] {
    evidence.place.names.map { name in
      PriceMeaning.plain(name).split(separator: " ").map(String.init)
        .filter { !isDropped($0) }.joined(separator: " ")
    }
  }

  /// Whether the path is a name of the item that means a price and nothing else, such as `$.price`.
  fileprivate var isPlain: Bool {
    evidence.place.steps.count == 1
      && PriceMeaning.plain(evidence.place.name).split(separator: " ")
        .allSatisfy { FieldRules.confidence("price", String($0)) >= 0.95 }
  }

  /// Whether most items have no such price.
  fileprivate var isRare: Bool { evidence.firsts.count { $0 != nil } * 2 < evidence.total }

  /// Whether no word of the last name is unknown, such as that in `app_price`, which not all customers pay.
  fileprivate var isKnown: Bool {
    PriceMeaning.plain(evidence.place.name).split(separator: " ").allSatisfy { word in
      ["price", "amount", "reduced", "wrapper"].contains { FieldRules.isNamed($0, String(word)) }
    }
  }

  /// Whether two paths differ in one step, as `$.sale.amount` and `$.full.amount` do.
  fileprivate func isSibling(of other: FieldScore) -> Bool {
    let (steps, others) = (evidence.place.steps, other.evidence.place.steps)
    return steps.count == others.count && zip(steps, others).count { $0 != $1 } == 1
  }

  /// Whether the path is nearly as likely as a likelier one.
  fileprivate func isRival(of best: FieldScore) -> Bool {
    confidence > best.confidence - 0.08
  }

  /// The amounts of items that have both prices, without amounts of 0.
  fileprivate func amounts(with other: FieldScore) -> [(Double, Double)] {
    evidence.pairs(with: other.evidence).compactMap { one, other in
      guard let one = PriceText.number(one), let other = PriceText.number(other) else {
        return nil
      }
      return one <= 0 || other <= 0 ? nil : (one, other)
    }
  }

  /// Whether the amounts are written as those of a price, and differ by a factor of at most 4 from it in each item.
  fileprivate func isLike(_ price: FieldScore) -> Bool {
    let amounts = amounts(with: price)
    let isWritten = [self, price].map { $0.evidence.share(PriceText.hasDecimals) > 0.5 }
    return isWritten[0] == isWritten[1] && (!evidence.place.isMany || price.evidence.place.isMany)
      && (self.amounts.count > 1 || price.amounts.count == 1) && amounts.count > 1
      && amounts.allSatisfy { $0 <= 4 * $1 && $1 <= 4 * $0 } && !isSame(as: price)
      // The whole part of a price is no other price.
      && amounts.contains { $0.rounded(.down) != $1.rounded(.down) }
  }

  /// Whether two paths have equal amounts in nearly all items, perhaps in another notation or in cents.
  fileprivate func isSame(as other: FieldScore) -> Bool {
    let share = evidence.share(with: other.evidence) {
      PriceText.digits($0) == PriceText.digits($1)
        || PriceText.number($0) == PriceText.number($1)
    }
    let amounts = amounts(with: other)
    return share >= 0.9
      || areCents != other.areCents && !amounts.isEmpty
        && amounts.allSatisfy { one, other in
          abs(areCents ? one - other * 100 : other - one * 100) < 0.6
        }
  }

  private var areCents: Bool {
    evidence.place.names.suffix(2).contains { FieldRules.has("cents", in: NameWords.plain($0)) }
  }

  /// Whether no amount is above the other price of the item, which is at most a number of times as high.
  fileprivate func isNever(above other: FieldScore, by limit: Double) -> Bool {
    let amounts = amounts(with: other)
    return !amounts.isEmpty && amounts.allSatisfy { $0 <= $1 && $1 <= $0 * limit }
  }
}
