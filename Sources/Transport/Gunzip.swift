import CUnpack

/// Decompresses gzip data that arrives in pieces. (RFC 1952)
///
/// The data can consist of several members, one after the other. Bytes after the last member are ignored, as browsers do.
package final class Gunzip {
  /// The reason why data cannot be decompressed.
  package enum Fault: Error {
    case damaged, outOfMemory
  }

  // zlib requires that its state stays at the same address.
  private let stream: UnsafeMutablePointer<z_stream>
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
  private var status = Z_OK
  /// Whether no byte has arrived yet.
  private var isEmpty = true
  /// Whether bytes arrived after the last member.
  private var isPadded = false

  /// Prepares to decompress.
  ///
  /// - Throws: ``Fault/outOfMemory``.
  package init() throws(Fault) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    // 15 is the size of the window. With 32, data in the format of zlib is decompressed too, because some servers send it
    // under the name of gzip. The call is that of the macro `inflateInit2`.
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(stream, 15 + 32, ZLIB_VERSION, size) == Z_OK else { throw .outOfMemory }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    room.deallocate()
  }

  /// Whether the data that has arrived so far ends with the end of a member, or is empty.
  package var isWhole: Bool { isEmpty || status == Z_STREAM_END }

  /// Decompresses the next bytes.
  ///
  /// - Parameters:
  ///   - packed: The bytes.
  ///   - take: Receives the decompressed bytes, piece by piece. They are valid only during the call.
  /// - Throws: ``Fault``, or an error of `take`.
  package func decompress(
    _ packed: UnsafeRawBufferPointer,
    _ take: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var rest = packed.bindMemory(to: UInt8.self)
    while let first = rest.first, !isPadded {
      isEmpty = false
      if status == Z_STREAM_END {
        isPadded = first != 0x1F
        if isPadded { return }
        inflateReset(stream)
      }
      let given = min(rest.count, 1 << 20)
      stream.pointee.next_in = UnsafeMutablePointer(mutating: rest.baseAddress)
      stream.pointee.avail_in = UInt32(given)
      repeat {
        stream.pointee.next_out = room.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(room.count)
        status = inflate(stream, Z_NO_FLUSH)
        let made = room.count - Int(stream.pointee.avail_out)
        if made > 0 { try take(UnsafeRawBufferPointer(rebasing: room[..<made])) }
      } while status == Z_OK && stream.pointee.avail_out == 0
      let taken = given - Int(stream.pointee.avail_in)
      rest = UnsafeBufferPointer(rebasing: rest[taken...])
      switch status {
      case Z_STREAM_END: break
      // zlib says `Z_BUF_ERROR` if it has taken all bytes and had nothing more to write.
      case Z_OK where taken == given, Z_BUF_ERROR where taken == given: break
      case Z_MEM_ERROR: throw Fault.outOfMemory
      default: throw Fault.damaged
      }
    }
  }
}
