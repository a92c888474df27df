#include "CWebP.h"

#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>

static int outcome(VP8StatusCode status) {
  switch (status) {
  case VP8_STATUS_OK: return cwebp_done;
  case VP8_STATUS_OUT_OF_MEMORY: return cwebp_no_memory;
  case VP8_STATUS_SUSPENDED:
  case VP8_STATUS_NOT_ENOUGH_DATA: return cwebp_cut;
  default: return cwebp_broken;
  }
}

// libwebpdemux allocates memory for each chunk. Real files have far fewer chunks than this.
static const size_t most_chunks = 1 << 16;

static bool has_too_many_chunks(const uint8_t *bytes, size_t count) {
  size_t chunks = 0;
  for (size_t offset = 12; offset <= count && count - offset >= 8; chunks++) {
    const uint8_t *size = bytes + offset + 4;
    offset += 8 + (size[0] | size[1] << 8 | size[2] << 16 | (size_t)size[3] << 24);
    offset += offset & 1;
  }
  return chunks > most_chunks;
}

static cwebp_range range_of(WebPData part, const uint8_t *bytes) {
  return (cwebp_range){(size_t)(part.bytes - bytes), part.size};
}

// The payload of the first chunk with an identifier. It is empty if there is no such chunk.
static cwebp_range payload(const WebPDemuxer *demuxer, const char *identifier, const uint8_t *bytes) {
  WebPChunkIterator chunk;
  cwebp_range range = {0, 0};
  if (WebPDemuxGetChunk(demuxer, identifier, 1, &chunk)) range = range_of(chunk.chunk, bytes);
  WebPDemuxReleaseChunkIterator(&chunk);
  return range;
}

int cwebp_read(const uint8_t *bytes, size_t count, cwebp_header *header) {
  if (has_too_many_chunks(bytes, count)) return cwebp_refused;
  const WebPData file = {bytes, count};
  WebPDemuxState state;
  WebPDemuxer *demuxer = WebPDemuxPartial(&file, &state);
  if (demuxer == NULL) return state == WEBP_DEMUX_PARSE_ERROR ? cwebp_broken : cwebp_cut;
  WebPIterator frame;
  WebPBitstreamFeatures features = {0};
  int status = cwebp_cut;
  if (state == WEBP_DEMUX_DONE && WebPDemuxGetFrame(demuxer, 1, &frame)) {
    status = outcome(WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &features));
    const bool is_alike = features.width == frame.width && features.height == frame.height;
    if (status == cwebp_done && !is_alike) status = cwebp_broken;
    *header = (cwebp_header){
        .width = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_WIDTH),
        .height = WebPDemuxGetI(demuxer, WEBP_FF_CANVAS_HEIGHT),
        .frame = {frame.x_offset, frame.y_offset, frame.width, frame.height},
        .image = range_of(frame.fragment, bytes),
        .is_lossless = features.format == 2,
        .has_alpha = frame.has_alpha,
        .profile = payload(demuxer, "ICCP", bytes),
        .exif = payload(demuxer, "EXIF", bytes),
        .xmp = payload(demuxer, "XMP ", bytes),
    };
    WebPDemuxReleaseIterator(&frame);
  }
  WebPDemuxDelete(demuxer);
  return status;
}

int cwebp_decode(const uint8_t *bytes, size_t count, const cwebp_decoding *decoding) {
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return cwebp_refused;
  VP8StatusCode status = WebPGetFeatures(bytes, count, &config.input);
  if (status != VP8_STATUS_OK) return outcome(status);
  const int width = decoding->width, height = decoding->height;
  const cwebp_region region = decoding->region;
  if (config.input.width != width || config.input.height != height) return cwebp_broken;
  config.options.use_cropping = region.width != width || region.height != height;
  config.options.crop_left = region.x;
  config.options.crop_top = region.y;
  config.options.crop_width = region.width;
  config.options.crop_height = region.height;
  config.options.use_scaling = decoding->across != region.width || decoding->down != region.height;
  config.options.scaled_width = decoding->across;
  config.options.scaled_height = decoding->down;
  config.output.colorspace = decoding->has_alpha ? MODE_RGBA : MODE_BGRA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = decoding->pixels;
  config.output.u.RGBA.stride = (int)decoding->stride;
  config.output.u.RGBA.size = decoding->stride * (size_t)decoding->down;
  status = WebPDecode(bytes, count, &config);
  WebPFreeDecBuffer(&config.output);
  return outcome(status);
}

typedef struct {
  uint8_t *bytes;
  size_t count, room;
} target;

