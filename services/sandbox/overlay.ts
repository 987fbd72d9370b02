import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporary } from './temporary.ts'

// A command is tried out on an overlay file system: it writes into a separate folder that is thrown away, and the working folder stays as
// it is. The overlay is mounted in a user namespace of its own. So the mount needs no privileges, and ends with the last process of the
// namespace.

/** The most bytes that a command can write into an overlay. */
export const MOST_WRITTEN = 160 * 1024 ** 2
/**
 * The size, in bytes, of each file system in memory in the box of a command that is tried out: with the overlay, these are 256 MiB in all.
 */
export const TRIED_BYTES = 16 * 1024 ** 2
/** The largest list of paths, in bytes. */
const MOST_LISTED = 16 * 1024 ** 2

/** The folders of an overlay. */
export interface Overlay {
  /** The folder with the files that the command wrote. */
  upper: string
  /** The folder at which the overlay is mounted. */
  merged: string
  /**
   * A file with the paths in the folder at the end of the command, each with `./` before it and a NUL after it. Absent if the command was
   * killed.
   */
  list: string
  /**
   * Returns a command that mounts the overlay over the folder with this path and descriptor, runs the command that follows, and writes the
   * list.
   */
  command (path: string, fd: number): string[]
  remove (): Promise<void>
}

const SCRIPT = [
  // `ulimit -f` counts in blocks of 512 bytes.
  `ulimit -f ${MOST_WRITTEN / 512}`,
  // The kernel does not mount a folder that was opened outside of this namespace. So the script enters the folder by its path, and checks
  // that it is the open one.
  'cd "$2" && [ . -ef "/proc/self/fd/$1" ] || exit 125',
  'mount -t overlay overlay -o "userxattr,lowerdir=.,upperdir=$3/upper,workdir=$3/work" "$3/merged" || exit 125',
  'base=$3; cd /; shift 3',
  '"$@"; code=$?',
  'cd "$base/merged" || exit 125',
  `find . -mindepth 1 -print0 2>/dev/null | head -c ${MOST_LISTED} > "$base/list.tmp" && mv "$base/list.tmp" "$base/list"`,
  'exit $code'
].join('\n')

/** Makes the folders of an overlay. Returns undefined if their path has characters that mount options cannot contain. */
export async function createOverlay (): Promise<Overlay | undefined> {
  const base = await makeTemporary()
  const remove = () => rm(base, { recursive: true, force: true })
  if (/[,:\\"]/.test(base)) {
    await remove()
    return undefined
  }
  for (const name of ['upper', 'work', 'merged']) await mkdir(join(base, name))
  return {
    upper: join(base, 'upper'),
    merged: join(base, 'merged'),
    list: join(base, 'list'),
    command: (path, fd) =>
      ['/usr/bin/unshare', '--user', '--map-root-user', '--mount', '/bin/sh', '-c', SCRIPT, 'sh', String(fd), path, base],
    remove
  }
}
