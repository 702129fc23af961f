# Read by cpack before it packs: gives every file the date of the commit. Files copied from a checkout are otherwise as
# old as the checkout, and rpm only makes younger files older.
execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
  COMMAND_ERROR_IS_FATAL ANY)
