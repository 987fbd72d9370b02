import { open } from 'node:fs/promises'
import { constants } from 'node:fs'
import type { FileChange } from '../contracts/tool.ts'
import { commandFileKey, type Op, type Store } from '../store/index.ts'
import { wasInGit } from './git-objects.ts'
import { readWhole } from './contents.ts'

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
/** Larger files are not recorded. */
const LARGEST = 64 * 1024 ** 2

/** Creates the record of files that commands of this service wrote. A file is identified by its content, at whatever path. */
export function createCommandFiles (store: Store) {
  async function isOfCommand (path: string): Promise<boolean> {
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stat = await file.stat()
      const read = stat.isFile() ? await readWhole(file, { limit: LARGEST, size: stat.size }) : undefined
      return read === undefined || await store.get(commandFileKey(store.digest(read.digest))) !== undefined
    } finally {
      await file.close()
    }
  }

  /**
   * Returns a function that says whether git had the content of a file before a time. Git's own files do not count if a command wrote them.
   */
  function createGitTest (before: number): (path: string) => Promise<boolean> {
    const known = new Map<string, Promise<boolean>>()
    const mayVouch = (path: string): Promise<boolean> => {
      if (!known.has(path)) known.set(path, isOfCommand(path).then((is) => !is, () => false))
      return known.get(path)!
    }
    return (path) => wasInGit(path, before, mayVouch)
  }

  return {
    /**
     * Returns the operations that store which contents a command wrote into files, except those that git had before. `at`: when the command
     * began, in milliseconds since the Unix epoch.
     */
    async written (changes: readonly FileChange[], at: number): Promise<Op[]> {
      const ops = new Map<string, Op>()
      const isOfGit = createGitTest(at)
      for (const { path, after } of changes) {
        if (after === null || ops.has(after) || await isOfGit(path)) continue
        ops.set(after, { type: 'put', key: commandFileKey(store.digest(after)), value: { at } })
      }
      return [...ops.values()]
    },

    /** Returns who wrote a file: a command, or the author of a commit that existed before a time; undefined if that is not known. */
    async writerOf (path: string, before: number): Promise<'command' | 'git' | undefined> {
      if (await isOfCommand(path).catch(() => false)) return 'command'
      return await createGitTest(before)(path) ? 'git' : undefined
    }
  }
}
