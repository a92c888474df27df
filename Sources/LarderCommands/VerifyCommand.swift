import ArgumentParser
import Cache
import FoundationEssentials
import Glibc
import Larder

/// `larder verify`: checks what is held.
struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check every picture in the cache against what was fetched.",
    discussion: """
      Example:  larder verify && echo clean
                larder verify --repair && larder sync shop.yaml

      Exit statuses: 0 clean, 1 there is no cache, 64 usage, 74 not clean, 75 a run holds the
      cache and --repair was given.
      """
  )

  @Flag(help: "Forget what is damaged, adopt or remove strays; the next sync fetches the rest.")
  var repair = false

  @Flag(help: "Look at sizes only, not at every byte.")
  var fast = false

  @Flag(help: "Read every byte (the default).")
  var full = false

  @OptionGroup var cache: CacheOptions
  @OptionGroup var output: OutputOptions

  mutating func validate() throws {
    if fast && full { throw ValidationError("--fast and --full exclude each other") }
  }

  func run() throws {
    let check = try CacheCheck(
      cache.path,
      holder: repair ? "larder verify, process \(getpid())" : nil
    )
    let report = try check.run(fast ? .fast : .full)
    if repair, !report.isClean { try check.repair(report) }
    if output.json {
      Output.json(try VerifyDocument(report).json())
    } else if !output.quiet || !report.isClean {
      Output.data(VerifyDocument(report).text(repaired: repair))
    }
    Output.end(report.isClean ? .done : .io)
  }
}
