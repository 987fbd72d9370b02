import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { defineError } from './service-error.ts'
import { readPath } from './windows-path.ts'

const BadFolder = defineError(
  'ERR_INVALID_CWD',
  'The folder (cwd) "%s" is not a folder that can be opened. Check that it exists, and that you may read it.'
)

const NoWorkspace = defineError(
  'ERR_NO_WORKSPACE',
  'There is no folder to work in: send "cwd". The service has no workspace, and GET /health says why.'
)

/**
 * Returns the absolute path of the working folder of a run. Throws BadFolder (400) if the path is not a folder, and NoWorkspace (400) if
 * none is named and there is no workspace ('').
 */
export async function workingFolder (path: string | undefined, workspace: string): Promise<string> {
  if (workspace === '' && (path === undefined || !isAbsolute(path))) throw new NoWorkspace()
  if (path === undefined) return workspace
  const reading = readPath(path, workspace)
  if (path.includes('\0') || 'refused' in reading) throw new BadFolder(path)
  const stats = await stat(reading.path).catch(() => undefined)
  if (!stats?.isDirectory()) throw new BadFolder(path)
  return reading.path
}
