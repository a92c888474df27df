import Foundation
import Support
import Testing

/// `larder bench`, which measures how fast pictures are fetched, as used from a shell.
@Suite struct BenchTests {
  private static let quantiles = ["p50", "p90", "p99", "p999", "max"]

  @Test func `bench prints every documented run and does not touch the user's cache`() throws {
    let shop = try Shop()
    let bench = try Command.larder(
      ["bench", shop.catalog, "--parallel", "2,4", "--runs", "1", "--json"],
      environment: ["LARDER_CACHE": shop.cache]
    )
    let report = try Document(bench)

    #expect(bench.status == 0)
    #expect(bench.errors == "")
    #expect(report["runs"].count == 6)
    for (number, pass) in ["cold", "warm", "revalidate"].enumerated() {
      let run = report["runs"][number]
      #expect(run["parallel"].int == 2)
      #expect(run["pass"].string == pass)
      #expect(run["images"].int == 5)
      #expect(run["failures"].int == 0)
      #expect((run["seconds"].double ?? 0) > 0)
      #expect((run["imagesPerSecond"].double ?? 0) > 0)
      #expect(run["bytes"].int.map { pass == "cold" ? $0 > 0 : $0 == 0 } == true)
      for key in ["ttfbMilliseconds", "totalMilliseconds"] {
        for quantile in Self.quantiles {
          #expect(run[key][quantile].isNull == (pass == "warm"))
        }
      }
    }
    #expect(report["best"]["pass"].string == "cold")
    #expect(report["best"]["parallel"].int != nil)
    #expect(throws: (any Error).self) { try shop.folder.stamps(below: "cache") }
  }

  @Test func `a list of URLs is measured from a file and from stdin`() throws {
    let shop = try Shop()
    let text =
      "# two\n\(shop.store.baseURL)/pictures/A1.jpg\n\(shop.store.baseURL)/pictures/A2.jpg\n"
    let list = try shop.folder.write(text, to: "urls.txt")

    let named = try Command.larder(
      ["bench", list, "--parallel", "2", "--runs", "1", "--count", "2", "--json"]
    )
    let piped = try Command.shell(
      "cat '\(list)' | \"$larder\" bench - --parallel 2 --runs 1 --count 2 --json"
    )

    #expect(named.status == 0)
    #expect(try Document(named)["runs"][0]["images"].int == 2)
    #expect(piped.status == 0)
    #expect(try Document(piped)["runs"][1]["requests"].int == 2)
  }

  @Test func `a short list of URLs is repeated up to --count, or for a second without it`() throws
  {
    let shop = try Shop()
    let url = "\(shop.store.baseURL)/pictures/A1.jpg"
    let words = ["--pass", "cold", "--parallel", "2", "--runs", "1", "--json"]

    let counted = try Command.larder(["bench", url, url, "--count", "25"] + words)
    let timed = try Command.larder(["bench", url] + words)

    #expect(try Document(counted)["runs"][0]["requests"].int == 25)
    let run = try Document(timed)["runs"][0]
    #expect((run["requests"].int ?? 0) > 2 && (run["seconds"].double ?? 0) >= 1)
    #expect(run["failures"].int == 0)
  }

  @Test func `an option without effect is refused`() throws {
    let shop = try Shop()

    let bench = try Command.larder(["bench", shop.catalog, "--count", "5"])

    #expect(bench.status == 64 && bench.output.isEmpty)
  }

  @Test func `URLs on the command line are measured, with a progress line that fits the terminal`()
    throws
  {
    let shop = try Shop()
    let urls = ["A1", "A2"].map { "\(shop.store.baseURL)/pictures/\($0).jpg" }

    let bench = try Command.larder(
      ["bench"] + urls + ["--parallel", "2", "--runs", "2", "--count", "2"],
      terminal: .errors,
      columns: 40
    )
    let mixed = try Command.larder(["bench", urls[0], "urls.txt"])

    #expect(bench.status == 0)
    #expect(bench.output.contains(#/cold +2 +[0-9.,]+ /#))
    #expect(bench.errors.contains(#/\r2 at once, run 2[^\r]{0,25}\u{1B}\[K/#))
    #expect(bench.errors.hasSuffix("\r\u{1B}[K"))
    #expect(mixed.status == 64 && mixed.errors.contains("\"urls.txt\" is none"))
  }

  @Test func `the table says how its latencies were measured, and its columns are aligned`() throws
  {
    let shop = try Shop()
    let words = ["bench", shop.catalog, "--parallel", "2", "--runs", "1"]

    let table = try Command.larder(words)

    #expect(table.status == 0)
    #expect(
      table.lines.prefix(4).map { $0.prefix(10).trimmingCharacters(in: .whitespaces) }
        == ["PASS", "cold", "warm", "revalidate"]
    )
    #expect(Set(table.lines.prefix(4).map(\.count)).count == 1)
    for line in table.lines.prefix(4) { #expect(line.count <= 80, "\(line)") }
    #expect(table.output.contains("closed loop"))
  }

  @Test func `a failing picture is status 3, an unreachable server 69`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=404")
    let words = ["bench", shop.catalog, "--parallel", "2", "--runs", "1", "--retries", "0"]

    let partly = try Command.larder(words)
    shop.store.stop()
    let gone = try Command.larder(words)

    #expect(partly.status == 3)
    #expect(partly.output.contains("failed: 3 http-404"))
    #expect(gone.status == 69)
    #expect(gone.errors.contains("cannot bench: nothing could be fetched"))
  }

  @Test func `Ctrl-C ends a measurement with 130 and leaves no files`() throws {
    let shop = try Shop(faults: "path=/pictures/* hang")
    let running = try Running(
      Command.binary,
      ["bench", shop.catalog, "--parallel", "2"],
      environment: ["TMPDIR": shop.folder.path]
    )
    #expect(shop.store.waitForRequests(6))

    running.send(SIGINT)

    let ended = try running.wait(seconds: 60)
    #expect(ended.status == 130)
    #expect(ended.output.hasSuffix("interrupted: nothing was measured\n"))
    #expect(try shop.folder.stamps(below: "").filter { $0.contains("larder-bench") } == [])
  }

  @Test func `Ctrl-C in the first pass leaves a clean line, and a document with --json`() throws {
    let shop = try Shop(faults: "path=/pictures/* hang")
    let url = "\(shop.store.baseURL)/pictures/A1.jpg"
    let words = ["bench", url, "--parallel", "2", "--runs", "1", "--json"]
    let running = try Running(Command.binary, words)
    #expect(shop.store.waitForRequests(1))

    running.send(SIGINT)

    let ended = try running.wait(seconds: 60)
    #expect(ended.status == 130)
    #expect(try Document(ended)["interrupted"].bool == true)
    #expect(try Document(ended)["runs"].count == 0)
  }
}
