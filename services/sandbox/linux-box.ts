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

/** The programs that may be bubblewrap. They are not looked up in PATH, which may lead into a folder that the agent writes to. */
export const BUBBLEWRAP = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap']

/** Sizes of what a box has in memory, bytes: /tmp and the home where they are not kept, the other temporary folders, and the rest. */
const PRIVATE_BYTES = 1024 ** 3
const SHARED_BYTES = 512 * 1024 ** 2
const SMALL_BYTES = 16 * 1024 ** 2

/** The first descriptor of a guarded child that is free: see spawnGuarded. */
export const FIRST_FD = 4
/**
 * Bubblewrap would end at the SIGTERM that asks the command to end, and the command with it, so it is started with that signal ignored,
 * which the command is given back.
 */
const UNENDED = ['-c', 'trap "" TERM; exec "$@"', 'sh']
const HEARING = ['/usr/bin/env', '--default-signal=TERM']

/** A file that a command may read, or a socket that it may use: where it lies, and where the command finds it. */
export interface BoxFile {
  from: string
  to: string
}

interface BoxPlan {
  /** The complete environment of the command, without secrets. */
  environment: NodeJS.ProcessEnv
  /** The working folder first, then what lies in it and is put upon itself. */
  held: Held[]
  /** The real path of the folder that the command starts in. */
  cwd: string
  /** The folder of configuration and data of the service, which is hidden wherever it lies. */
  ownHome: string
  /** The layer that is mounted in place of the working folder: see overlay.ts. */
  overlay?: { from: string, to: string }
  files: BoxFile[]
  /** The folders that are kept as the home and /tmp. Absent: both are empty, and in memory. */
  kept?: Pick<PrivateFolders, 'home' | 'tmp'>
  /** Folders below the working folder that are hidden. */
  masked?: string[]
  /** Whether the box is in the network of what starts it, which is one that commands share. */
  sharesNetwork?: boolean
}

/**
 * Returns the options of bubblewrap, up to and without the command. `firstFd` is the descriptor under which the child has the first of
 * `held`; the others follow it.
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
    // As root, settings of the kernel could be written in a new /proc: it does not ask whose they are.
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
      // What was opened outside of the namespace of the overlay cannot be bound in it.
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
 * Finds what is mounted in /tmp and in the home. The first folder on the way to it is a place of its own, which commands cannot write:
 * else one could put a link there, and bubblewrap would make the rest of the way where that leads, outside of the box. Tools write beside
 * themselves, but into memory.
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
  /** Bubblewrap. */
  program: string
  /** What is run in the box. */
  command: string[]
  /** The complete environment of the command. */
  env: NodeJS.ProcessEnv
  stdin: 'closed' | 'pipe'
  clock: Clock
  /** A folder outside of the box, for files that bubblewrap reads. */
  own: string
  /** The command that starts bubblewrap in other namespaces; absent: it is started as it is. */
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
  // In a file, so that no program in the box reads in the arguments of bubblewrap where things are outside of it.
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
