import { lstat, realpath } from 'node:fs/promises'
import type { FolderIdentity, Tool, WorkFolder } from '../contracts/tool.ts'
import type { PathPolicy } from './path-policy.ts'

/** How the present folder of a call compares with the approved one: it is the same, another folder, or gone. */
type Whereabouts = { is: 'same' } | { is: 'moved', to: WorkFolder } | { is: 'gone' }

type Find = (name: string) => Pick<Tool, 'effects'> | undefined

/** Returns the folder that a path leads to now; undefined if there is none or it cannot be reached. */
export async function locateFolder (path: string): Promise<WorkFolder | undefined> {
  try {
    const real = await realpath(path)
    // lstat does not follow a symbolic link that has replaced the folder since realpath: that would be another folder.
    const found = await lstat(real, { bigint: true })
    return found.isDirectory() ? { path: real, dev: String(found.dev), ino: String(found.ino) } : undefined
  } catch {
    return undefined
  }
}

export const isSameFolder = (a: FolderIdentity, b: FolderIdentity): boolean => a.dev === b.dev && a.ino === b.ino

/** Finds the folders that calls work in: the folder that the input names if the tool takes one, else `cwd`. */
export function createWorkFolders (find: Find, paths: Pick<PathPolicy, 'meant'>) {
  /** Returns the folder that an input names; undefined if there is none, or if the path is refused, which is then not looked up. */
  async function locateNamed (folder: string, cwd: string): Promise<WorkFolder | undefined> {
    try {
      return await locateFolder(paths.meant(folder, cwd))
    } catch {
      return undefined
    }
  }
  const folderFromInput = (name: string, input: unknown): string | undefined => find(name)?.effects?.command?.(input).folder

  return {
    /** Returns the folder to show in an approval request; undefined if `cwd` does not exist. */
    async of (name: string, input: unknown, cwd: string): Promise<WorkFolder | undefined> {
      const folder = folderFromInput(name, input)
      if (folder === undefined) return locateFolder(cwd)
      const start = await locateFolder(cwd)
      return await locateNamed(folder, cwd) ?? (start && { ...start, isStart: true })
    },

    /**
     * Returns the real path that relative paths of the call are resolved against. If the folder was approved, it is not looked up again.
     */
    async start (name: string, input: unknown, cwd: string, shown?: WorkFolder): Promise<string> {
      if (shown !== undefined && (shown.isStart || folderFromInput(name, input) === undefined)) return shown.path
      return (await locateFolder(cwd))?.path ?? cwd
    },

    /** Returns whether the call would still work in the folder that the approval showed. */
    async whereabouts (name: string, input: unknown, cwd: string, shown: WorkFolder): Promise<Whereabouts> {
      const folder = shown.isStart ? undefined : folderFromInput(name, input)
      const now = await (folder === undefined ? locateFolder(cwd) : locateNamed(folder, cwd))
      if (now === undefined) return { is: 'gone' }
      return now.path === shown.path && isSameFolder(now, shown) ? { is: 'same' } : { is: 'moved', to: now }
    }
  }
}

/** Returns the reason, for the user, why a call must be approved again. */
export const askedAgain = (shownPath: string, now: WorkFolder): string =>
  shownPath === now.path
    ? `The folder ${JSON.stringify(shownPath)} was replaced by another one after this was asked. The call was not run.`
    : `The working folder was ${JSON.stringify(shownPath)} when this was asked, and is ${
      JSON.stringify(now.path)
    } now. The call was not run.`

/** Returns the reason, for the model, why a call was not run. */
export const folderGone = (path: string): string => `The working folder ${JSON.stringify(path)} is gone. The call was not run.`
