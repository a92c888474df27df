import Base
import Support

@testable import Cache
@testable import Catalog
@testable import Pipeline
@testable import Web

/// Handmade values for a report.
enum ReportFixture {
  static let now: UnixTime = 1_700_000_000
  static let clock = PageClock(now: now)
  static let advice: ReportAdvice = { _ in "raise the limit" }

  static func item(
    _ id: String,
    title: String = "Soup",
    section: String = "a",
    normal: Int? = nil,
    sale: Int? = 500,
    badges: [String] = [],
    images: [ShownPicture] = []
  ) -> ShownItem {
    ShownItem(
      item: StoreItem(
        id: id,
        title: title,
        badges: badges,
        normalPrice: normal.map { Price(minorUnits: $0, currency: "USD") },
        salePrice: sale.map { Price(minorUnits: $0, currency: "USD") }
      ),
      sections: [section],
      isStale: false,
      pictures: images
    )
  }

  static func image(
    _ name: String,
    _ role: ImageReference.Role = .thumbnail,
    bytes: Int64 = 10
  ) -> ShownPicture {
    ShownPicture(
      role: role,
      url: "https://a.example/\(name)",
      path: "images/\(name)",
      sha256: String(repeating: "a", count: 63) + name.prefix(1),
      bytes: bytes,
      type: "image/jpeg",
      state: .held
    )
  }

  static func run(_ id: Int64, daysAgo: Int64 = 0, _ outcome: String?) -> RunEntry {
    RunEntry(
      id: RunID(rawValue: id),
      started: now + -daysAgo * 86_400,
      finished: outcome == nil ? nil : now + -daysAgo * 86_400,
      outcome: outcome,
      report: nil
    )
  }

  static func data(
    _ items: [ShownItem],
    report: SyncReport = SyncReport(catalog: "shop")
  ) -> ReportData {
    ReportData(
      last: 2,
      previous: 1,
      catalog: "shop",
      currency: "USD",
      sections: ["a", "b"].map {
        RunSection(key: $0, title: "Section \($0)", subtitle: nil, listing: nil, source: "network")
      },
      items: items,
      runs: [ReportData.Run(time: run(2, "complete"), report: report)]
    )
  }

  static func page(
    _ data: ReportData,
    _ language: PageLanguage = .english,
    _ book: PictureBook = PictureBook(.inline)
  ) throws -> String {
    try ReportPage(data: data, language: language, clock: clock, advice: advice).html(book)
  }
}
