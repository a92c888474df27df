import Base
import Cache
import Catalog
import Pipeline
import Synchronization

/// All sections and items of a catalog in memory, as one run of `sync` has left them.
///
/// The pages of the store search and count these items.
struct StorefrontSections: Sendable {
  /// A section with its items.
  struct Shelf: Sendable {
    let section: RunSection
    /// The section's title, or its key if it has no title.
    let title: String
    /// The line below the section's title; empty if there is none.
    let subtitle: String
    /// The section's items, in the shop's order.
    let items: [StoreItem]
    /// The `lang` attribute of the section's texts, with a space before it: ` lang="ko"`.
    ///
    /// It is empty if the language is unknown.
    let speech: String

    init(_ section: RunSection, _ items: [StoreItem]) {
      self.section = section
      self.items = items
      (title, subtitle, speech) = section.heading(over: items.lazy.map(\.title))
    }
  }

  /// Identifies a run of `sync` by its number, its end and its catalog.
  ///
  /// The number alone is not enough, because a rebuilt cache counts from 1 again.
  typealias Name = (run: RunID, finished: UnixTime?, catalog: CatalogID)

  /// The run that has fetched these sections.
  let name: Name
  /// The sections in the order of the catalog file.
  let all: [Shelf]
  /// The `lang` attribute of the texts of the whole catalog, such as ` lang="ko"`.
  let speech: String

  init(_ name: Name, _ all: [Shelf]) {
    (self.name, self.all) = (name, all)
    speech = ReportShelf.speech(
      PageLanguage.spoken(in: all.flatMap { $0.items.prefix(60).map(\.title) })
    )
  }

  /// The section with a key; nil if there is none.
  func shelf(_ key: String) -> Shelf? { all.first { $0.section.key == key } }

  /// Every item once, even if several sections list it, with the first of these sections.
  var everything: [(item: StoreItem, section: RunSection)] {
    var seen: Set<ExactText> = []
    return all.flatMap { shelf in
      shelf.items.filter { seen.insert($0.id.exact).inserted }.map { ($0, shelf.section) }
    }
  }
}

/// Keeps the sections of the last run in memory until a new run has ended.
final class StorefrontSectionCache: Sendable {
  private let held = Mutex<StorefrontSections?>(nil)

  /// The sections of the catalog's last run.
  ///
  /// - Throws: ``LarderError`` when the cache cannot be read, or when no run has ended yet.
  func sections(_ reader: CatalogReader) throws(LarderError) -> StorefrontSections {
    let run = try reader.lastRun()
    let name = (run: run.id, finished: run.finished, catalog: reader.catalog.id)
    if let held = held.withLock({ $0 }), held.name == name { return held }
    // Read without the lock. Two concurrent requests may both read, but neither waits for the other.
    var all: [StorefrontSections.Shelf] = []
    for section in try reader.sections() {
      all.append(StorefrontSections.Shelf(section, try reader.storeItems(in: section)))
    }
    let made = StorefrontSections(name, all)
    held.withLock { $0 = made }
    return made
  }
}
