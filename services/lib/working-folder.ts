import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defineError } from './service-error.ts'

const BadFolder = defineError('ERR_INVALID_CWD', 'The folder (cwd) "%s" is not a folder that can be opened.')

/** Returns the absolute path of the folder that a run works in. Throws BadFolder (400) when the path is not a folder. */
export async function workingFolder (path: string | undefined, workspace: string): Promise<string> {
  if (path === undefined) return workspace
  const absolute = resolve(workspace, path)
  const stats = path.includes('\0') ? undefined : await stat(absolute).catch(() => undefined)
  if (!stats?.isDirectory()) throw new BadFolder(path)
  return absolute
}
