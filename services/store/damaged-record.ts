/** Returns an empty value for a record that is damaged on the disk, for data that the user can enter again. Rethrows any other error. */
export function emptyIfDamaged (error: { code?: string }): Record<string, never> {
  if (error.code !== 'ERR_RECORD_DAMAGED') throw error
  return {}
}
