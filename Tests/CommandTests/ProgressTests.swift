import Foundation
import SampleStore
import Support
import Testing

/// The progress of long commands on a terminal, and their message when they are stopped.
@Suite struct ProgressTests {
  private static let photo = "\(Command.samples)/photo/wakeup-12mp.jpg"

  /// The successive contents of the one progress line.
  private static func drawn(_ command: Command) -> [Substring] {
    command.errors.split(separator: "\r").compactMap { part in
      part.firstRange(of: "\u{1B}[K").map { part[..<$0.lowerBound] }
    }.filter { !$0.isEmpty }
  }

  @Test(arguments: [80, 60, 40] as [UInt16])
  func `maintenance commands show their progress in a line that fits`(_ columns: UInt16)
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let folder = try TemporaryFolder()
    let work: [(words: [String], last: String)] = [
      (["verify", "--cache", shop.cache], "verify 5/5 pictures"),
      (["export", folder.path("out"), "--cache", shop.cache], "export 5/5 pictures"),
      (["gc", "--forget", "banchan", "--grace", "0s", "--cache", shop.cache], "gc 5/5 files"),
    ]

    for (words, last) in work {
      let command = try Command.larder(words, terminal: .errors, columns: columns)

      #expect(command.status == 0, "\(words)")
      let lines = Self.drawn(command)
      #expect(lines.last?.contains(last) == true, "\(words): \(lines)")
      #expect(lines.allSatisfy { $0.count < columns }, "\(words): \(lines)")
      if columns > 40 { #expect(lines.last?.hasPrefix("[####################] ") == true) }
      #expect(command.errors.hasSuffix("\r\u{1B}[K"))
    }
  }

  @Test func `a batch shows its progress on a terminal, and counts failures anywhere`() throws {
    let folder = try TemporaryFolder()
    for name in ["a", "b"] {
      try FileManager.default.copyItem(atPath: Self.photo, toPath: folder.path("\(name).jpg"))
    }
    _ = try folder.write("no picture", to: "c.jpg")
    let words = ["a.jpg", "b.jpg", "c.jpg"].map { folder.path($0) } + ["--out"]

    let shown = try Command.larder(["crop"] + words + [folder.path("1")], terminal: .errors)
    let piped = try Command.larder(["crop"] + words + [folder.path("2")])

    #expect(Self.drawn(shown).last?.contains("crop 3/3 pictures  1 failed") == true)
    #expect(shown.errors.contains(#/\r\u{1B}\[K2 pictures made, 1 unreadable, in \d/#))
    #expect(shown.status == 3 && piped.status == 3)
    #expect(piped.errors.hasSuffix("\n2 pictures made, 1 unreadable\n"))
    #expect(!piped.errors.contains("\u{1B}"))
  }

  @Test func `a stopped batch of pictures says how many are not made`() throws {
    let folder = try TemporaryFolder()
    for number in 1...40 {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path("\(number).jpg"),
        withDestinationPath: Self.photo
      )
    }
    let line = """
      mkfifo lines; "$larder" crop "$folder"/*.jpg --out squares --size 512 >lines & crop=$!
      exec 3<lines; read -r first <&3; kill -TERM $crop; cat <&3 >/dev/null; wait $crop; echo $?
      """

    let command = try Command.shell(line, environment: ["folder": folder.path])

    #expect(command.output == "143\n")
    #expect(command.errors.contains(#/larder: interrupted: \d+ pictures of 40 not made/#))
  }
}
