import Foundation
import Glibc
import Support
import Synchronization
import SystemPackage
import Testing

@testable import Imaging

/// Worker processes that make pictures, and how they end.
@Suite struct PictureWorkerTests {
  private static let program = [Command.binary, "picture-worker"]

  /// A picture in which no two places are the same.
  private static func picture(_ format: PictureFormat, _ side: Int) throws -> [UInt8] {
    let samples = (0..<side * (side + 9) * 3).map { UInt8(truncatingIfNeeded: $0 &* $0 / 97) }
    let bitmap = Bitmap(width: side + 9, height: side, layout: .rgb, samples: samples)
    let png = try bitmap.png()
    switch format {
    case .png: return png
    case .heic: return Array(Data(base64Encoded: heic) ?? Data())
    // The header of a little-endian TIFF with one strip: sizes, bits, RGB, strip offset, samples.
    // (TIFF 6.0)
    case .tiff:
      let tags = [
        (256, side + 9), (257, side), (258, 8), (262, 2), (273, 110), (277, 3), (278, side),
        (279, samples.count),
      ]
      func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
      }
      let entries = tags.flatMap { number($0, 2) + number(4, 2) + number(1, 4) + number($1, 4) }
      return Array("II*\0".utf8) + number(8, 4) + number(8, 2) + entries + number(0, 4) + samples
    default: break
    }
    return try Crop(format: format).apply(to: PictureFile(png)).bytes
  }

  private static func put(_ count: Int, in folder: TemporaryFolder) throws -> PictureBatch {
    for number in 0..<count {
      let path = FilePath(folder.path("in/\(1000 + number).png"))
      try WholeFile.write(picture(.png, 20 + number), to: path)
    }
    return try PictureBatch([FilePath(folder.path("in"))], into: FilePath(folder.path("out")))
  }

  @Test(arguments: [PictureFormat.jpeg, .png, .webp, .avif, .heic, .tiff])
  func `a worker gives the same result as this process`(_ format: PictureFormat) throws {
    let bytes = try Self.picture(format, 90)
    var stamp = Stamp(crop: Crop(size: 80), time: .given(instant: 0, offset: 0))
    stamp.locale = try StampLocale("ko_KR")
    let orders = [
      PictureOrder(Crop()), PictureOrder(Crop(size: 33, gravity: .attention)),
      PictureOrder(Crop(format: .png)), PictureOrder(stamp),
    ]
    let workers = PictureWorkers(Self.program)

    for order in orders {
      let input = PictureInput.bytes(bytes, name: "x")
      let here = try PicturesHere().make(order, of: input, for: nil, isStopped: { false })
      let there = try workers.make(order, of: input, for: nil, isStopped: { false })

      #expect(there == here)
    }
    #expect(workers.waiting.count == 1)
  }

  @Test func `an invalid picture gives the same error in a worker, which continues`() throws {
    let workers = PictureWorkers(Self.program)
    let order = PictureOrder(Crop())
    let bad = PictureInput.bytes([0xFF, 0xD8, 0xFF, 1, 2, 3], name: "bad.jpg")
    func error(_ place: some PictureWorking, _ input: PictureInput) -> ImagingError? {
      do throws(ImagingError) {
        _ = try place.make(order, of: input, for: nil, isStopped: { false })
        return nil
      } catch {
        return error
      }
    }

    let first = error(workers, bad)
    let worker = workers.waiting

    #expect(first != nil && first == error(PicturesHere(), bad))
    #expect(error(workers, .path("/nowhere.png")) == error(PicturesHere(), .path("/nowhere.png")))
    #expect(error(workers, .path("/tmp")) == error(PicturesHere(), .path("/tmp")))
    #expect(error(workers, .bytes(try Self.picture(.png, 9), name: "x")) == nil)
    #expect(workers.waiting == worker)
  }

  @Test func `a worker writes a large PNG to its file, and this process renames it`() throws {
    let folder = try TemporaryFolder()
    let batch = try Self.put(3, in: folder)
    var crop = Crop()
    crop.heldBytes = 100

    let results = try batch.run(PictureWorkers(Self.program).making(PictureOrder(crop)))
    let made = try PictureWorkers(Self.program).make(
      PictureOrder(crop),
      of: .path(batch.items[0].input),
      for: FilePath(folder.path("elsewhere/x.png")),
      isStopped: { false }
    )

    #expect(results.map(\.error) == [nil, nil, nil])
    for result in results {
      let whole = try Crop().apply(to: PictureFile(FilePath(result.input)))
      let output = try #require(result.output)
      #expect(try PictureFile(FilePath(output)).bytes == whole.bytes)
    }
    guard case .waiting = made.file else { return #expect(Bool(false), "all of it is held") }
    let elsewhere = try FileManager.default.contentsOfDirectory(atPath: folder.path("elsewhere"))
    #expect(elsewhere.count == 1 && elsewhere[0].hasSuffix(".part"))
  }

  /// Kills the worker once during each picture, each time a little later.
  private struct Killing: PictureWorking {
    /// A copy of the binary that no other test's workers run.
    let program: String
    let workers: PictureWorkers
    let number = Counter()

    final class Counter: Sendable {
      let value = Atomic(0)
    }

    func make(
      _ order: PictureOrder,
      of input: PictureInput,
      for output: FilePath?,
      isStopped: () -> Bool
    ) throws(ImagingError) -> EncodedPicture {
      let delay = Duration.milliseconds(number.value.add(1, ordering: .relaxed).oldValue)
      let isKilled = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        let moment = ContinuousClock.now + delay
        while .now < moment {}
        for process in PictureWorkerTests.workers(of: program) { kill(process, SIGKILL) }
        isKilled.signal()
      }
      defer { isKilled.wait() }
      return try workers.make(order, of: input, for: output, isStopped: isStopped)
    }
  }

  @Test func `a batch is whole although its worker is killed at a hundred points`() throws {
    let folder = try TemporaryFolder()
    let batch = try Self.put(100, in: folder)
    let program = folder.path("larder")
    #expect(symlink(Command.binary, program) == 0)
    let killing = Killing(
      program: program,
      workers: PictureWorkers([program] + Self.program.dropFirst())
    )
    let reported = Mutex<[String]>([])

    let results = try batch.run(killing.making(PictureOrder(Crop())), workers: 1) { result in
      reported.withLock { $0.append(result.input) }
    }

    #expect(results.map(\.error) == Array(repeating: nil, count: 100))
    #expect(results.map(\.summary?.width) == (20..<120).map { $0 })
    #expect(reported.withLock { $0 } == batch.items.map(\.input.string))
    let made = try FileManager.default.contentsOfDirectory(atPath: folder.path("out"))
    #expect(made.count == 100)
    for (name, item) in zip(made.sorted(), batch.items) {
      let whole = try Crop().apply(to: PictureFile(item.input))
      #expect(try PictureFile(FilePath(folder.path("out/\(name)"))).bytes == whole.bytes)
    }
  }

  /// The process ids of the workers that run `program`.
  fileprivate static func workers(of program: String) -> [pid_t] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return all.compactMap { entry -> pid_t? in
      guard let process = pid_t(entry),
        let words = try? String(contentsOfFile: "/proc/\(entry)/cmdline", encoding: .utf8),
        words.hasPrefix(program + "\0")
      else { return nil }
      return process
    }
  }

  struct Failing: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let script: String
    let code: ImagingError.Code
    let words: String
  }

  static let failing = [
    Failing(
      testDescription: "hangs",
      script: "exec sleep 1000",
      code: .overTime,
      words: "it did not finish in"
    ),
    Failing(
      testDescription: "computes without end",
      script: "while :; do :; done",
      code: .overTime,
      words: "it took more than 0.1 s of processor time"
    ),
    Failing(
      testDescription: "ends",
      script: "exit 3",
      code: .worker,
      words: "gave no valid answer"
    ),
    Failing(
      testDescription: "crashes",
      script: "kill -SEGV $$",
      code: .crashed,
      words: "or a library crashed on it (signal 11)"
    ),
    Failing(
      testDescription: "runs out of processor time by the kernel's count",
      script: "kill -XCPU $$",
      code: .overTime,
      words: "it took more processor time than"
    ),
    Failing(
      testDescription: "is killed each time",
      script: "kill -KILL $$",
      code: .worker,
      words: "killed twice (signal 9)"
    ),
    Failing(
      testDescription: "answers nonsense",
      script: "head -c 64 /dev/zero >&3; exec sleep 1000",
      code: .worker,
      words: "gave no valid answer"
    ),
  ]

  @Test(arguments: failing)
  func `if the worker does no work, each picture has an error and no file is written`(
    _ failing: Failing
  ) throws {
    let folder = try TemporaryFolder()
    let batch = try Self.put(2, in: folder)
    let workers = PictureWorkers(
      ["/bin/sh", "-c", failing.script],
      patience: 0.1
    )

    let results = try batch.run(workers.making(PictureOrder(Crop())))

    #expect(results.map(\.error?.code) == [failing.code, failing.code])
    let words = results[0].error?.problem ?? ""
    #expect(words.contains(failing.words), "\(words)")
    #expect(words.contains("/1000.png"), "\(words)")
    #expect(workers.waiting.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
  }

  @Test func `a missing worker program gives the system's error`() throws {
    let workers = PictureWorkers(["/nowhere/larder"])

    #expect {
      try workers.make(
        PictureOrder(Crop()),
        of: .bytes([], name: "x"),
        for: nil,
        isStopped: { false }
      )
    } throws: { error in
      let words = (error as? ImagingError)?.problem ?? ""
      return words.contains("no process can be started for it (no such file or directory)")
    }
  }

  @Test func `stopping a picture ends its worker`() throws {
    let workers = PictureWorkers(["/bin/sh", "-c", "exec sleep 1000"])
    let asked = Atomic(0)

    #expect {
      try workers.make(PictureOrder(Crop()), of: .bytes([1], name: "x"), for: nil) {
        asked.add(1, ordering: .relaxed).newValue > 2
      }
    } throws: { ($0 as? ImagingError)?.code == .stopped }
    #expect(workers.waiting.isEmpty)
  }

  @Test func `a worker can gain no privileges, and its memory is limited`() throws {
    let workers = PictureWorkers(Self.program)
    let bytes = try Self.picture(.png, 30)
    let order = PictureOrder(Crop())
    _ = try workers.make(order, of: .bytes(bytes, name: "x"), for: nil, isStopped: { false })
    let process = try #require(workers.waiting.first)

    let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
    let environment = try String(contentsOfFile: "/proc/\(process)/environ", encoding: .utf8)

    #expect(status.contains(#/NoNewPrivs:\s1/#))
    #expect(status.contains(#/Seccomp:\s2/#))
    #expect(limits.contains(#/Max address space +\d+ /#))
    #expect(limits.contains(#/Max cpu time +\d+ /#))
    #expect(limits.contains(#/Max core file size +0 +0 /#))
    let names = environment.split(separator: "\0").map { $0.prefix { $0 != "=" } }
    #expect(!names.contains("PATH") && !names.contains { $0.hasPrefix("LARDER_") })
    let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    #expect(files.sorted() == ["0", "1", "2", "3"])
  }

  @Test func `a worker started by hand does nothing`() throws {
    let run = try Running(Command.binary, ["picture-worker"]).wait()

    #expect(run.status == 64 && run.output.isEmpty)
  }
}

