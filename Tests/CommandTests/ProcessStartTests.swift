import Foundation
import Glibc
import Support
import Testing

/// How larder works when another program started it in an unusual way.
struct ProcessStartTests {
  private static let photo = Command.samples + "/photo/wakeup-12mp.jpg"

  private func run(_ line: String, _ folder: TemporaryFolder) throws -> Command {
    try Command.shell(
      "cd \"$folder\"; \(line)",
      environment: ["folder": folder.path, "photo": Self.photo]
    )
  }

  @Test func `without stdin, stdout and stderr, no message gets into a picture`() throws {
    let folder = try TemporaryFolder()

    let crop = try run(
      """
      mkdir in
      for i in 1 2 3 4 5 6 7 8; do cp "$photo" in/$i-good.jpg; head -c 900 "$photo" > in/$i-cut.jpg; done
      "$larder" crop "$photo" --size 64 --out alone
      "$larder" crop in --size 64 --out out -q <&- >&- 2>&-; echo $?
      for file in out/*-good.jpg; do cmp $file alone/*.jpg; done; ls out | wc -l
      """,
      folder
    )

    #expect(crop.output.hasSuffix("\n3\n8\n"), "\(crop.output)")
    #expect(crop.errors == "", "\(crop.errors)")
  }

  @Test func `a batch makes all its pictures, even if nobody reads its output`() throws {
    let folder = try TemporaryFolder()

    let crop = try run(
      """
      mkdir in; for i in 1 2 3 4 5 6 7 8 9; do cp "$photo" in/$i.jpg; done
      mkfifo p; exec 3<>p 4>p 3<&-
      "$larder" crop in --size 32 --out out >&4; echo $?; ls out | wc -l
      """,
      folder
    )

    #expect(crop.output == "0\n9\n", "\(crop.output) \(crop.errors)")
  }

  @Test func `pictures and folders keep names that are not UTF-8, and nothing else may have them`()
    throws
  {
    let folder = try TemporaryFolder()

    let crop = try run(
      #"""
      export LC_ALL=C
      mkdir $'d\xFC'; cp "$photo" $'t\xFCr.jpg'; cp "$photo" $'t\xF6r.jpg'
      "$larder" crop $'t\xFCr.jpg' $'t\xF6r.jpg' --size 32 --out $'d\xF6'; echo $?; ls d?/*.jpg | wc -l
      "$larder" crop "$photo" --size 32 --out o --name $'\xFC{stem}.{ext}'; echo $?
      LARDER_CACHE=$'d\xFC' "$larder" list; echo $?
      LARDER_ORDERS=$'d\xFC/o.sqlite' "$larder" order list; echo $?
      ls d?/
      """#,
      folder
    )

    let numbers = crop.lines.filter { $0.count < 3 }.map(String.init)
    #expect(numbers == ["0", "2", "64", "64", "64"], "\(crop.output)")
    #expect(crop.errors.contains(#"cannot read the argument \xFC{stem}.{ext}"#), "\(crop.errors)")
    #expect(crop.errors.contains("cannot use LARDER_CACHE: its path is not UTF-8"))
    #expect(crop.errors.contains("cannot use LARDER_ORDERS: its path is not UTF-8"))
    #expect(!crop.output.contains("o.sqlite"))
  }

  @Test func `the end of a hook is noticed, even if larder was started to ignore SIGCHLD`() throws
  {
    let shop = try Shop()

    let sync = try Command.shell(
      #"trap '' CHLD; cd "$folder"; "$larder" sync shop.yaml --retries 0 --on-change 'touch ran'; ls ran"#,
      environment: ["folder": shop.folder.path]
    )

    #expect(sync.output.hasSuffix("\nran\n"), "\(sync.output) \(sync.errors)")
    #expect(!sync.errors.contains("took longer"), "\(sync.errors)")
  }

  @Test func `a link to a file stays a link when the file is replaced`() throws {
    let shop = try Shop()

    let sync = try Command.shell(
      """
      cd "$folder"; mkdir there; ln -s there/m.prom link
      touch -d '2 hours ago' there/m.prom.4194305.tmp there/other.4194305.tmp
      touch there/m.prom.4194306.tmp
      "$larder" sync "$catalog" --cache cache --retries 0 --metrics link -q; echo $?
      test -L link && grep -c larder_ there/m.prom > count && echo linked; ls there/*.tmp
      { echo before; "$larder" sync "$catalog" --cache cache --retries 0 --metrics /dev/stdout -q; echo after; } > log
      head -1 log; tail -1 log; grep -c ^larder_last log > count && echo appended
      """,
      environment: ["folder": shop.folder.path, "catalog": shop.catalog]
    )

    let expected = [
      "0", "linked", "there/m.prom.4194306.tmp", "there/other.4194305.tmp", "before", "after",
      "appended",
    ]
    #expect(sync.lines.map(String.init) == expected, "\(sync.output) \(sync.errors)")
  }

  @Test func `stdin and stdout may be pipes that do not block`() throws {
    let folder = try TemporaryFolder()

    let crop = try run(
      """
      cat > open.py <<'END'
      import os, subprocess, sys, time
      photo = open(os.environ["photo"], "rb").read()
      (r, w), (r2, w2) = os.pipe(), os.pipe()
      os.set_blocking(r, False); os.set_blocking(w2, False)
      larder = subprocess.Popen([os.environ["larder"], "crop", "-", "--lossless"], stdin=r, stdout=w2)
      os.close(r); os.close(w2)
      if os.fork() == 0:
          os.close(r2)
          with os.fdopen(w, "wb") as pipe: pipe.write(photo)
          os._exit(0)
      os.close(w)
      made = os.fdopen(r2, "rb").read()
      print(larder.wait(), len(made) > 100000)
      END
      python3 open.py
      """,
      folder
    )

    #expect(crop.output == "0 True\n", "\(crop.output) \(crop.errors)")
  }
}
