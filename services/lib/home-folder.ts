import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Thrown if no place for configuration and data is known. */
class NoHome extends Error {
  readonly exitCode = 78
  override readonly message = 'This user has no home directory: set LOCAL_AGENT_HOME to a folder that this user may write to.'
}

/**
 * Returns the configuration directory: the chosen one, or `.local-agent` in the user's home. Throws NoHome if none was chosen and the user
 * has no home.
 */
export function homeFolder (chosen: string | undefined): string {
  if (chosen !== undefined) return resolve(chosen)
  let home = ''
  try {
    home = homedir()
  } catch {}
  if (home === '') throw new NoHome()
  return resolve(join(home, '.local-agent'))
}
