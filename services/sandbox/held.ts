import { closeSync, constants, openSync } from 'node:fs'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** An open file or folder that a box (a sandbox) shows at the path `path`. */
export interface Held {
  fd: number
  path: string
  isWritable: boolean
  /** True if the file or folder is outside of the working folder. */
  isBeside?: boolean
}

/** Opens the file or folder at `entry` and adds it to `held`. Returns its descriptor; undefined for a link, or if it cannot be opened. */
export function holdEntry (
  held: Held[],
  { entry, path, flags = 0, isWritable }: { entry: string, path: string, flags?: number, isWritable: boolean }
): number | undefined {
  try {
    const fd = openSync(entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | flags)
    held.push({ fd, path, isWritable })
    return fd
  } catch {
    return undefined
  }
}

export const closeHeld = (held: readonly Held[]) => {
  for (const { fd } of held) closeSync(fd)
}
