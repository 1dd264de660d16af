// SPDX-License-Identifier: Apache-2.0
// Graphs and capture. Not offered yet; what the symbol lists name is exported as unsupported anyway.
// Words: proxy/api/words.h. Included after <hip/hip_runtime_api.h> and parsed by tools/apigen.
#pragma once

extern "C" {

UNSUPPORTED hipError_t hipStreamBeginCapture(IN(stream) hipStream_t stream, hipStreamCaptureMode mode);
UNSUPPORTED hipError_t hipThreadExchangeStreamCaptureMode(INOUT() hipStreamCaptureMode* mode);

}  // extern "C"
