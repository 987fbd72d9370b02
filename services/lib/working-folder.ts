import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { createError } from '@fastify/error'

const BadFolder = createError('ERR_INVALID_CWD', 'The folder (cwd) "%s" is not a folder that can be opened.', 400)

/** The absolute path of the folder a run works in; throws BadFolder (400) when there is none at that path. */
export async function workingFolder (path: string | undefined, workspace: string): Promise<string> {
  if (path === undefined) return workspace
  const absolute = resolve(workspace, path)
  const found = path.includes('\0') ? undefined : await stat(absolute).catch(() => undefined)
  if (!found?.isDirectory()) throw new BadFolder(path)
  return absolute
}
