import { type FSWatcher, lstatSync, watch } from 'node:fs'
import { join } from 'node:path'

/** The most folders that are watched in all; the system has a limit, too. */
const MOST_WATCHED = 2_000
/** The most folders that are watched for one trigger. */
export const MOST_OF_ONE = 500

/** Whether the system itself watches what is below a folder. Linux does not: Node.js would watch each file. */
const IS_RECURSIVE = process.platform === 'darwin' || process.platform === 'win32'

/**
 * Watches folders for changes of their entries. It only hints that something might have changed: the changes themselves are found by
 * comparing. A folder that cannot be watched is compared more often instead.
 */
export function createFolderWatches () {
  let count = 0

  /** Opens the watches for one trigger. */
  function open (changed: () => void) {
    const watched = new Map<string, { ino: number, watcher: FSWatcher }>()

    function leave (path: string): void {
      const known = watched.get(path)
      if (known === undefined) return
      watched.delete(path)
      count--
      known.watcher.close()
    }

    function enter (path: string): 'known' | 'new' | 'not' {
      try {
        const { ino } = lstatSync(path)
        if (watched.get(path)?.ino === ino) return 'known'
        // Another folder has replaced the one with that path.
        leave(path)
        if (count >= MOST_WATCHED) return 'not'
        const watcher = watch(path, { persistent: false, recursive: IS_RECURSIVE }, changed)
        count++
        watched.set(path, { ino, watcher })
        watcher.on('error', () => {
          leave(path)
          changed()
        })
        return 'new'
      } catch {
        // The folder was removed or cannot be read, or the system watches as many as it can.
        return 'not'
      }
    }

    return {
      /**
       * Watches these folders, relative to `root`, and no others. Returns whether all of them are watched, and whether one was not watched
       * before: a change in it a moment ago has given no hint.
       */
      set (root: string, folders: readonly string[]): { isWhole: boolean, hasNew: boolean } {
        const wanted = IS_RECURSIVE ? [root] : [root, ...folders.map((folder) => join(root, folder.slice(0, -1)))]
        const keep = new Set(wanted.slice(0, MOST_OF_ONE))
        for (const path of [...watched.keys()]) if (!keep.has(path)) leave(path)
        const entered = [...keep].map(enter)
        return { isWhole: !entered.includes('not') && keep.size === wanted.length, hasNew: entered.includes('new') }
      },
      close (): void {
        for (const path of [...watched.keys()]) leave(path)
      }
    }
  }

  return { open }
}
