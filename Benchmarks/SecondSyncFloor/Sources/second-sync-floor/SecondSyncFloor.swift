import ArgumentParser
import CFetch
import Foundation
import GRDB

/// The least work of a second sync, done with the same libraries as larder.
///
/// It reads its arguments, opens the index, reads the state of every picture, requests each section, and prints its
/// counts. It writes nothing, decodes no section, and reads no picture file.
@main
struct SecondSyncFloor: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "second-sync-floor")

  @Option(help: "The cache that a first sync filled.") var cache: String
  @Argument(help: "The URLs of the sections.") var sections: [String]

  func run() throws {
    var configuration = Configuration()
    configuration.readonly = true
    let index = try DatabaseQueue(path: "\(cache)/index.sqlite", configuration: configuration)
    let now = Int64(Date().timeIntervalSince1970)
    let (held, fresh) = try index.read { db in
      let rows = try Row.fetchCursor(db, sql: "SELECT id, expiry, checked, content FROM picture")
      var (held, fresh) = (0, 0)
      while let row = try rows.next() {
        let (expiry, content) = (row[1] as Int64, row[3] as Int64?)
        held += content == nil ? 0 : 1
        fresh += expiry > now ? 1 : 0
      }
      return (held, fresh)
    }
    let urls = sections.map { UnsafePointer(strdup($0)) }
    let bytes = cfetch(urls, CInt(urls.count))
    guard bytes >= 0 else { throw ValidationError("a section cannot be fetched") }
    print("\(held) held, \(fresh) fresh, \(bytes) bytes of sections")
  }
}
