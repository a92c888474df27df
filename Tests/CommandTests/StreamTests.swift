import Foundation
import Support
import Testing

/// Pictures read from stdin and written to stdout.
struct StreamTests {
  private static let photo = "\(Command.samples)/photo/wakeup-12mp.jpg"

  @Test func `a picture from stdin gives the same bytes on stdout as a file`() throws {
    let folder = try TemporaryFolder()
    let environment = ["photo": Self.photo, "out": folder.path]
    let file = try Command.larder(["crop", Self.photo, "--out", folder.path, "--size", "64"])

    let piped = try Command.shell(
      #"cat "$photo" | "$larder" crop - --size 64 | cmp - "$out/wakeup-12mp.jpg""#,
      environment: environment
    )
    let asked = try Command.shell(
      #""$larder" crop "$photo" --size 64 --out - | cmp - "$out/wakeup-12mp.jpg""#,
      environment: environment
    )

    #expect(file.status == 0)
    for run in [piped, asked] {
      #expect(run.status == 0 && run.output == "" && run.errors == "", "\(run.errors)")
    }
  }

  @Test func `the output of stdin is named stdin in a folder, and the input is - in JSON`() throws
  {
    let folder = try TemporaryFolder()
    let environment = ["photo": Self.photo, "out": folder.path]

    let plain = try Command.shell(
      #""$larder" crop - --size 64 --out "$out" --json < "$photo""#,
      environment: environment
    )
    let named = try Command.shell(
      #""$larder" crop - --size 64 --out "$out" --format png --name 'my-{stem}.{ext}' < "$photo""#,
      environment: environment
    )

    #expect(plain.status == 0, "\(plain.errors)")
    #expect(try Document(plain)["input"].string == "-")
    #expect(try Document(plain)["output"].string == folder.path("stdin.jpg"))
    #expect(named.output == "\(folder.path("my-stdin.png"))  64×64  reencoded\n")
  }

  @Test func `a stamp of stdin shows the picture's time, the present or a given one`() throws {
    let folder = try TemporaryFolder()

    for time in ["exif", "now", "2021-01-13T06:30:00+09:00"] {
      let stamp = try Command.shell(
        #""$larder" stamp - --size 64 --time "$time" --out "$out" --force --json < "$photo""#,
        environment: ["photo": Self.photo, "out": folder.path, "time": time]
      )

      #expect(stamp.status == 0, "\(stamp.errors)")
      let source = try Document(stamp)["timeSource"].string
      #expect(source == (time.contains("T") ? "given" : time))
    }
  }

  @Test(arguments: [
    ("crop - --size 64 --json", "give --out DIR"),
    ("crop a.jpg b.jpg --out -", "one picture to stdout"),
    ("crop - - --out out", "given only once"), ("crop a.jpg", "'--out <dir>'"),
    ("crop - b.jpg", "'--out <dir>'"), ("crop . --out -", "is for one picture"),
    ("crop - --name {stem}.{ext}", "--name has no effect with --out -"),
    ("crop - --skip-existing", "--skip-existing has no effect with --out -"),
    ("crop - --dry-run", "--dry-run has no effect with --out -"),
    ("stamp - --time file", "give --time exif, now or a time"),
    ("stamp - --time file --out out", "give --time exif, now or a time"),
    ("stamp a.jpg --out - --json", "give --out DIR"),
  ])
  func `an option that a stream cannot have is a usage error, and nothing is read`(
    _ words: String,
    _ advice: String
  ) throws {
    let run = try Command.shell(
      "printf rest | { \"$larder\" \(words); status=$?; cat; exit $status; }"
    )

    #expect(run.status == 64, "\(run.status)")
    // With `--json` the error is the document on stdout.
    let hasDocument = words.contains("--json") && run.output.hasPrefix("{\"error\":")
    #expect(hasDocument ? run.output.hasSuffix("}\nrest") : run.output == "rest")
    #expect(run.errors.contains(advice), "\(run.errors)")
  }

