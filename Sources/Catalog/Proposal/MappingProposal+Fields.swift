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
      guard let place = thumbnail?.evidence.place, place.steps.count > 1 else { return [] }
      return (rankings[.thumbnail] ?? []).filter { other in
        other.evidence.place != place
          && other.evidence.place.steps.dropLast() == place.steps.dropLast()
          && FieldVocabulary.largestNames.contains(NameWords.plain(other.evidence.place.name))
      }
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
