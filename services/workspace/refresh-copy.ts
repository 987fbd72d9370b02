import { chmodSync, lstatSync, mkdirSync, renameSync, rmdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { entryOf, holdFolder, holdSubfolder, release, type HeldFolder } from './held-folder.ts'
import { copyOpened, surveyFolder, withOpened } from './copy-tree.ts'
import { Beyond, type PathState, pathState, type RefreshedCopy, type RefreshRequest } from './tree-rpc.ts'

/**
 * Brings what was changed in a folder since it was copied into its copy, where the copy itself is as it was. A path that both have changed
 * stays as it is in the copy, unless it is the same in both. Returns how the paths are now. A file is written to `temporary` and renamed:
 * one that is cut off never stands in the copy, and after it the next refresh goes on.
 */
export function refreshCopy ({ from, to, base, temporary, limits }: RefreshRequest): RefreshedCopy {
  const known = { sources: new Map(base.sources), copies: new Map(base.copies) }
  let sources: Map<string, PathState>
  let copies: Map<string, PathState>
  try {
    sources = new Map(surveyFolder({ folder: from, mostPaths: limits.paths }))
    copies = new Map(surveyFolder({ folder: to, mostPaths: Infinity }))
  } catch (error) {
    if (error instanceof Beyond) return { beyond: error.limit }
    throw error
  }
  const changed = [...new Set([...known.sources.keys(), ...sources.keys()])]
    .filter((path) => !isDeepStrictEqual(known.sources.get(path), sources.get(path)))
  const bytes = changed.reduce((sum, path) => sum + (sources.get(path)?.size ?? 0), 0)
  if (bytes > limits.bytes) return { beyond: 'bytes' }
  const [roots, kept] = [[holdFolder(from), holdFolder(to)], [] as string[]]
  const [source, copy] = roots
  try {
    if (source === undefined || copy === undefined) throw new Error('the folder was moved or replaced while it was used')
    // First what goes, from the inside out.
    const gone = changed.filter((path) => sources.get(path)?.kind !== copies.get(path)?.kind && copies.has(path)).sort().reverse()
    const stays = new Set(gone.filter((path) => !isOurs(path) || !remove(copy, path, copies.get(path)!)))
    for (const path of changed.sort()) {
      const state = sources.get(path)
      const mayBring = () => isOurs(path) && (state === undefined || bring(path, state))
      const isTaken = !stays.has(path) && (isAlike(state, copies.get(path)) || mayBring())
      if (isTaken) settle(path, state)
      else kept.push(path)
    }
    return { sources: [...known.sources], copies: [...known.copies], taken: changed.length - kept.length, kept }

    /** Brings one path. Returns whether it could be. */
    function bring (path: string, state: PathState): boolean {
      return inParent(copy!, path, (folder, name) => {
        const place = entryOf(folder, name)
        if (state.kind === 'folder') {
          if (copies.get(path)?.kind === 'folder') chmodSync(place, state.mode | 0o700)
          else mkdirSync(place, { mode: state.mode | 0o700 })
          return true
        }
        rmSync(temporary, { force: true })
        if (state.kind === 'link') symlinkSync(state.target!, temporary)
        else {
          const isCopied = inParent(source!, path, (held, own) =>
            withOpened(held, own, (descriptor, stat) => copyOpened(descriptor, stat, temporary)))
          if (!isCopied) return false
        }
        renameSync(temporary, place)
        return true
      }) === true
    }
  } finally {
    for (const root of roots) if (root !== undefined) release(root)
    rmSync(temporary, { force: true })
  }

  /** Whether the copy is still as it was made, or brought. */
  function isOurs (path: string): boolean {
    return isDeepStrictEqual(known.copies.get(path), copies.get(path))
  }

  /** Notes that a path is the same in both. */
  function settle (path: string, state: PathState | undefined): void {
    const now = state && inParent(copy!, path, (folder, name) => {
      const stat = lstatSync(entryOf(folder, name), { throwIfNoEntry: false })
      return stat && pathState(stat, () => state.target!)
    })
    if (state === undefined || !now) {
      known.sources.delete(path)
      known.copies.delete(path)
    } else {
      known.sources.set(path, state)
      known.copies.set(path, now)
    }
  }
}

/** Whether a path holds the same in both, by what the file system says of it. */
function isAlike (a: PathState | undefined, b: PathState | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  const { kind, size, modifiedAt, target } = a
  const isSame = b.kind === kind && b.size === size && b.target === target
  return isSame && (kind !== 'file' || (b.modifiedAt === modifiedAt && b.mode === a.mode))
}

/** Calls `work` with the folder of a path and its name there; undefined where that is no folder, or a link. */
function inParent<T> (root: HeldFolder, path: string, work: (folder: HeldFolder, name: string) => T): T | undefined {
  const parts = path.split('/')
  const name = parts.pop()!
  const opened: HeldFolder[] = []
  try {
    let held = root
    for (const part of parts) {
      const inner = holdSubfolder(held, part)
      if (inner === undefined) return undefined
      opened.push(inner)
      held = inner
    }
    return work(held, name)
  } finally {
    for (const held of opened) release(held)
  }
}

/** Removes a path of the copy; false for a folder in which something stays. */
function remove (copy: HeldFolder, path: string, { kind }: PathState): boolean {
  return inParent(copy, path, (folder, name) => {
    try {
      if (kind === 'folder') rmdirSync(entryOf(folder, name))
      else unlinkSync(entryOf(folder, name))
      return true
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
      throw error
    }
  }) === true
}
