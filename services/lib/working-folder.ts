import { stat } from 'node:fs/promises'
import { defineError } from './service-error.ts'
import { readPath } from './windows-path.ts'

const BadFolder = defineError('ERR_INVALID_CWD', 'The folder (cwd) "%s" is not a folder that can be opened.')

/** Returns the absolute path of the folder that a run works in. Throws BadFolder (400) when the path is not a folder. */
export async function workingFolder (path: string | undefined, workspace: string): Promise<string> {
  if (path === undefined) return workspace
  const reading = readPath(path, workspace)
  if (path.includes('\0') || 'refused' in reading) throw new BadFolder(path)
  const stats = await stat(reading.path).catch(() => undefined)
  if (!stats?.isDirectory()) throw new BadFolder(path)
  return reading.path
}
