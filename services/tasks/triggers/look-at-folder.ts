import type { FilesTrigger, TriggerState } from '../../../schemas/triggers.ts'
import { relativeGlob, searchScope, ToolFailed } from '../../tools/index.ts'
import type { TaskDeps } from '../task-deps.ts'
import type { SeenFile } from './file-changes.ts'
import { MOST_OF_ONE } from './folder-watches.ts'

/** Files of a folder, and folders below it, that a trigger may look at. */
const MOST_FILES = 20_000
/** A look at a large folder takes this long at most; milliseconds. */
const LOOK_LIMIT_MS = 600_000

type Looked =
  | { is: 'watching', root: string, files: SeenFile[], folders: string[], hasMoreFolders: boolean, closed: string[] }
  | { is: 'too_large' | 'missing' | 'refused' }

type Deps = Pick<TaskDeps, 'paths' | 'transform'>

async function requestOf ({ path, glob = '**' }: FilesTrigger, cwd: string, paths: Deps['paths']) {
  const scope = await searchScope(path, cwd, paths)
  if (scope.file !== undefined) throw new ToolFailed(`${JSON.stringify(path)} is a file: name its folder, and the file by glob.`)
  return { ...scope, glob: relativeGlob(glob, scope.folder), most: MOST_FILES, mostFolders: MOST_OF_ONE }
}

const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as { code?: string })?.code ?? '')

/** Looks at the folder of a trigger, in a worker. Rejects with the reason of the signal. */
export async function lookAtFolder (trigger: FilesTrigger, cwd: string, { paths, transform }: Deps, signal: AbortSignal): Promise<Looked> {
  let request
  try {
    request = await requestOf(trigger, cwd, paths)
  } catch (error) {
    return { is: isAbsent(error) ? 'missing' : 'refused' }
  }
  try {
    const scanned = await transform.run('scanFiles', request, { signal, ms: LOOK_LIMIT_MS })
    if (scanned.is === 'beyond') return { is: 'too_large' }
    if (scanned.is === 'closed') return { is: 'missing' }
    return { ...scanned, is: 'watching', root: request.folder }
  } catch {
    signal.throwIfAborted()
    return { is: 'missing' }
  }
}

/** Returns why a trigger cannot watch its folder; undefined when that is there and file tools may read it. */
export async function folderProblem (trigger: FilesTrigger, cwd: string, paths: Deps['paths']): Promise<string | undefined> {
  try {
    await requestOf(trigger, cwd, paths)
    return undefined
  } catch (error) {
    if (isAbsent(error)) return `The folder ${JSON.stringify(trigger.path)} of a trigger is not there, or cannot be read.`
    return `A trigger cannot watch this folder: ${(error as Error).message}`
  }
}

const TEXTS: Partial<Record<TriggerState['state'], string>> = {
  too_large: `The folder holds more than ${MOST_FILES} files, so it is not watched. Name a smaller folder.`,
  missing: 'The folder is not there, or cannot be read. It is looked for every minute.',
  refused: 'File tools may not read this folder: make it one of "roots", or name another one.',
  too_many: 'The tasks have more triggers for files than are watched. Remove some.',
  gone: 'The other task was deleted. Remove this trigger, or name another task.'
}

/** What is wrong with a trigger in that state, as a sentence. */
export const stateText = (state: TriggerState['state']): { text?: string } => TEXTS[state] === undefined ? {} : { text: TEXTS[state] }
