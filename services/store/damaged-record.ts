/** For what can be given anew: a record that is damaged on the disk holds nothing. Any other error is thrown. */
export function emptyIfDamaged (error: { code?: string }): Record<string, never> {
  if (error.code !== 'ERR_RECORD_DAMAGED') throw error
  return {}
}
