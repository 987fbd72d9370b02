import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import type { GuardedChild } from '../process/index.ts'
import { type LookUp, openBoxNetwork } from './box-network.ts'
import { boxHome, unfitReason } from './box-places.ts'
import { closeHeld, type Held } from './held.ts'
import { startInBox } from './linux-box.ts'
import { lookAtObeyed } from './look-at-obeyed.ts'
import { holdObeyed } from './read-only-places.ts'
import { makeTemporary } from './temporary.ts'

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants

/** Variables that would make bubblewrap itself, outside the box (the sandbox that it makes), load or run something. */
const LOADING = /^(?:LD_|BASH_ENV$|ENV$|GCONV_PATH$|GLIBC_TUNABLES$)/

/** A tool server that runs in a box. */
export interface ServerProgram {
  /** The name of its entry in the configuration. */
  name: string
  command: string
  args: string[]
  /** The variables of its entry, with their values. */
  env: Record<string, string>
  /** Hosts that the server is allowed to reach. Absent: none. */
  network?: string[]
  /** Folders that the server is allowed to read, and folders that it is allowed to read and write. */
  read?: string[]
  write?: string[]
}

interface Parts {
  /** The path of bubblewrap. */
  program: string
  clock: Clock
  ownHome: string
  /** Without secrets. */
  environment: NodeJS.ProcessEnv
  lookUp: LookUp
}

/** Returns the folder with all downloads of the server with this name. */
const cachesOf = (ownHome: string, name: string): string => join(ownHome, 'cache', 'servers', `of-${name}`)

/**
 * Returns the folder for what a server downloads, such as packages. In the box it is `~/.cache`. Each command line has a folder of its own,
 * because one program could put code into the cache of another.
 */
function cacheOf (ownHome: string, { name, command, args }: ServerProgram): string {
  const digest = createHash('sha256').update(JSON.stringify([command, args])).digest('hex')
  return join(cachesOf(ownHome, name), digest.slice(0, 16))
}

/** Deletes all downloads of the server with this name. */
export const removeServerCaches = (ownHome: string, name: string): Promise<void> =>
  rm(cachesOf(ownHome, name), { recursive: true, force: true })

/**
 * Starts a tool server in a box of bubblewrap, with piped standard input. Throws an Error whose message is a clause about the server, such
 * as "its variable … would act outside the box that it is to run in".
 */
export async function startServerInBox (
  server: ServerProgram,
  { program, clock, ownHome, environment, lookUp }: Parts
): Promise<GuardedChild> {
  const { command, args, env, network: hosts, read = [], write = [] } = server
  const loading = Object.keys(env).find((each) => LOADING.test(each))
  if (loading !== undefined) throw new Error(`its variable ${loading} would act outside the box that it is to run in`)
  const handles: FileHandle[] = []
  const held: Held[] = []
  const holding: Held[] = []
  const home = boxHome(environment)
  const own = await makeTemporary()
  const hold = async (folder: string, isWritable: boolean, path = folder) => {
    const handle = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    handles.push(handle)
    held.push({ fd: handle.fd, path, isWritable })
    if (!isWritable || path !== folder) return
    const state = await lookAtObeyed(path, { home: environment.HOME ?? homedir() })
    const obeyed = await holdObeyed({ path, entry: (entry) => `/proc/self/fd/${handle.fd}/${entry}` }, { state, seenAt: path })
    holding.push(...obeyed.held)
    held.push(...obeyed.held)
  }
  let network: Awaited<ReturnType<typeof openBoxNetwork>> | undefined
  const tidyUp = async () => {
    await network?.close()
    await rm(own, { recursive: true, force: true })
  }
  try {
    const cache = cacheOf(ownHome, server)
    await mkdir(cache, { recursive: true, mode: 0o700 })
    await hold(await realpath(cache), true, join(home, '.cache'))
    for (const [folders, isWritable] of [[read, false], [write, true]] as const) {
      for (const folder of folders) await hold(await fitting(folder, ownHome), isWritable)
    }
    if (hosts !== undefined) network = await openBoxNetwork({ folder: own, hosts, lookUp, stdin: 'inherit' })
    const child = await startInBox({ environment, held, cwd: '/tmp', ownHome, files: network?.files ?? [] }, {
      program,
      command: [...network?.command ?? [], command, ...args],
      env: { ...environment, npm_config_cache: join(home, '.cache/npm'), npm_config_update_notifier: 'false', ...env, ...network?.env },
      stdin: 'pipe',
      clock,
      own
    })
    if (network !== undefined && network.input.length > 0) child.stdin!.write(network.input)
    void child.exited.then(tidyUp).catch(() => {})
    return child
  } catch (error) {
    await tidyUp()
    throw error
  } finally {
    closeHeld(holding)
    await Promise.all(handles.map((handle) => handle.close()))
  }
}

/** Returns the real path of a folder. Throws if it does not exist, or if a box must not show it. */
async function fitting (folder: string, ownHome: string): Promise<string> {
  const path = await realpath(folder).catch(() => {
    throw new Error(`the folder ${JSON.stringify(folder)} of its "sandbox" is not there`)
  })
  const unfit = unfitReason(path, ownHome, 'folder')
  if (unfit !== undefined) throw new Error(`its "sandbox" cannot be made. ${unfit.replace(/\.$/, '')}`)
  return path
}
