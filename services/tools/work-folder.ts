import { lstat, realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { FolderIdentity, Tool } from './tool.ts'

/** The folder that a call works in, by its real path. An approval is bound to it. */
export interface WorkFolder extends FolderIdentity {
  path: string
  /** The input named a folder that was not there: this is the one that relative paths start from. */
  isStart?: true
}

/** What became of a folder that a call was approved for: nothing, another folder in its place, or no folder at all. */
export type Whereabouts = { is: 'same' } | { is: 'moved', to: WorkFolder } | { is: 'gone' }

type Find = (name: string) => Pick<Tool, 'folder'> | undefined

/** The folder that a path leads to now; undefined when there is none that can be reached. */
export async function locateFolder (path: string): Promise<WorkFolder | undefined> {
  try {
    const real = await realpath(path)
    // Not followed: what became a link since then is not the folder that was found.
    const found = await lstat(real, { bigint: true })
    return found.isDirectory() ? { path: real, dev: String(found.dev), ino: String(found.ino) } : undefined
  } catch {
    return undefined
  }
}

export const isSameFolder = (a: FolderIdentity, b: FolderIdentity): boolean => a.dev === b.dev && a.ino === b.ino

/** Finds the folders that calls work in: the one that the input names, where the tool takes one, else `cwd`. */
export function createWorkFolders (find: Find) {
  const named = (name: string, input: unknown): string | undefined => find(name)?.folder?.(input)

  return {
    /** The folder as it is to be shown with a request for approval; undefined when `cwd` is gone. */
    async of (name: string, input: unknown, cwd: string): Promise<WorkFolder | undefined> {
      const folder = named(name, input)
      if (folder === undefined) return locateFolder(cwd)
      const start = await locateFolder(cwd)
      return await locateFolder(resolve(cwd, folder)) ?? (start && { ...start, isStart: true })
    },

    /** The real path that relative paths of the call resolve against. That of an approved folder is not looked up again. */
    async start (name: string, input: unknown, cwd: string, shown?: WorkFolder): Promise<string> {
      if (shown !== undefined && (shown.isStart || named(name, input) === undefined)) return shown.path
      return (await locateFolder(cwd))?.path ?? cwd
    },

    /** Whether the call would still work in the folder that was shown. */
    async whereabouts (name: string, input: unknown, cwd: string, shown: WorkFolder): Promise<Whereabouts> {
      const folder = shown.isStart ? undefined : named(name, input)
      const now = await locateFolder(folder === undefined ? cwd : resolve(cwd, folder))
      if (now === undefined) return { is: 'gone' }
      return now.path === shown.path && isSameFolder(now, shown) ? { is: 'same' } : { is: 'moved', to: now }
    }
  }
}

/** Why a call is asked about again, for the person. */
export const askedAgain = (shownPath: string, now: WorkFolder): string =>
  shownPath === now.path
    ? `The folder ${JSON.stringify(shownPath)} was replaced by another one after this was asked. The call was not run.`
    : `The working folder was ${JSON.stringify(shownPath)} when this was asked, and is ${
      JSON.stringify(now.path)
    } now. The call was not run.`

/** Why a call did not run, for the model. */
export const folderGone = (path: string): string => `The working folder ${JSON.stringify(path)} is gone. The call was not run.`
