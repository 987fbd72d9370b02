import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporary } from './temporary.ts'

// A command is tried out over an overlay: what it writes goes into a folder that is thrown away, and the working folder below stays as it
// is. The overlay is mounted in a user namespace of its own, so that it needs no rights, and goes with its last process.

/** What a command may write in all into an overlay, bytes. */
export const MOST_WRITTEN = 160 * 1024 ** 2
/** What its box has in memory at each place, bytes: with the overlay these are 256 MiB. */
export const TRIED_BYTES = 16 * 1024 ** 2
/** Bytes of the list of paths. */
const MOST_LISTED = 16 * 1024 ** 2

/** The folders of an overlay. */
export interface Overlay {
  /** What the command wrote. */
  upper: string
  /** Where it is mounted. */
  merged: string
  /** A file with all paths that there were at the end, each after `./` and before a NUL; absent when the command was ended before. */
  list: string
  /** The command that mounts it over the folder with that path and descriptor, runs what follows, and writes the list. */
  command (path: string, fd: number): string[]
  remove (): Promise<void>
}

const SCRIPT = [
  // In blocks of 512 bytes.
  `ulimit -f ${MOST_WRITTEN / 512}`,
  // The kernel takes no folder that was opened outside of this namespace: it is entered by its path, and must be the one that is open.
  'cd "$2" && [ . -ef "/proc/self/fd/$1" ] || exit 125',
  'mount -t overlay overlay -o "userxattr,lowerdir=.,upperdir=$3/upper,workdir=$3/work" "$3/merged" || exit 125',
  'base=$3; cd /; shift 3',
  '"$@"; code=$?',
  'cd "$base/merged" || exit 125',
  `find . -mindepth 1 -print0 2>/dev/null | head -c ${MOST_LISTED} > "$base/list.tmp" && mv "$base/list.tmp" "$base/list"`,
  'exit $code'
].join('\n')

/** Makes the folders of an overlay; undefined where their path cannot be said to mount. */
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
