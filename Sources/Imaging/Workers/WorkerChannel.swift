import Base
import CGlibc
import FoundationEssentials
import Glibc

/// The protocol between this process and a worker, over a socket.
///
/// A message has a kind and two counts (4, 4 and 8 bytes, in the machine's byte order), then a text, then bytes:
///
/// | kind | from | text | bytes | descriptor |
/// |---|---|---|---|---|
/// | make | larder | ``WorkerChannel/Request`` | ``PictureOrder/wire`` | the picture |
/// | seconds | worker | the requested processor time, a `Double` | | |
/// | place | worker | | | |
/// | placed | larder | | | the file for the result |
/// | made | worker | ``EncodedPicture/Summary`` as JSON | the result, unless its file was placed | |
/// | failed | both | ``ErrorAnswer`` as JSON | | |
///
/// A worker sends `seconds` only if ``PictureOrder/secondsUnasked`` are not enough, or when it has just started. It
/// sends `place` to get a file for a large result; larder answers `placed` or `failed`.
struct WorkerChannel {
  enum Kind: UInt32 {
    case make = 1
    case seconds, place, placed, made, failed
  }

  struct Message {
    var kind: Kind
    var text: [UInt8] = []
    var bytes: [UInt8] = []
    /// A descriptor that was sent with the message; the receiver closes it.
    var descriptor: Int32 = -1

    /// The processor time in a message of kind `seconds`.
    func seconds() throws(WorkerLoss) -> Double {
      guard text.count == MemoryLayout<Double>.size else { throw .nonsense }
      let seconds = text.withUnsafeBytes { $0.loadUnaligned(as: Double.self) }
      guard seconds.isFinite else { throw .nonsense }
      return seconds
    }

    /// Decodes the text, which is JSON.
    func decoded<Value: Decodable>(_ type: Value.Type) throws(WorkerLoss) -> Value {
      do { return try JSONDecoder().decode(type, from: Data(text)) } catch { throw .nonsense }
    }
  }

  /// A request for a picture: a byte of flags, and the name.
  ///
  /// Encoding the request as JSON would take a tenth of the time of a small picture.
  struct Request {
    let name: String
    /// Whether the picture is from a file, which has a modification time.
    let isFile: Bool
    /// Whether the result becomes a file.
    let becomesFile: Bool
  }

  let socket: Int32
  /// A received message may have at most this many bytes.
  var most = Int.max
  private static let mostText = 1 << 24
  private static let mostJoined = 1 << 16

  /// Waits until the socket can be read (`POLLIN`) or written (`POLLOUT`), or the other end is closed.
  typealias Waiting = (_ events: Int32) throws(WorkerLoss) -> Void

  /// Sends a message.
  func send(
    _ kind: Kind,
    _ text: [UInt8] = [],
    _ bytes: [UInt8] = [],
    descriptor: Int32 = -1,
    wait: Waiting
  ) throws(WorkerLoss) {
    var head: [UInt8] = []
    withUnsafeBytes(of: kind.rawValue) { head += $0 }
    withUnsafeBytes(of: UInt32(text.count)) { head += $0 }
    withUnsafeBytes(of: UInt64(bytes.count)) { head += $0 }
    // Sends small messages in one piece, because each piece can wake the other process.
    let joined = bytes.count <= Self.mostJoined
    try send(head + text + (joined ? bytes : []), descriptor: descriptor, wait)
    if !joined { try send(bytes, wait) }
  }

  private func send(
    _ bytes: [UInt8],
    descriptor: Int32 = -1,
    _ wait: Waiting
  ) throws(WorkerLoss) {
    var descriptor = descriptor
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        larder_send(socket, $0.baseAddress?.advanced(by: done), $0.count - done, descriptor)
      }
      if count > 0 {
        done += count
        // The descriptor was sent with the first byte.
        descriptor = -1
      } else if errno == EAGAIN {
        try wait(POLLOUT)
      } else if errno != EINTR {
        throw .closed
      }
    }
  }

  /// Receives the next message.
  ///
  /// - Parameters:
  ///   - takesDescriptor: Whether a descriptor is accepted; if not, one that is received is closed.
  ///   - wait: Waits for the socket.
  /// - Returns: The message.
  /// - Throws: ``WorkerLoss``, including the errors of `wait`.
  func receive(
    takesDescriptor: Bool = false,
    wait: Waiting
  ) throws(WorkerLoss) -> Message {
    var descriptor: Int32 = -1
    do throws(WorkerLoss) {
      let head = try withUnsafeMutablePointer(to: &descriptor) {
        (place) throws(WorkerLoss) in try receive(16, takesDescriptor ? place : nil, wait)
      }
      let kind = head.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      let text = head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 4, as: UInt32.self) }
      let bytes = head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self) }
      guard let kind = Kind(rawValue: kind), text <= Self.mostText, bytes <= most else {
        throw .nonsense
      }
      return Message(
        kind: kind,
        text: try receive(Int(text), nil, wait),
        bytes: try receive(Int(bytes), nil, wait),
        descriptor: descriptor
      )
    } catch {
      if descriptor >= 0 { close(descriptor) }
      throw error
    }
  }

  private func receive(
    _ size: Int,
    _ descriptor: UnsafeMutablePointer<Int32>?,
    _ wait: Waiting
  ) throws(WorkerLoss) -> [UInt8] {
    guard size > 0 else { return [] }
    var loss: WorkerLoss?
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { room, count in
      do throws(WorkerLoss) {
        while count < size {
          let place = room.baseAddress?.advanced(by: count)
          let got = larder_receive(socket, place, size - count, descriptor)
          if got > 0 {
            count += got
          } else if got < 0, errno == EAGAIN {
            try wait(POLLIN)
          } else if got == 0 || errno != EINTR {
            throw .closed
          }
        }
      } catch {
        loss = error
      }
    }
    if let loss { throw loss }
    return bytes
  }
}

extension WorkerChannel.Request {
  /// The request as a message's text.
  var text: [UInt8] { [(isFile ? 1 : 0) | (becomesFile ? 2 : 0)] + name.utf8 }

  /// Reads a message's text.
  init(_ text: [UInt8]) throws(WorkerLoss) {
    guard let flags = text.first, flags < 4 else { throw .nonsense }
    self.init(
      name: String(decoding: text.dropFirst(), as: UTF8.self),
      isFile: flags & 1 != 0,
      becomesFile: flags & 2 != 0
    )
  }
}

/// The reason why a worker cannot be used any more.
enum WorkerLoss: Error {
  /// The worker closed its end of the socket, which also happens when it exits.
  case closed
  /// The worker used more than this many seconds of processor time, the limit for the picture.
  case overTime(Double)
  /// The worker made no progress for this many seconds.
  case stalled(Double)
  /// The caller stopped the work.
  case stopped
  /// The worker sent an invalid message.
  case nonsense
}

extension Encodable {
  /// The value as a message's text.
  var text: [UInt8] { (try? JSONEncoder().encode(self)).map { Array($0) } ?? [] }
}

/// The error of a picture that was not made.
struct ErrorAnswer: Codable {
  private let code: String
  private let kind: LarderError.Kind
  private let problem: String
  private let remedy: LarderError.Remedy?

  init(_ error: LarderError) {
    (code, kind) = (error.code.rawValue, error.code.kind)
    (problem, remedy) = (error.problem, error.remedy)
  }

  /// The error.
  var error: LarderError {
    LarderError(LarderError.Code(code, kind), problem, remedy: remedy)
  }
}
