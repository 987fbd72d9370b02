import { lstatSync } from 'node:fs'
import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { type GuardedChild, spawnGuarded } from '../process/index.ts'
import { boxHome, isIn, maskedPlaces, systemFolders, toolchains } from './box-places.ts'
import type { Held } from './held.ts'
import { TRIED_BYTES } from './overlay.ts'
import { preparePlaces, type PrivateFolders } from './private-folders.ts'
import { callFilter } from './call-filter.ts'

/** Paths at which bubblewrap can be. PATH is not searched, because it might contain a folder that the agent writes to. */
export const BUBBLEWRAP = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap']

/**
 * Sizes, in bytes, of file systems that a box (a sandbox) has in memory: /tmp and the home if they are not kept, the other temporary
 * folders, all others.
 */
const PRIVATE_BYTES = 1024 ** 3
const SHARED_BYTES = 512 * 1024 ** 2
const SMALL_BYTES = 16 * 1024 ** 2

/** The first descriptor of a guarded child that is free: see spawnGuarded. */
export const FIRST_FD = 4
/**
 * The SIGTERM that asks the command to end would also end bubblewrap, which kills the command. So bubblewrap is started with that signal
 * ignored (UNENDED), and the command gets the default handling back (HEARING).
 */
const UNENDED = ['-c', 'trap "" TERM; exec "$@"', 'sh']
const HEARING = ['/usr/bin/env', '--default-signal=TERM']

/** A file or socket that a box shows to a command: its path outside the box (`from`), and in the box (`to`). */
export interface BoxFile {
  from: string
  to: string
}

interface BoxPlan {
  /** The complete environment of the command, without secrets. */
  environment: NodeJS.ProcessEnv
  /** The working folder first, then parts of it that are mounted over themselves, such as read-only files, and folders beside it. */
  held: Held[]
  /** The real path of the folder that the command starts in. */
  cwd: string
  /** The folder with configuration and data of the service. The box always hides it. */
  ownHome: string
  /** The overlay that is mounted in place of the working folder: see overlay.ts. */
  overlay?: { from: string, to: string }
  files: BoxFile[]
  /** The folders that the box has as home and /tmp. Absent: both are empty, and in memory. */
  kept?: Pick<PrivateFolders, 'home' | 'tmp'>
  /** Folders below the working folder that are hidden. */
  masked?: string[]
  /** True if the box joins the network of the process that starts it, which several commands share. */
  sharesNetwork?: boolean
}

/**
 * Returns the options of bubblewrap, without the command. `firstFd` is the descriptor of the first of `held` in the child; those of the
 * others follow.
 */
function boxOptions (plan: BoxPlan, { tools, toTools, toFolders }: ReturnType<typeof findMounts>, firstFd: number): string[] {
  const { environment, held, cwd, ownHome, files, kept, masked = [], overlay, sharesNetwork = false } = plan
  const most = overlay === undefined ? PRIVATE_BYTES : TRIED_BYTES
  const memory = (path: string, bytes: number) => ['--size', String(Math.min(bytes, most)), '--tmpfs', path]
  const readOnly = (path: string) => ['--remount-ro', path]
  const hidden = (path: string) => [...memory(path, SMALL_BYTES), ...readOnly(path)]
  const home = boxHome(environment)
  const [homeFd, tmpFd] = [firstFd + held.length, firstFd + held.length + 1].map(String)
  return [
    ...['--unshare-all', ...sharesNetwork ? ['--share-net'] : [], '--unshare-user', '--disable-userns'],
    ...['--cap-drop', 'ALL', '--hostname', 'box'],
    ...systemFolders().flatMap(({ path, link }) => link === undefined ? ['--ro-bind', path, path] : ['--symlink', link, path]),
    ...maskedPlaces().flatMap(({ path, isFolder }) => isFolder ? hidden(path) : ['--ro-bind', '/dev/null', path]),
    // If the service runs as root, a command could write kernel settings in a new /proc, so /proc/sys is read-only.
    ...['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys'],
    ...['--dev', '/dev', ...memory('/dev/shm', SHARED_BYTES), ...readOnly('/dev')],
    ...kept === undefined ? memory('/tmp', PRIVATE_BYTES) : ['--bind-fd', tmpFd, '/tmp'],
    ...[...memory('/var', SMALL_BYTES), ...memory('/var/tmp', SHARED_BYTES), ...readOnly('/var'), ...memory('/run', SMALL_BYTES)],
    ...kept !== undefined ? ['--bind-fd', homeFd, home] : home.startsWith('/tmp/') ? ['--dir', home] : memory(home, PRIVATE_BYTES),
    ...['--setenv', 'HOME', home, '--setenv', 'TMPDIR', '/tmp'],
    ...[...toTools].flatMap((way) => memory(way, SHARED_BYTES)),
    ...tools.flatMap((path) => ['--ro-bind-try', path, path]),
    ...toFolders.flatMap((way) => memory(way, SMALL_BYTES)),
    ...files.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...held.flatMap(({ path, isWritable, isBeside }, at) => {
      if (overlay === undefined) return [isWritable ? '--bind-fd' : '--ro-bind-fd', String(firstFd + at), path]
      // A descriptor from outside the namespace of the overlay cannot be bound in it.
      if (isBeside) return ['--ro-bind', path, path]
      return [isWritable ? '--bind' : '--ro-bind', join(overlay.from, relative(overlay.to, path)), path]
    }),
    ...masked.flatMap(hidden),
    ...lstatSync(ownHome, { throwIfNoEntry: false }) === undefined ? [] : hidden(ownHome),
    ...[...toFolders, '/run', '/'].flatMap(readOnly),
    ...['--chdir', cwd]
  ]
}

