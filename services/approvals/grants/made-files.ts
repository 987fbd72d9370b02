import type { FileChange, ShownPlace } from '../../contracts/tool.ts'
import { madeFilesKey, type Op, type Store, unlessDamaged } from '../../store/index.ts'
import { fileIn, isNothing } from '../../tools/index.ts'

/** The most files of a task that are remembered as its own; the newest are kept. */
const MOST_FILES = 500

/** The files that a task has made: by real path, the digest of the content that the task left; the newest are last. */
type MadeFiles = ReadonlyMap<string, string>

/** Returns the paths with something that the task did not make or that somebody has changed since. */
export const othersAmong = (shown: readonly ShownPlace[], made: MadeFiles): string[] =>
  shown.filter(({ path, state }) => !isNothing(state) && !isLeft(made, path, fileIn(state)?.digest)).map(({ path }) => path)

const isLeft = (made: MadeFiles, path: string, digest: string | undefined) => digest !== undefined && made.get(path) === digest

/**
 * Returns the files that the task has made, updated with the changes of a call. A file that an edit or a move makes from a file of others
 * is not the task's own.
 */
function madeAfter (made: MadeFiles, changes: readonly FileChange[]): MadeFiles {
  const isOwn = changes.every(({ path, before }) => before === null || isLeft(made, path, before))
  const files = new Map(made)
  for (const { path, after } of changes) {
    files.delete(path)
    // A later change can be recognised only with a digest of the whole content.
    if (isOwn && after?.startsWith('sha256:')) files.set(path, after)
  }
  return files
}

/**
 * Reads and changes the records of the files that tasks have made. A damaged record counts as empty, so that grants cover none of its
 * files.
 */
export function createMadeFiles (store: Store) {
  const of = async (taskId: string): Promise<MadeFiles> =>
    new Map(await unlessDamaged(store.get<Array<[string, string]>>(madeFilesKey(taskId))) ?? [])

  return {
    of,

    /** Returns the operations that record what a call of a task has changed. */
    async changed (taskId: string, changes: readonly FileChange[]): Promise<Op[]> {
      const files = [...madeAfter(await of(taskId), changes)].slice(-MOST_FILES)
      return [{ type: 'put', key: madeFilesKey(taskId), value: files }]
    },

    removal: (taskId: string): Op => ({ type: 'del', key: madeFilesKey(taskId) })
  }
}
