import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** Whether something lies at a path that a report or a goal names. Only that is told, to nobody but the rules. */
export const existing = (cwd: string) => async (path: string): Promise<boolean> => {
  const absolute = path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(cwd, path)
  return stat(absolute).then(() => true, () => false)
}
