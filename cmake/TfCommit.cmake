# Writes what the sources are into FILE: the commit, "and changes" where files differ, or the release.
execute_process(COMMAND git -C ${SOURCE} describe --always --exclude=* --abbrev=10 --dirty=\ and\ changes
                OUTPUT_VARIABLE text ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(text "of release ${VERSION}")
endif()
set(old "")
if(EXISTS ${FILE})
  file(READ ${FILE} old)
endif()
if(NOT old STREQUAL "${text}\n")
  file(WRITE ${FILE} "${text}\n")
endif()
