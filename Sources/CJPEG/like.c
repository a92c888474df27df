#include "like.h"

// libjpeg-turbo keeps each table value, multiplied by 8, in 16 bits. Clamping loses nothing, because no coefficient of
// 8-bit samples reaches half of `largest_divisor`.
enum { largest_divisor = 65535 / 8 };

static bool has_chroma(j_compress_ptr target) {
  return target->jpeg_color_space == JCS_YCbCr || target->jpeg_color_space == JCS_YCCK;
}

// The standard's table for a component: 1 for chroma, and 0 for other components.
static int standard_slot(j_compress_ptr target, int component) {
  return has_chroma(target) && (component == 1 || component == 2);
}

static JQUANT_TBL table_of(j_decompress_ptr source, j_compress_ptr target, int component) {
  const jpeg_component_info *info = &source->comp_info[component];
  if (info->quant_table) return *info->quant_table;
  if (info->quant_tbl_no >= 0 && info->quant_tbl_no < NUM_QUANT_TBLS &&
      source->quant_tbl_ptrs[info->quant_tbl_no]) {
    return *source->quant_tbl_ptrs[info->quant_tbl_no];
  }
  // The source defines the table of this component in a later scan. Until then, the table of jpeg_set_defaults is used.
  return *target->quant_tbl_ptrs[standard_slot(target, component)];
}

void like_start(j_decompress_ptr source, j_compress_ptr target) {
  JQUANT_TBL tables[NUM_QUANT_TBLS];
  int count = 0;
  if (source->num_components < 1 || source->num_components > NUM_QUANT_TBLS) {
    ERREXIT2(target, JERR_COMPONENT_COUNT, source->num_components, NUM_QUANT_TBLS);
  }
  target->input_components = source->num_components;
  target->in_color_space = source->jpeg_color_space;
  jpeg_set_defaults(target);
  jpeg_set_colorspace(target, source->jpeg_color_space);
  for (int i = 0; i < source->num_components; i++) {
    jpeg_component_info *info = &target->comp_info[i];
    info->component_id = source->comp_info[i].component_id;
    info->h_samp_factor = source->comp_info[i].h_samp_factor;
    info->v_samp_factor = source->comp_info[i].v_samp_factor;
    JQUANT_TBL table = table_of(source, target, i);
    int slot = 0;
    while (slot < count && memcmp(tables[slot].quantval, table.quantval, sizeof table.quantval)) {
      slot++;
    }
    if (slot == count) tables[count++] = table;
    info->quant_tbl_no = slot;
  }
  for (int slot = 0; slot < count; slot++) {
    if (target->quant_tbl_ptrs[slot] == NULL) {
      target->quant_tbl_ptrs[slot] = jpeg_alloc_quant_table((j_common_ptr)target);
    }
    memcpy(target->quant_tbl_ptrs[slot]->quantval, tables[slot].quantval,
           sizeof tables[slot].quantval);
    target->quant_tbl_ptrs[slot]->sent_table = FALSE;
  }
  if (source->saw_JFIF_marker) {
    if (source->JFIF_major_version == 1) {
      target->JFIF_major_version = source->JFIF_major_version;
      target->JFIF_minor_version = source->JFIF_minor_version;
    }
    target->density_unit = source->density_unit;
    target->X_density = source->X_density;
    target->Y_density = source->Y_density;
  }
  // If a file has four components, Adobe's marker means that CMYK is inverted. The samples stay inverted, so the new
  // file keeps the marker.
  if (source->num_components == 4) target->write_Adobe_marker = source->saw_Adobe_marker;
}

void clamp_tables(j_compress_ptr target) {
  int blocks = 0;
  for (int i = 0; i < target->num_components; i++) {
    jpeg_component_info *info = &target->comp_info[i];
    blocks += info->h_samp_factor * info->v_samp_factor;
    UINT16 *values = target->quant_tbl_ptrs[info->quant_tbl_no]->quantval;
    for (int k = 0; k < DCTSIZE2; k++) {
      if (values[k] == 0) values[k] = 1;
      if (values[k] > largest_divisor) values[k] = largest_divisor;
    }
  }
  if (target->num_components == 1 || blocks <= C_MAX_BLOCKS_IN_MCU) return;
  for (int i = 0; i < target->num_components; i++) {
    target->comp_info[i].h_samp_factor = target->comp_info[i].v_samp_factor = 1;
  }
}

void like_chroma(j_compress_ptr target, int chroma) {
  if (chroma == 0 || !has_chroma(target)) return;
  for (int i = 0; i < target->num_components; i++) {
    bool is_full = standard_slot(target, i) == 0 && chroma != 444;
    target->comp_info[i].h_samp_factor = is_full ? 2 : 1;
    target->comp_info[i].v_samp_factor = is_full && chroma == 420 ? 2 : 1;
  }
}

void like_quality(j_compress_ptr target, int quality) {
  if (quality <= 0) return;
  jpeg_set_quality(target, quality, TRUE);
  for (int i = 0; i < target->num_components; i++) {
    target->comp_info[i].quant_tbl_no = standard_slot(target, i);
  }
}

void raise_quality(j_compress_ptr target) {
  // The sums of the standard's two tables at the quality `cjpeg_least_fine`.
  static const long standard[] = {1858, 2780};
  for (int i = 0; i < target->num_components; i++) {
    const UINT16 *values = target->quant_tbl_ptrs[target->comp_info[i].quant_tbl_no]->quantval;
    long sum = 0;
    for (int k = 0; k < DCTSIZE2; k++) sum += values[k];
    if (sum > standard[standard_slot(target, i)]) {
      like_quality(target, cjpeg_least_fine);
      return;
    }
  }
}

void like_transposed(j_compress_ptr target) {
  for (int i = 0; i < target->num_components; i++) {
    int across = target->comp_info[i].h_samp_factor;
    target->comp_info[i].h_samp_factor = target->comp_info[i].v_samp_factor;
    target->comp_info[i].v_samp_factor = across;
  }
  for (int i = 0; i < NUM_QUANT_TBLS; i++) {
    JQUANT_TBL *table = target->quant_tbl_ptrs[i];
    if (table == NULL) continue;
    for (int y = 0; y < DCTSIZE; y++) {
      for (int x = 0; x < y; x++) {
        UINT16 value = table->quantval[y * DCTSIZE + x];
        table->quantval[y * DCTSIZE + x] = table->quantval[x * DCTSIZE + y];
        table->quantval[x * DCTSIZE + y] = value;
      }
    }
  }
}
