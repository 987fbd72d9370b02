import { closeSync, constants, openSync } from 'node:fs'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** An open file or folder that is put into a box at its own path. */
export interface Held {
  fd: number
  path: string
  isWritable: boolean
  /** It lies outside of the working folder. */
  isBeside?: boolean
}

/** Opens what is at `entry`, unless it is a link or not there, and adds it; returns its descriptor. */
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