/// A picture of 64 × 64 pixels, as written by libheif.
private let heic = """
  AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAUJtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0\
  AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAABAAAAImlsb2MAAAAAREAAAQABAAAAAAFmAAEAAAAAAAAB\
  NAAAACNpaW5mAAAAAAABAAAAFWluZmUCAAAAAAEAAGh2YzEAAAAAwmlwcnAAAACkaXBjbwAAAHhodmND\
  AQNwAAAAAAAAAAAAHvAA/P34+AAADwMgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQCEAAQArQgEB\
  A3AAAAMAkAAAAwAAAwAeoCCBBZbqSSmubgQEDAgAAAMACAAAAwAIQCIAAQAHRAHBcrAiQAAAABRpc3Bl\
  AAAAAAAAAEAAAABAAAAAEHBpeGkAAAAAAwgICAAAABZpcG1hAAAAAAAAAAEAAQOBAoMAAAE8bWRhdAAA\
  ATAoAa8E+O3p9z75Z6rmtGCI91MOFu0dG3U4w2mM0n95/P9r7Bvn+RWb3ELmua+qo5DZPQUIYh83+4vL\
  csjtFOain61hR6Roh+BTN75sD1eyp5Vk4W82/xpoMt8yAa/ZUK64VSUVqtx5hrbnJ1PoPnZPxWasznF1\
  dSsktYmi5Zx9AQ6BODp/Vlo4RmGZqwfhbz9FN7qarYENWRjf7beskRpux79GmyuNJKkvxgv313fRd5oZ\
  5jf3mZ0ao73/HYUdFTG5x2R+ykweC5pqKgf0Q7cc0b2C2luPpc1nlYKb6OByMh04ZffJfegcoUdZWk0n\
  4UmwD/v47YAv9/2p0CC/y2JBXZfFAtuf5cfwP8EQ+SVXlxOycpijV2lce8f3j/Vm7d2TH7RgbN614MIG\
  I1o8/R2W
  """
