// The public types of the library are declared in several modules. This module re-exports each of the types by name,
// and nothing else from those modules.
//
// A typealias would not be enough. If a program does not import the module that declares a type, it cannot use the
// members of the type. (SE-0444) `@_exported` is Swift's only way to re-export.

@_exported public import struct Base.LarderError
@_exported public import enum Cache.ChangeKind
@_exported public import struct Cache.RunID
@_exported public import struct Cache.VerifyReport
@_exported public import struct Catalog.CatalogDiff
@_exported public import struct Catalog.CatalogError
@_exported public import struct Catalog.CatalogFile
@_exported public import struct Catalog.Coordinate
@_exported public import struct Catalog.ImageReference
@_exported public import struct Catalog.ItemDetail
@_exported public import struct Catalog.Price
@_exported public import struct Catalog.SkipLimit
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