  @Test func `a picture is not written to a terminal`() throws {
    let run = try Command.larder(
      ["crop", Self.photo, "--size", "64", "--out", "-"],
      terminal: .output
    )

    #expect(run.status == 64)
    #expect(run.errors.contains("cannot write a picture to a terminal"), "\(run.errors)")
    #expect(run.output == "")
  }

  @Test func `an unreadable picture leaves stdout empty`() throws {
    let folder = try TemporaryFolder()
    let environment = ["photo": Self.photo, "out": folder.path]
    func run(_ line: String) throws -> Command {
      try Command.shell(line, environment: environment)
    }

    let text = try run(#"printf 'no picture' | "$larder" crop - "#)
    let nothing = try run(#""$larder" crop - < /dev/null"#)
    let missing = try run(#""$larder" crop "$out/nowhere.jpg" --out -"#)
    let other = try run(#""$larder" crop - < "$out""#)
    let large = try run(#""$larder" crop - --max-pixels 1000 < "$photo""#)

    for refused in [text, nothing, large] { #expect(refused.status == 65, "\(refused.errors)") }
    #expect(text.errors.contains("cannot read stdin: it is not a picture"))
    #expect(large.errors.contains("--max-pixels"))
    #expect(missing.status == 65 && missing.errors.contains("nowhere.jpg"))
    #expect(other.status == 74 && other.errors.contains("cannot read stdin"), "\(other.errors)")
    for run in [text, nothing, missing, other, large] { #expect(run.output == "") }
  }

  @Test func `a failed write to stdout is reported, but not a closed pipe`() throws {
    // Half a photo: the readable part is written, and the status reports the damage.
    let half = try Command.shell(
      #"head -c 200000 "$photo" | "$larder" crop - --size 64 | wc -c; echo "${PIPESTATUS[1]}""#,
      environment: ["photo": Self.photo]
    )
    let full = try Command.shell(
      #""$larder" crop "$photo" --size 64 --out - > /dev/full"#,
      environment: ["photo": Self.photo]
    )
    let closed = try Command.shell(
      #"{ "$larder" crop "$photo" --out -; echo $? >&2; } | true"#,
      environment: ["photo": Self.photo]
    )

    #expect(half.lines.last == "3", "\(half.output)")
    #expect(half.errors.contains("a part of stdin is missing or broken"), "\(half.errors)")
    #expect(full.status == 74 && full.errors.contains("no space left"), "\(full.errors)")
    #expect(closed.errors == "0\n", "\(closed.errors)")
  }

  @Test func `stdin is read up to the size limit of a file`() throws {
    // A sparse file of 600 MiB with a JPEG's first bytes; the limit is 512 MiB.
    let run = try Command.shell(
      #"{ head -c 1000 "$photo"; head -c 629145600 /dev/zero; } | "$larder" crop - --size 64"#,
      environment: ["photo": Self.photo]
    )

    #expect(run.status == 65, "\(run.errors)")
    #expect(run.errors.contains("more than 536870912 bytes"), "\(run.errors)")
  }

  @Test func `one job or many give the same results, in the order of the inputs`() throws {
    let folder = try TemporaryFolder()
    func crop(_ jobs: String) throws -> [String] {
      let run = try Command.larder(
        [
          "crop", Self.photo, "\(Command.samples)/store", "--out", folder.path("out-\(jobs)"),
          "--size", "48",
          "--jobs", jobs, "--json",
        ]
      )
      #expect(run.status == 0, "\(run.errors)")
      return run.lines.map { String($0).replacing("out-\(jobs)", with: "out") }
    }

    let one = try crop("1")
    #expect(one.count > 1)
    for jobs in ["2", "7"] {
      #expect(try crop(jobs) == one)
      #expect(
        try folder.contents(below: "out-\(jobs)") == folder.contents(below: "out-1")
      )
    }
  }

  @Test(arguments: ["0", "1025", "-1", "two", ""])
  func `jobs are limited to 1 to 1024`(_ jobs: String) throws {
    for command in ["crop", "stamp"] {
      let run = try Command.larder([command, "a.jpg", "--out", "out", "--jobs", jobs])

      #expect(run.status == 64)
      #expect(run.errors.contains("from 1 to 1024"), "\(run.errors)")
    }
  }
}
