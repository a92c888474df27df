import ArgumentParser
import Imaging
import Web

/// Where a server listens, and how much anybody may have of it.
struct ServerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The address to listen on; any but a loopback address lets others in.",
      valueName: "address"
    )
  )
  var bind = "127.0.0.1"

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The port; 0 takes a free one.", valueName: "n"),
    transform: WholeNumber.reader(0...65_535)
  )
  var port = 8080

  @Option(
    help: ArgumentHelp(
      "A name of this server, as a proxy or DNS has it; others are refused. May be repeated.",
      valueName: "name"
    )
  )
  var host: [String] = []

  @Option(
    help: ArgumentHelp(
      "The sizes in which squares can be had, in pixels; none for none.",
      valueName: "n,…"
    ),
    transform: SquareSizes.read
  )
  var squares = SquareSizes(sides: [128, 256, 512])

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Requests that one address may make. (default: 200/s, no limit on loopback)",
      valueName: "n/s"
    ),
    transform: RateArgument.read
  )
  var rate: RateArgument?

  mutating func validate() throws {
    for name in host where name.isEmpty || name.contains(where: { " /:*".contains($0) }) {
      throw ValidationError("--host takes a bare name such as shop.example, not \"\(name)\"")
    }
  }

  /// How much a client may have.
  var limits: ServerLimits {
    var limits = ServerLimits()
    limits.perAnyClient = rate?.perSecond
    return limits
  }
}

/// Sizes of squares on the command line: `128,256,512`.
struct SquareSizes: Sendable, CustomStringConvertible {
  let sides: [Int]

  var description: String {
    sides.isEmpty ? "none" : sides.map(String.init).joined(separator: ",")
  }

  /// Reads the option's value.
  ///
  /// - Throws: `ValidationError` that names what may be written.
  static func read(_ argument: String) throws -> SquareSizes {
    if argument == "none" { return SquareSizes(sides: []) }
    let sides = argument.split(separator: ",", omittingEmptySubsequences: false)
      .map { WholeNumber.read(String($0), in: 1...4096) }
    guard sides.count <= 8, sides.allSatisfy({ $0 != nil }) else {
      throw ValidationError("it takes none, or up to 8 numbers from 1 to 4096 with commas between")
    }
    return SquareSizes(sides: Set(sides.compactMap(\.self)).sorted())
  }
}
