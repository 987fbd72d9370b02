import type { ChangedFile } from '../../../schemas/triggers.ts'

/** Path relative to the folder, bytes, and the time of the last change of the content in milliseconds since the Unix epoch. */
export type SeenFile = [path: string, size: number, modifiedAt: number]

/** What a files trigger has seen, as it is stored. */
export interface Seen {
  /** The task was started or resumed then: what was seen earlier is of an earlier start. Milliseconds since the Unix epoch. */
  since: number
  /** When it was seen; milliseconds since the Unix epoch. */
  at: number
  /** Real path of the folder. */
  folder: string
  files: SeenFile[]
}

/** A change, and when the content of the file that is there now was last changed. */
export type FileChange = ChangedFile & { modifiedAt?: number }

/**
 * Returns what differs between two looks at a folder, by path. Nothing is known of what is below the folders that cannot be read now
 * (`closed`, each with `/` at its end).
 */
export function changesBetween (before: readonly SeenFile[], now: readonly SeenFile[], closed: readonly string[] = []): FileChange[] {
  const known = new Map(before.map((file) => [file[0], file]))
  const changes: FileChange[] = []
  for (const [path, size, modifiedAt] of now) {
    const was = known.get(path)
    known.delete(path)
    if (was === undefined) changes.push({ path, kind: 'new', modifiedAt })
    else if (was[1] !== size || was[2] !== modifiedAt) changes.push({ path, kind: 'changed', modifiedAt })
  }
  for (const path of known.keys()) {
    if (!closed.some((folder) => path.startsWith(folder))) changes.push({ path, kind: 'deleted' })
  }
  return changes.sort((a, b) => a.path < b.path ? -1 : 1)
}

/** The files that are seen now, with those below folders that cannot be read now as they were before. */
export function withClosed (now: SeenFile[], before: readonly SeenFile[], closed: readonly string[]): SeenFile[] {
  if (closed.length === 0) return now
  const there = new Set(now.map(([path]) => path))
  return [...now, ...before.filter(([path]) => !there.has(path) && closed.some((folder) => path.startsWith(folder)))]
}
