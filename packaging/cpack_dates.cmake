# Read by cpack before it packs: every file is as old as the commit. What is copied from a checkout is otherwise as old as
# that, and rpm only makes younger files older.
execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch --no-dereference --date=@$ENV{SOURCE_DATE_EPOCH} {} +
  COMMAND_ERROR_IS_FATAL ANY)