/**
 * Finds the mounts below /tmp and the home. The first folder on the way to each becomes a mount that commands cannot write. Otherwise a
 * command could put a link there, and bubblewrap would create the rest of the path at the target of the link, outside the box. Beside
 * toolchains commands can write, but into memory.
 */
function findMounts ({ environment, held, ownHome }: BoxPlan) {
  const tools = toolchains(environment, ownHome)
  const places = ['/tmp', boxHome(environment)]
  const inside = (paths: string[]) => paths.flatMap((path) =>
    places.filter((place) => place !== path && isIn(place, path)).slice(-1).map((place) => {
      const [first, ...rest] = relative(place, path).split('/')
      return { place, first, isDirect: rest.length === 0 }
    }))
  const [forTools, others] = [inside(tools), inside([...held.map(({ path }) => path), ownHome])]
  const mounts = [...forTools, ...others, ...inside(places)]
  const direct = new Set(mounts.filter(({ isDirect }) => isDirect).map(({ place, first }) => join(place, first)))
  const waysOf = (mounts: ReturnType<typeof inside>) =>
    new Set(mounts.map(({ place, first }) => join(place, first)).filter((way) => !direct.has(way)))
  const toTools = waysOf(forTools)
  const names = (place: string) => new Set(mounts.flatMap((mount) => mount.place === place ? [mount.first] : []))
  const toFolders = [...waysOf(others)].filter((way) => !toTools.has(way))
  return { tools, toTools, toFolders, inTmp: names('/tmp'), inHome: names(places[1]) }
}

interface BoxedProgram {
  /** The path of bubblewrap. */
  program: string
  /** The command line that runs in the box. */
  command: string[]
  /** The complete environment of the command. */
  env: NodeJS.ProcessEnv
  stdin: 'closed' | 'pipe'
  clock: Clock
  /** A folder outside of the box, for files that bubblewrap reads. */
  own: string
  /** The command that starts bubblewrap in other namespaces. Absent: bubblewrap is started directly. */
  within?: string[]
}

/** Starts a command in a box. */
export async function startInBox (
  plan: BoxPlan,
  { program, command, env, stdin, clock, own, within = [] }: BoxedProgram
): Promise<GuardedChild> {
  const { kept } = plan
  const mounts = findMounts(plan)
  if (kept !== undefined) await Promise.all([preparePlaces(kept.tmp, mounts.inTmp), preparePlaces(kept.home, mounts.inHome)])
  const fds = [...plan.held, ...kept === undefined ? [] : [kept.home, kept.tmp]].map(({ fd }) => fd)
  // The options are in a file: programs in the box can read the arguments of bubblewrap, which would show paths outside the box.
  const optionsAt = FIRST_FD + fds.length
  const options = [...boxOptions(plan, mounts, FIRST_FD), '--seccomp', String(optionsAt + 1)]
  const files: FileHandle[] = []
  try {
    for (const [name, content] of [['options', options.join('\0') + '\0'], ['filter', callFilter()]] as const) {
      await writeFile(join(own, name), content, { mode: 0o600 })
      files.push(await open(join(own, name)))
    }
    const box = [...UNENDED, ...within, program, '--args', String(optionsAt), '--', ...HEARING, ...command]
    // Bubblewrap gets the folders as open files.
    return await spawnGuarded('/bin/sh', box, { cwd: '/', env, stdin, files: [...fds, ...files.map(({ fd }) => fd)], clock })
  } finally {
    await Promise.all(files.map((file) => file.close()))
  }
}
