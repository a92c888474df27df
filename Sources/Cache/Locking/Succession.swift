import Glibc

/// Takes over a claim whose holder is gone, so that of several who try one succeeds.
///
/// The heir makes a file that only one can make, `lock.host.after-` and the dead claim's token; looks
/// again whether the claim is the very one that was judged; renames its file over the claim; and reads
/// what is there then. Whoever finds its own token has the cache. An heir that died on the way leaves
/// its file, which waits out the same silence and is removed by the next. One that was only frozen
/// finds its file gone, or renames another's, and reads another's token.
struct Succession {
  /// The claim that is there.
  let claim: ClaimText
  /// What an heir has written so far; nil when there is none.
  let heir: String?
  /// How the claim stands.
  let standing: LockHolder

  private let text: String
  private let folder: Folder
  private let mine: ClaimText

  /// Judges the claim that is there, and notes when another machine's was first seen.
  ///
  /// - Parameters:
  ///   - folder: the cache.
  ///   - mine: the claim that is to take its place.
  ///   - machine: this machine.
  ///   - isLocked: whether the caller holds the cache's `flock`.
  init(_ folder: Folder, _ mine: ClaimText, _ machine: Machine, isLocked: Bool = true) {
    self.folder = folder
    self.mine = mine
    text = HostClaim.text(in: folder) ?? ""
    claim = ClaimText(text)
    heir = claim.pulse.flatMap { pulse in
      let name = Self.name(after: pulse.token)
      return folder.kind(of: name) == nil ? nil : folder.text(of: name, limit: 4096) ?? ""
    }
    let first = LockHolder(
      claim,
      host: machine.host,
      boot: machine.boot,
      heir: heir,
      isLocked: isLocked
    )
    guard case .silent = first else {
      standing = first
      return
    }
    var watch =
      folder.text(of: HostClaim.watchName, limit: 16 << 10).flatMap { ClaimWatch($0) }
      ?? ClaimWatch()
    let before = watch
    let seconds = watch.see(
      "\(text)\u{0}\(heir ?? "")",
      boot: machine.boot,
      at: machine.monotonic()
    )
    if watch != before { Self.write(watch, in: folder, as: mine) }
    standing = LockHolder(
      claim,
      host: machine.host,
      boot: machine.boot,
      heir: heir,
      isLocked: isLocked,
      unchangedFor: seconds
    )
  }

  private static func name(after token: String) -> String { "\(HostClaim.name).after-\(token)" }

  /// In one step; quiet when it cannot be written, which costs the takeover and nothing else.
  private static func write(_ watch: ClaimWatch, in folder: Folder, as mine: ClaimText) {
    let disk = SystemDisk(durable: false)
    let temporary = "\(HostClaim.watchName).\(mine.pulse?.token ?? "")"
    guard let file = try? disk.create(temporary, in: folder) else { return }
    do throws(CacheError) {
      try disk.append(Array(watch.text.utf8).span.bytes, to: file)
      try disk.rename(temporary, in: folder, to: HostClaim.watchName, in: folder)
    } catch {
      try? disk.remove(temporary, in: folder)
    }
  }

  /// Takes the claim over.
  ///
  /// - Parameter pause: called between the steps, with their number; for tests.
  /// - Throws: ``CacheError/Code/locked`` when its holder gave a sign of life, or another was quicker.
  func takeOver(_ pause: (Int) -> Void = { _ in }) throws(CacheError) {
    guard let pulse = claim.pulse, let token = mine.pulse?.token else { throw overtaken() }
    let name = Self.name(after: pulse.token)
    if heir != nil { unlinkat(folder.descriptor, name, 0) }
    pause(1)
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = openat(folder.descriptor, name, flags, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST { throw overtaken() }
      throw .system("lock", "\(folder.path)/\(name)", errno: errno)
    }
    try HostClaim.write(mine, to: descriptor, named: name, in: folder)
    pause(2)
    // From here on nobody else is an heir; the claim must still be the one that was judged, to the byte.
    guard HostClaim.text(in: folder) == text else {
      unlinkat(folder.descriptor, name, 0)
      throw overtaken()
    }
    pause(3)
    renameat(folder.descriptor, name, folder.descriptor, HostClaim.name)
    pause(4)
    guard let now = HostClaim.text(in: folder), ClaimText(now).pulse?.token == token else {
      throw overtaken()
    }
    unlinkat(folder.descriptor, HostClaim.watchName, 0)
  }

  private func overtaken() -> CacheError {
    CacheError(
      .locked,
      "cannot change \(folder.path): another machine has just taken it; try again when its run has "
        + "ended"
    )
  }
}
