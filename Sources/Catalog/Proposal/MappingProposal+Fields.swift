extension MappingProposal {
  /// The fields of items at one place.
  struct ItemFields {
    let evidence: [FieldEvidence]
    var rankings: [FieldVocabulary.Field: [FieldScore]] = [:]
    var salePrice: [FieldScore]?
    var normalPrice: [FieldScore]?

    init(_ evidence: [FieldEvidence]) {
      self.evidence = evidence
      var taken: Set<FieldPlace> = []
      for field in [
        FieldVocabulary.Field.title, .id, .salePrice, .normalPrice, .description, .badges,
        .deliveryTypes, .latitude, .longitude, .address,
      ] {
        let ranking = FieldScore.ranking(field, evidence).filter {
          !taken.contains($0.evidence.place)
        }
        guard let first = ranking.first else { continue }
        taken.insert(first.evidence.place)
        rankings[field] = ranking
      }
      for field in [FieldVocabulary.Field.thumbnail, .gallery] {
        let ranking = FieldScore.ranking(field, evidence)
        if !ranking.isEmpty { rankings[field] = ranking }
      }
      rankings[.gallery] = rankings[.gallery].map(Self.largestFirst)
      if rankings[.latitude] == nil || rankings[.longitude] == nil {
        rankings[.latitude] = nil
        rankings[.longitude] = nil
      }
      choosePrices()
    }

    /// What a shop asks where it names one price alone is the price to pay; one that some items lack has another
    /// behind it.
    private mutating func choosePrices() {
      let ranking = rankings[.salePrice] ?? []
      let normal = rankings[.normalPrice]?.first
      guard let sale = ranking.first else {
        salePrice = normal.map { [$0] }
        return
      }
      normalPrice = normal.map { [$0] }
      // Where some items have a reduced price beside the usual one, that comes first.
      let usual = ranking.first { !Self.isReduced($0) && $0.confidence >= 0.5 }
      let reduced = ranking.first { score in
        Self.isReduced(score) && score.evidence.place.isMany == usual?.evidence.place.isMany
          // Zero says that there is none, which a list of alternatives cannot tell from a price.
          && score.evidence.share { Double($0) == 0 } == 0
      }
      if let usual, let reduced {
        salePrice = [reduced, usual]
        if normal == nil { normalPrice = [usual] }
        return
      }
      let first = reduced == nil ? usual ?? sale : sale
      let other = normal.flatMap { $0.evidence.share > first.evidence.share ? $0 : nil }
      salePrice = [first] + (first.evidence.share < 1 ? [other].compactMap(\.self) : [])
    }

    /// Whether a price is called as one that only reduced items have.
    private static func isReduced(_ score: FieldScore) -> Bool {
      FieldVocabulary.reducedNames.contains(NameWords.plain(score.evidence.place.name))
    }

    /// The same picture as one, in its largest size; none where there is but one size.
    func largest(beside thumbnail: FieldScore?) -> [FieldScore] {
      guard let place = thumbnail?.evidence.place else { return [] }
      return (rankings[.thumbnail] ?? []).filter { other in
        if let step = Self.difference(place, other.evidence.place) {
          return FieldVocabulary.largestNames.contains(
            NameWords.plain(other.evidence.place.steps[step].name)
          )
        }
        // {"thumbnailImage": …, "largeImage": …}
        return place.steps.count == 1 && other.evidence.place.steps.count == 1
          && other.evidence.place != place
          && !FieldVocabulary.largestNames.isDisjoint(
            with: NameWords.words(of: other.evidence.place.name)
          )
      }
    }

    /// The pictures of an object that numbers them, `{"1": …, "2": …}`, of which one is the thumbnail.
    func numbered(beside thumbnail: FieldScore?) -> [FieldScore] {
      guard let thumbnail else { return [] }
      let place = thumbnail.evidence.place
      for other in rankings[.thumbnail] ?? [] {
        guard let step = Self.difference(place, other.evidence.place),
          [place, other.evidence.place].allSatisfy({ Int($0.steps[step].name) != nil })
        else { continue }
        var every = place
        every.steps[step] = FieldPlace.Step(name: FieldPlace.everyElement)
        return [
          FieldScore(
            evidence: thumbnail.evidence.at(every),
            confidence: thumbnail.confidence
          )
        ]
      }
      return []
    }

    /// The one name in which two places differ, by its position below the item; nil when they are farther apart.
    private static func difference(_ one: FieldPlace, _ other: FieldPlace) -> Int? {
      guard one.steps.count == other.steps.count, one.steps.count > 1 else { return nil }
      let apart = one.steps.indices.filter { one.steps[$0] != other.steps[$0] }
      guard apart.count == 1, apart[0] > 0, !one.steps[apart[0]].isList else { return nil }
      return apart[0]
    }

    /// A ranking in which the largest of the sizes of one picture comes before the others.
    private static func largestFirst(_ ranking: [FieldScore]) -> [FieldScore] {
      guard let first = ranking.first else { return ranking }
      let place = first.evidence.place
      let sizes = ranking.filter { other in
        other.confidence == first.confidence
          && other.evidence.place.steps.count == place.steps.count
          && other.evidence.place.steps.dropLast() == place.steps.dropLast()
      }
      let largest = sizes.max {
        FieldVocabulary.pictureSize($0.evidence.place.name)
          < FieldVocabulary.pictureSize($1.evidence.place.name)
      }
      guard let largest, largest.evidence.place != place else { return ranking }
      return [largest] + ranking.filter { $0.evidence.place != largest.evidence.place }
    }

    /// Whether items could be read at all.
    func isUsable(in place: ItemPlace) -> Bool {
      guard rankings[.title] != nil else { return false }
      if case .itemsByID = place.shape { return true }
      return rankings[.id] != nil
    }

    /// How much like items it all looks.
    var confidence: Double {
      func part(_ field: FieldVocabulary.Field) -> Double {
        guard let score = rankings[field]?.first else { return 0 }
        return score.confidence * (score.evidence.place.isBorrowed ? 0.5 : 1)
      }
      return 0.25 * part(.id) + 0.3 * part(.title)
        + 0.25 * max(part(.salePrice), part(.normalPrice))
        + 0.2 * max(part(.thumbnail), part(.gallery))
    }
  }
}
