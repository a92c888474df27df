// The library's public types are declared in several modules. This module re-exports each of them by name, and nothing
// else from those modules.
//
// A typealias would not be enough: without an import of the module that declares a type, a program cannot use its
// members. (SE-0444) `@_exported` is Swift's only way to re-export.

@_exported public import struct Base.LarderError
@_exported public import struct Cache.RunID
@_exported public import struct Cache.VerifyReport
@_exported public import struct Catalog.CatalogDiff
@_exported public import struct Catalog.CatalogError
@_exported public import struct Catalog.CatalogFile
@_exported public import struct Catalog.Coordinate
@_exported public import struct Catalog.ImageReference
@_exported public import struct Catalog.ItemDetail
@_exported public import struct Catalog.Price
@_exported public import enum Catalog.SkipLimit
@_exported public import struct Catalog.StoreItem
@_exported public import struct Orders.Delivery
@_exported public import struct Orders.Order
@_exported public import struct Orders.OrderID
@_exported public import struct Orders.OrderLine
@_exported public import struct Orders.OrderRequest
@_exported public import enum Orders.OrderState
@_exported public import struct Orders.SendReport
@_exported public import struct Pipeline.ExportOptions
@_exported public import struct Pipeline.ExportReport
@_exported public import struct Pipeline.LowestPrice
@_exported public import struct Pipeline.RunDiff
@_exported public import struct Pipeline.ShownItem
@_exported public import struct Pipeline.ShownPicture
@_exported public import struct Pipeline.SweepOptions
@_exported public import struct Pipeline.SweepReport
@_exported public import struct Pipeline.SyncProgress
@_exported public import struct Pipeline.SyncReport

extension Shop {
  /// A sync's report.
  public typealias Report = SyncReport
  /// The progress of a sync.
  public typealias Progress = SyncProgress
  /// An item with its detail and its pictures.
  public typealias Item = ShownItem
  /// A picture of an item.
  public typealias Picture = ShownPicture
  /// The changes between two runs.
  public typealias Changes = RunDiff
  /// The result of a check of every file.
  public typealias Verification = VerifyReport
  /// The limits of a sweep, which removes old runs and unneeded pictures.
  public typealias SweepOptions = Pipeline.SweepOptions
  /// A sweep's report.
  public typealias Sweep = SweepReport
  /// The layout of an export.
  public typealias ExportOptions = Pipeline.ExportOptions
  /// An export's report.
  public typealias Export = ExportReport
}

extension Order {
  /// A line of an order.
  public typealias Line = OrderLine
  /// The state of an order at the shop.
  public typealias State = OrderState
}

extension OrderBook {
  /// A delivery's report.
  public typealias Delivery = SendReport
}
