// SPDX-License-Identifier: Apache-2.0
// Undefines the words of proxy/api/words.h: names as short as IN must not reach other headers. Included after
// the last description header of a file, hence no include guard.
#undef CALL
#undef POST
#undef CREATE
#undef CACHED
#undef CUSTOM
#undef SENDS
#undef ANSWERS
#undef FORWARDS
#undef COMPOSED
#undef LOCAL
#undef ALIAS
#undef UNSUPPORTED
#undef WORK
#undef NO_WORK
#undef RECORDS
#undef AWAITS
#undef FILLS
#undef CAPTURE
#undef REACHES_HOST
#undef NEW_STREAM
#undef ENDS
#undef PROMPT
#undef DIRECT
#undef BRIEF
#undef CHECK
#undef SINCE
#undef MANGLED
#undef IN
#undef OUT
#undef INOUT
#undef ARRAY
#undef STRING
#undef OPTIONAL
#undef ORDINAL
#undef CONSUMES
