import { lstatSync } from 'node:fs'
import { join, relative } from 'node:path'
import { boxHome, maskedPlaces, systemFolders, toolchains } from './box-places.ts'

/** The programs that may be bubblewrap. They are not looked up in PATH, which may lead into a folder that the agent writes to. */
export const BUBBLEWRAP = ['/usr/bin/bwrap', '/usr/local/bin/bwrap', '/bin/bwrap', '/run/current-system/sw/bin/bwrap']

/** The size of the private /tmp, and of the home, in memory, bytes. */
const PRIVATE_BYTES = 1024 ** 3

/** The first descriptor of a guarded child that is free: see spawnGuarded. */
export const FIRST_FD = 4
/**
 * Bubblewrap would end at the SIGTERM that asks the command to end, and the command with it, so it is started with that signal ignored,
 * which the command is given back.
 */
export const UNENDED = ['-c', 'trap "" TERM; exec "$@"', 'sh']
export const HEARING = ['/usr/bin/env', '--default-signal=TERM']

/** An open file or folder that is put into a box at its own path. */
export interface Held {
  fd: number
  path: string
  isWritable: boolean
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
  /** What stands in the place of the working folder, and of what is held in it: see overlay.ts. */
  overlay?: { from: string, to: string }
  /** Further files that the command may read, or sockets that it may use: where they lie, and where it finds them. */
  files: Array<{ from: string, to: string }>
  /** Whether the box is in the network of what starts it, which is one that commands share. */
  sharesNetwork?: boolean
}

/**
 * Returns the arguments of bubblewrap, up to and without the command. `firstFd` is the descriptor under which the child has the first of
 * `held`; the others follow it.
 */
export function boxArguments (plan: BoxPlan, firstFd: number): string[] {
  const { environment, held, cwd, ownHome, files, overlay, sharesNetwork = false } = plan
  const empty = (path: string) => ['--size', String(PRIVATE_BYTES), '--tmpfs', path]
  const hidden = (path: string) => ['--tmpfs', path, '--remount-ro', path]
  const home = boxHome(environment)
  return [
    ...['--unshare-all', ...sharesNetwork ? ['--share-net'] : [], '--unshare-user', '--disable-userns'],
    ...['--cap-drop', 'ALL', '--hostname', 'box'],
    ...systemFolders().flatMap(({ path, link }) => link === undefined ? ['--ro-bind', path, path] : ['--symlink', link, path]),
    ...maskedPlaces().flatMap(({ path, isFolder }) => isFolder ? hidden(path) : ['--ro-bind', '/dev/null', path]),
    // As root, settings of the kernel could be written in a new /proc: it does not ask whose they are.
    ...['--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys', '--dev', '/dev'],
    ...empty('/tmp'),
    ...['--tmpfs', '/run', '--tmpfs', '/var', '--dir', '/var/tmp'],
    ...home.startsWith('/tmp/') ? ['--dir', home] : empty(home),
    ...['--setenv', 'HOME', home, '--setenv', 'TMPDIR', '/tmp'],
    ...toolchains(environment, ownHome).flatMap((path) => ['--ro-bind-try', path, path]),
    ...files.flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...held.flatMap(({ path, isWritable }, at) => overlay === undefined
      ? [isWritable ? '--bind-fd' : '--ro-bind-fd', String(firstFd + at), path]
      // What was opened outside of the namespace of the overlay cannot be bound in it.
      : [isWritable ? '--bind' : '--ro-bind', join(overlay.from, relative(overlay.to, path)), path]),
    ...lstatSync(ownHome, { throwIfNoEntry: false }) === undefined ? [] : hidden(ownHome),
    ...['--chdir', cwd, '--']
  ]
}
