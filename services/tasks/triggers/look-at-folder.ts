import type { FilesTrigger, TriggerState } from '../../../schemas/triggers.ts'
import { resolve } from 'node:path'
import { abortKind } from '../../lib/abort.ts'
import { systemClock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { relativeGlob, searchScope, ToolFailed, type Transform } from '../../tools/index.ts'
import type { TaskDeps } from '../task-deps.ts'
import { MOST_OF_ONE } from '../../workspace/index.ts'
import type { SeenFile } from './file-changes.ts'

/** The most files below the folder of a trigger. */
const MOST_FILES = 20_000
/**
 * A folder from which no name can be read within this time, in milliseconds, is on a file system that hangs,
 * such as a mount whose server is gone.
 */
const KNOCK_MS = 5_000
/** A look that takes longer, in milliseconds, starts again in a thread for slow folders, so that it does not delay other looks. */
const QUICK_MS = 20_000
/** The time limit of a look in the thread for slow folders; milliseconds. */
const LOOK_LIMIT_MS = 600_000

type Looked =
  | { is: 'watching', root: string, files: SeenFile[], folders: string[], hasMoreFolders: boolean, closed: string[] }
  | { is: 'too_large' | 'missing' | 'refused' }

type Deps = Pick<TaskDeps, 'paths' | 'transform' | 'slowTransform'>

/** The speed of the looks at one folder so far. */
export interface LookPace {
  /** The last look took longer than QUICK_MS. */
  isSlow?: true
  /** Pending while a thread waits for the file system of the folder. Until it settles, no other thread reads the folder. */
  stuck?: Promise<unknown>
}

async function requestOf ({ path, glob = '**' }: FilesTrigger, cwd: string, paths: Deps['paths']) {
  const scope = await searchScope(path, cwd, paths)
  if (scope.file !== undefined) throw new ToolFailed(`${JSON.stringify(path)} is a file: name its folder, and the file by glob.`)
  return { ...scope, glob: relativeGlob(glob, scope.folder), most: MOST_FILES, mostFolders: MOST_OF_ONE }
}

const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as { code?: string })?.code ?? '')

/**
 * Lists the files in the folder of a trigger, in a worker. Calls `slow` if that takes long, so that the caller
 * can go on to other folders. Rejects with the reason of the signal.
 */
export async function lookAtFolder (
  trigger: FilesTrigger,
  cwd: string,
  { paths, transform, slowTransform }: Deps,
  { pace, slow, signal }: { pace: LookPace, slow: () => void, signal: AbortSignal }
): Promise<Looked> {
  if (pace.stuck !== undefined) return { is: 'missing' }
  /** Resolves to the result of `work`, or to undefined if `work` failed. */
  async function run<T> (work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      const { stuck } = error as { stuck?: Promise<unknown> }
      if (stuck !== undefined) {
        pace.stuck = stuck
        void stuck.then(() => delete pace.stuck)
      }
      return undefined
    }
  }

  // A file system that hangs blocks the thread that reads it. So a worker tries it first, and only then one of the few threads
  // that the whole service shares. On Windows the path rules come first, because they decide which paths can be read at all.
  if (process.platform !== 'win32') {
    const answer = await run(() => transform.run('knock', resolve(cwd, trigger.path), { signal, ms: KNOCK_MS }))
    if (answer === undefined) return { is: 'missing' }
  }
  let request: Awaited<ReturnType<typeof requestOf>>
  try {
    request = await withDeadline({ clock: systemClock, ms: KNOCK_MS, signal }, () => requestOf(trigger, cwd, paths))
  } catch (error) {
    signal.throwIfAborted()
    return { is: isAbsent(error) || abortKind(error) === 'timeout' ? 'missing' : 'refused' }
  }
  const scan = (worker: Transform, ms: number) => run(() => worker.run('scanFiles', request, { signal, ms }))
  let scanned = pace.isSlow ? undefined : await scan(transform, QUICK_MS)
  if (scanned === undefined && pace.stuck === undefined) {
    pace.isSlow = true
    slow()
    const began = systemClock.monotonic()
    scanned = await scan(slowTransform, LOOK_LIMIT_MS)
    if (scanned !== undefined && systemClock.monotonic() - began < QUICK_MS) delete pace.isSlow
  }
  if (scanned === undefined || scanned.is === 'closed') return { is: 'missing' }
  return scanned.is === 'beyond' ? { is: 'too_large' } : { ...scanned, is: 'watching', root: request.folder }
}

/** Returns why a trigger cannot watch its folder; undefined if the folder exists and the file tools are allowed to read it. */
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
  missing: 'The folder is not there, cannot be read, or its disk does not answer. It is looked for every minute.',
  refused: 'File tools may not read this folder: make it one of "roots", or name another one.',
  too_many: 'The tasks have more triggers for files than are watched. Remove some.',
  gone: 'The other task was deleted. Remove this trigger, or name another task.'
}

/** Returns the problem of a trigger in this state as a sentence; {} for a state without a problem. */
export const stateText = (state: TriggerState['state']): { text?: string } => TEXTS[state] === undefined ? {} : { text: TEXTS[state] }
