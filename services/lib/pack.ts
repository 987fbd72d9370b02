import { openSync, readSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the build put the files of the pack: their offsets and lengths in bytes. */
export type PackIndex = Record<string, [start: number, length: number]>

/** Set by the build: the name of the pack, which holds a digest of its content, and its index. */
declare const PACK: { file: string, index: PackIndex } | undefined

interface Pack {
  fd: number
  index: PackIndex
  /** The folder of the pack. */
  folder: string
}

let opened: Pack | undefined

/**
 * Opens the pack: one file with the code of workers and child processes and the files of pages. The file stays open, so that this build can
 * be read as long as the service runs, even if its folder is replaced or deleted meanwhile. Returns undefined when the service runs from
 * its sources, which have no pack.
 */
export function openPack (): Pack | undefined {
  if (typeof PACK !== 'object') return undefined
  opened ??= {
    fd: openSync(new URL(PACK.file, import.meta.url), 'r'),
    index: PACK.index,
    folder: fileURLToPath(new URL('.', import.meta.url))
  }
  return opened
}

/** Reads a file of the pack; undefined when the service runs from its sources. */
export function readPacked (name: string): Buffer | undefined {
  const pack = openPack()
  if (pack === undefined) return undefined
  const [start, length] = pack.index[name]
  const content = Buffer.alloc(length)
  readSync(pack.fd, content, 0, length, start)
  return content
}
