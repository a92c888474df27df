// What Imaging calls is defined here, hidden from the library itself, and passes each call on to the function of the
// same name.
#pragma GCC visibility push(hidden)
#include "CLCMS.h"
#pragma GCC visibility pop

#include "COpening.h"

#define LIBRARY "liblcms2.so.2"

// Result, name, parameters, arguments.
#define FUNCTIONS(F)                                                                                \
  F(cmsToneCurve *, cmsBuildParametricToneCurve,                                                    \
    (cmsContext context, cmsInt32Number type, const cmsFloat64Number *numbers),                     \
    (context, type, numbers))                                                                       \
  F(cmsToneCurve *, cmsBuildTabulatedToneCurve16,                                                   \
    (cmsContext context, cmsUInt32Number count, const cmsUInt16Number *values),                     \
    (context, count, values))                                                                       \
  F(cmsBool, cmsCloseProfile, (cmsHPROFILE profile), (profile))                                     \
  F(cmsHPROFILE, cmsCreateProfilePlaceholder, (cmsContext context), (context))                      \
  F(cmsHPROFILE, cmsCreateRGBProfile,                                                               \
    (const cmsCIExyY *white, const cmsCIExyYTRIPLE *primaries, cmsToneCurve *const *curves),        \
    (white, primaries, curves))                                                                     \
  F(cmsHPROFILE, cmsCreate_sRGBProfile, (void), ())                                                 \
  F(cmsHTRANSFORM, cmsCreateTransform,                                                              \
    (cmsHPROFILE source, cmsUInt32Number format, cmsHPROFILE target, cmsUInt32Number target_format, \
     cmsUInt32Number intent, cmsUInt32Number flags),                                                \
    (source, format, target, target_format, intent, flags))                                         \
  F(void, cmsDeleteTransform, (cmsHTRANSFORM transform), (transform))                               \
  F(void, cmsDoTransform,                                                                           \
    (cmsHTRANSFORM transform, const void *from, void *to, cmsUInt32Number count),                   \
    (transform, from, to, count))                                                                   \
  F(void, cmsFreeToneCurve, (cmsToneCurve * curve), (curve))                                        \
  F(cmsColorSpaceSignature, cmsGetColorSpace, (cmsHPROFILE profile), (profile))                     \
  F(cmsProfileClassSignature, cmsGetDeviceClass, (cmsHPROFILE profile), (profile))                  \
  F(int, cmsGetEncodedCMMversion, (void), ())                                                       \
  F(cmsHPROFILE, cmsOpenProfileFromMem, (const void *bytes, cmsUInt32Number count), (bytes, count)) \
  F(cmsPipeline *, cmsPipelineAlloc,                                                                \
    (cmsContext context, cmsUInt32Number input, cmsUInt32Number output), (context, input, output))  \
  F(void, cmsPipelineFree, (cmsPipeline * pipeline), (pipeline))                                    \
  F(cmsBool, cmsPipelineInsertStage,                                                                \
    (cmsPipeline * pipeline, cmsStageLoc place, cmsStage * stage), (pipeline, place, stage))        \
  F(cmsBool, cmsSaveProfileToMem, (cmsHPROFILE profile, void *bytes, cmsUInt32Number *count),       \
    (profile, bytes, count))                                                                        \
  F(void, cmsSetColorSpace, (cmsHPROFILE profile, cmsColorSpaceSignature space), (profile, space))  \
  F(void, cmsSetDeviceClass, (cmsHPROFILE profile, cmsProfileClassSignature kind), (profile, kind)) \
  F(void, cmsSetPCS, (cmsHPROFILE profile, cmsColorSpaceSignature space), (profile, space))         \
  F(void, cmsSetProfileVersion, (cmsHPROFILE profile, cmsFloat64Number version),                    \
    (profile, version))                                                                             \
  F(cmsStage *, cmsStageAllocCLut16bit,                                                             \
    (cmsContext context, cmsUInt32Number side, cmsUInt32Number input, cmsUInt32Number output,       \
     const cmsUInt16Number *table),                                                                 \
    (context, side, input, output, table))                                                          \
  F(cmsBool, cmsStageSampleCLut16bit,                                                               \
    (cmsStage * stage, cmsSAMPLER16 sampler, void *cargo, cmsUInt32Number flags),                   \
    (stage, sampler, cargo, flags))                                                                 \
  F(cmsBool, cmsWriteTag, (cmsHPROFILE profile, cmsTagSignature tag, const void *data),             \
    (profile, tag, data))

COPENING_FORWARDED(FUNCTIONS)
COPENING_ONCE(clcms_open, LIBRARY, functions)

COPENING_NOTE("colours", "recommended", "Converts colours and inks by their profiles", LIBRARY)
