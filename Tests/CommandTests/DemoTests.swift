import Foundation
import Glibc
import Support
import Testing

/// `larder demo`, which runs larder's main commands on a sample shop on this machine.
@Suite struct DemoTests {
  @Test
  func `the demo shows the main commands, ends by itself, and can run again in the same cache`()
    throws
  {
    let folder = try TemporaryFolder()
    let arguments = ["demo", "--samples", Command.samples, "--cache", folder.path("cache")]

    let first = try Command.larder(arguments)
    let second = try Command.larder(arguments)

    for demo in [first, second] {
      #expect(demo.status == 0)
      #expect(demo.output.contains("banchan: complete"))
      #expect(
        demo.output.contains(
          #/changed    [^\n]+: 10,800원 → 5,900원\n {11}the price fell to 5,900원, the lowest in 30 days\n/#
        )
      )
      #expect(demo.output.contains(#/removed    \p{Hangul}/#))
      #expect(
        demo.output.contains(
          #/cropped    3 pictures to 256 × 256 in [^\n]+\nstamped    3 pictures/#
        )
      )
      #expect(demo.output.contains("\n7. ") && !demo.output.contains("\n8. "))
      #expect(demo.output.contains(#/received   [^{\n]*지연|received   [^{\n]*Jiyeon/#))
      #expect(demo.output.contains("checked: clean"))
      #expect(demo.output.contains("report.html: 32 items"))
      #expect(demo.output.contains("Jiyeon – 11,800원") && demo.output.contains("delivered"))
    }
    for made in ["squares", "stamped"] {
      let names = try FileManager.default.contentsOfDirectory(
        atPath: folder.path("cache/demo/\(made)")
      )
      #expect(names.count == 3)
    }
    #expect(first.output.contains("94 fetched"))
    #expect(!second.output.contains(" fetched, 6") && second.output.contains("94 fresh"))
  }

  @Test func `the demo does not run in a cache with the user's catalogs`() throws {
    let shop = try Shop()
    #expect(try shop.sync("--no-details").status == 0)

    let demo = try Command.larder(
      ["demo", "--samples", Command.samples],
      environment: ["LARDER_CACHE": shop.cache]
    )

    #expect(demo.status == 64)
    #expect(demo.errors.contains("it holds the catalog banchan; choose a folder of its own"))
    #expect(try shop.larder("status").output.contains("run 1 "))
  }

  @Test func `the demo of an installed larder works anywhere and leaves only its cache`()
    throws
  {
    let folder = try TemporaryFolder()
    let line = """
      set -e
      cd "$folder"
      mkdir -p tmp there prefix/bin prefix/share/larder
      ln "$larder" prefix/bin/larder 2>/dev/null || cp "$larder" prefix/bin/larder
      ln -s "$samples" prefix/share/larder/samples
      ln -s ../prefix/bin/larder there/larder
      cd there
      TMPDIR="$folder/tmp" ./larder demo --cache cache
      ls . ../tmp
      """

    let demo = try Command.shell(
      line,
      environment: ["folder": folder.path, "samples": Command.samples]
    )

    #expect(demo.status == 0 && demo.errors == "")
    #expect(demo.output.contains("94 fetched") && demo.output.contains("checked: clean"))
    #expect(demo.output.hasSuffix("\n.:\ncache\nlarder\n\n../tmp:\n"))
  }

  @Test func `a binary without a sample store lists the places it searched`() throws {
    let folder = try TemporaryFolder()
    let program = "\(folder.path)/bin/larder"

    let demo = try Command.shell(
      #"mkdir "$folder/bin"; ln "$larder" "$program" 2>/dev/null || cp "$larder" "$program"; "$program" demo"#,
      environment: ["folder": folder.path, "program": program]
    )

    #expect(demo.status == 64)
    #expect(demo.errors.contains("cannot find the sample store: "))
    #expect(
      demo.errors.contains(
        "there is no \(folder.path)/share/larder/samples, and no folder samples"
      )
    )
    #expect(demo.errors.contains("above \(program); give its folder with --samples"))
  }

  @Test func `the demo store serves until a signal, and a sync can use it`() throws {
    let folder = try TemporaryFolder()
    let sync = try Command.shell(
      """
      exec 3< <(exec "$larder" demo --serve --port 0 --samples '\(Command.samples)')
      store=$!
      read -r base <&3
      "$larder" sync '\(Command.samples)/catalog.yaml' --base "$base" --quiet \
        --cache '\(folder.path("cache"))'
      echo $?
      kill "$store"
      wait "$store"
      echo $?
      """
    )

    #expect(sync.lines == ["0", "143"] || sync.lines == ["0", "0"])
    #expect(sync.errors == "")
  }

  @Test func `the file descriptor table is enlarged before any thread starts`()
    throws
  {
    let served = try Command.shell(
      """
      exec 3< <(exec "$larder" demo --serve --port 0 --samples '\(Command.samples)')
      store=$!
      read -r base <&3
      awk '$1 == "FDSize:" { print $2 }' "/proc/$store/status"
      kill "$store"
      """
    )

    // As many descriptors as this machine's limit allows, up to a thousand.
    let room = try #require(served.lines.first.flatMap { Int($0) })
    #expect(room >= min(Int(sysconf(Int32(_SC_OPEN_MAX))), 1024))
  }
}
