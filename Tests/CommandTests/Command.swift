import Dispatch
import Foundation
import Glibc
import Support
import Synchronization
import Testing

/// The output and exit status of a finished run of the built binary.
struct Command: Sendable {
  /// The exit status; 128 plus the signal's number after a signal.
  let status: Int32
  /// The text that it wrote to stdout.
  let output: String
  /// The text that it wrote to stderr.
  let errors: String
  /// The peak memory in KiB.
  let peak: Int

  /// The lines of stdout.
  var lines: [Substring] { output.split(separator: "\n") }

  /// The binary, which is built next to the tests.
  static let binary = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "larder").path

  /// The folder `samples` of the repository.
  static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "samples").path

  /// Runs `larder` with arguments and waits for its end.
  static func larder(
    _ arguments: [String],
    environment: [String: String] = [:],
    terminal: Running.Terminal? = nil,
    columns: UInt16 = 80
  ) throws -> Command {
    let run = try Running(
      binary,
      arguments,
      environment: environment,
      terminal: terminal,
      columns: columns
    ).wait()
    try HelpPages.standard.expect(run.status, of: arguments)
    return run
  }

  /// Runs a shell command in which `$larder` is the binary.
  static func shell(_ line: String, environment: [String: String] = [:]) throws -> Command {
    let named = environment.merging(["larder": binary]) { $1 }
    return try Running("/bin/bash", ["-c", line], environment: named).wait()
  }
}

/// A process that a test started and can send signals to; `wait` kills it at the time limit.
final class Running: Sendable {
  /// The stream of the process that is a terminal.
  enum Terminal: Int32 {
    case output = 1
    case errors = 2
  }

  private let process: pid_t
  private let folder: TemporaryFolder
  private let screen: Screen?
  private let terminal: Terminal?
  private let ended = DispatchSemaphore(value: 0)
  private let result = Mutex<Int32?>(nil)
  private let peak = Mutex(0)

  /// Starts a program in an empty folder of its own, with an empty stdin.
  ///
  /// Its environment holds `PATH`, `HOME` and the given variables.
  init(
    _ program: String,
    _ arguments: [String],
    environment: [String: String] = [:],
    terminal: Terminal? = nil,
    columns: UInt16 = 80
  ) throws {
    folder = try TemporaryFolder()
    self.terminal = terminal
    screen = try terminal.map { _ in try Screen(columns: columns) }
    var base = ["PATH": "/usr/bin:/bin", "HOME": folder.path, "TERM": "xterm"]
    // Passes on the variables that `script/torture race` sets, because the binary needs them too.
    for name in ["LD_PRELOAD", "TSAN_OPTIONS"] {
      base[name] = ProcessInfo.processInfo.environment[name]
    }
    let variables = base.merging(environment) { $1 }.map { "\($0)=\($1)" }

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let create = O_WRONLY | O_CREAT | O_TRUNC
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, folder.path("stdout"), create, 0o600)
    posix_spawn_file_actions_addopen(&actions, 2, folder.path("stderr"), create, 0o600)
    if let screen, let terminal {
      let flags = O_RDWR | O_NOCTTY
      posix_spawn_file_actions_addopen(&actions, terminal.rawValue, screen.name, flags, 0)
    }

    // The child must not inherit signals that the test process ignores or blocks.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGPIPE, SIGINT, SIGTERM] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    let flags = Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
    posix_spawnattr_setflags(&attributes, flags)

    // `env -C` changes the folder and then becomes the program, with the same process id.
    var texts = (["env", "-C", folder.path, program] + arguments).map { strdup($0) } + [nil]
    var names = variables.map { strdup($0) } + [nil]
    defer { for text in texts + names { free(text) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, "/usr/bin/env", &actions, &attributes, &texts, &names)
    guard code == 0 else { throw CommandError("cannot run \(program): \(errorText(code))") }
    self.process = process
    screen?.follow()
    let child = process
    Thread.detachNewThread { [self] in
      var status: Int32 = 0
      var usage = rusage()
      while wait4(child, &status, 0, &usage) < 0, errno == EINTR {}
      peak.withLock { $0 = usage.ru_maxrss }
      let signal = status & 0x7F
      result.withLock { $0 = signal == 0 ? status >> 8 & 0xFF : 128 + signal }
      ended.signal()
    }
  }

  /// Sends a signal if the process still runs.
  func send(_ signal: Int32) {
    result.withLock { if $0 == nil { kill(process, signal) } }
  }

  /// Waits for the end of the process.
  ///
  /// If the process takes longer than `seconds`, it is killed, and an issue is recorded.
  func wait(seconds: Double = 60) throws -> Command {
    if ended.wait(timeout: .now() + seconds) == .timedOut {
      Issue.record("still running after \(seconds) s")
      send(SIGKILL)
      ended.wait()
    }
    ended.signal()
    let status = result.withLock { $0 } ?? -1
    let shown = screen?.end() ?? ""
    return Command(
      status: status,
      output: terminal == .output ? shown : try folder.text("stdout"),
      errors: terminal == .errors ? shown : try folder.text("stderr"),
      peak: peak.withLock { $0 }
    )
  }
}

/// The controlling side of a pseudo-terminal.
///
/// It collects the output of the process.
private final class Screen: Sendable {
  /// The path of the terminal side.
  let name: String
  private let descriptor: Int32
  private let text = Mutex<[UInt8]>([])
  private let isOver = DispatchSemaphore(value: 0)

  init(columns: UInt16) throws {
    descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    // Linux's own ioctls (ioctl_tty(2)), because Swift does not import the X/Open functions.
    let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
    var (locked, place): (Int32, UInt32) = (0, 0)
    guard descriptor >= 0, ioctl(descriptor, unlock, &locked) == 0,
      ioctl(descriptor, number, &place) == 0
    else { throw CommandError("cannot open a terminal: \(errorText(errno))") }
    name = "/dev/pts/\(place)"
    var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(descriptor, UInt(TIOCSWINSZ), &size) == 0 else {
      throw CommandError("cannot size a terminal: \(errorText(errno))")
    }
  }

  /// Reads on another thread until the terminal side is closed everywhere.
  func follow() {
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4096)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { break }
        text.withLock { $0 += buffer[..<count] }
      }
      isOver.signal()
    }
  }

  func end() -> String {
    isOver.wait()
    close(descriptor)
    return String(decoding: text.withLock { $0 }, as: UTF8.self)
  }
}

/// The reason why a process could not be started.
struct CommandError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

private func errorText(_ code: Int32) -> String {
  String(cString: strerror(code))
}