static int take(const uint8_t *bytes, size_t count, const WebPPicture *picture) {
  target *target = picture->custom_ptr;
  if (target->room - target->count < count) {
    size_t room = target->room * 2 + count + 65536;
    uint8_t *more = realloc(target->bytes, room);
    if (more == NULL) return 0;
    target->bytes = more;
    target->room = room;
  }
  memcpy(target->bytes + target->count, bytes, count);
  target->count += count;
  return 1;
}

struct cwebp_picture {
  WebPPicture whole;
  // The number of rows that have been added.
  int rows;
};

cwebp_picture *cwebp_begin(int width, int height, bool lossless, bool has_alpha) {
  cwebp_picture *picture = calloc(1, sizeof *picture);
  if (picture == NULL) return NULL;
  WebPPicture *whole = &picture->whole;
  bool is_known = WebPPictureInit(whole);
  whole->use_argb = lossless;
  whole->width = width;
  whole->height = height;
  whole->colorspace = has_alpha ? WEBP_YUV420A : WEBP_YUV420;
  if (is_known && WebPPictureAlloc(whole)) return picture;
  free(picture);
  return NULL;
}

static void copy_rows(const void *from, size_t stride, void *to, size_t to_stride, size_t bytes, int rows) {
  for (int y = 0; y < rows; y++) memcpy((char *)to + y * to_stride, (const char *)from + y * stride, bytes);
}

// Copies imported rows to their place in the whole picture.
static void place(cwebp_picture *picture, const WebPPicture *part) {
  WebPPicture *whole = &picture->whole;
  const size_t width = (size_t)part->width, half = (width + 1) / 2, y = (size_t)picture->rows;
  const int rows = part->height, half_rows = (rows + 1) / 2;
  if (whole->use_argb) {
    const size_t stride = (size_t)whole->argb_stride;
    copy_rows(part->argb, (size_t)part->argb_stride * 4, whole->argb + y * stride, stride * 4, width * 4, rows);
    return;
  }
  const size_t stride = (size_t)whole->y_stride, half_stride = (size_t)whole->uv_stride;
  const size_t part_half = (size_t)part->uv_stride;
  copy_rows(part->y, (size_t)part->y_stride, whole->y + y * stride, stride, width, rows);
  copy_rows(part->u, part_half, whole->u + y / 2 * half_stride, half_stride, half, half_rows);
  copy_rows(part->v, part_half, whole->v + y / 2 * half_stride, half_stride, half, half_rows);
  if (whole->a == NULL) return;
  const size_t alpha_stride = (size_t)whole->a_stride;
  uint8_t *alpha = whole->a + y * alpha_stride;
  if (part->a != NULL) {
    copy_rows(part->a, (size_t)part->a_stride, alpha, alpha_stride, width, rows);
  } else {
    // libwebp makes no alpha plane for opaque rows.
    for (int row = 0; row < rows; row++) memset(alpha + (size_t)row * alpha_stride, 255, width);
  }
}

bool cwebp_add(cwebp_picture *picture, const uint8_t *pixels, int stride, int order, int rows) {
  WebPPicture *whole = &picture->whole, part;
  if (picture->rows % 2 != 0 || rows < 1 || rows > whole->height - picture->rows) return false;
  if (!WebPPictureInit(&part)) return false;
  part.use_argb = whole->use_argb;
  part.width = whole->width;
  part.height = rows;
  const bool imported = order == cwebp_rgb    ? WebPPictureImportRGB(&part, pixels, stride)
                        : order == cwebp_rgba ? WebPPictureImportRGBA(&part, pixels, stride)
                                              : WebPPictureImportBGRX(&part, pixels, stride);
  if (imported) {
    place(picture, &part);
    picture->rows += rows;
  }
  WebPPictureFree(&part);
  return imported;
}

int cwebp_encode(cwebp_picture *picture, int quality, uint8_t **out, size_t *out_count) {
  WebPConfig config;
  WebPPicture *whole = &picture->whole;
  if (!WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, (float)quality) ||
      picture->rows != whole->height) {
    return cwebp_refused;
  }
  if (whole->use_argb) {
    WebPConfigLosslessPreset(&config, 6);
    // This keeps the colours of transparent pixels.
    config.exact = 1;
  }
  target target = {0};
  whole->writer = take;
  whole->custom_ptr = &target;
  if (WebPEncode(&config, whole)) {
    *out = target.bytes;
    *out_count = target.count;
    return cwebp_done;
  }
  free(target.bytes);
  const WebPEncodingError error = whole->error_code;
  bool lacks_memory = error == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                      error == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY || error == VP8_ENC_ERROR_BAD_WRITE;
  return lacks_memory ? cwebp_no_memory : cwebp_refused;
}

void cwebp_close(cwebp_picture *picture) {
  WebPPictureFree(&picture->whole);
  free(picture);
}
