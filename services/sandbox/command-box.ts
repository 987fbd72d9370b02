import { fstatSync } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { commandEnvironment, type GuardedChild, spawnGuarded } from '../process/index.ts'
import { boxEnvironment, OFFLINE } from './box-environment.ts'
import { type LookUp, openBoxNetwork } from './box-network.ts'
import { boxHome, maskedPlaces, shownFolders } from './box-places.ts'
import { type CommandOutput, explainFailure } from './explain-failure.ts'
import { guardRepository, readOnlyVariables } from './git-guard.ts'
import { writeGitSettings } from './git-settings.ts'
import { closeHeld, type Held } from './held.ts'
import { FIRST_FD, startInBox } from './linux-box.ts'
import { macArguments } from './mac-box.ts'
import { createBoxedGit, type RunInBox } from './boxed-git.ts'
import type { OpenFolder, WithFolder } from './put-back.ts'
import type { createFolderChecks, Entered } from './folder-checks.ts'
import { MOST_WRITTEN, type Overlay } from './overlay.ts'
import { type createPrivateFolders, type PrivateFolders, watchSize } from './private-folders.ts'
import { identityOf } from './obeyed-state.ts'
import { holdObeyed } from './read-only-places.ts'
import { type Above, findRepositoryAbove, holdPackages, holdRepository, type RepositoryAbove } from './repository-above.ts'
import type { SharedNetwork } from './shared-network.ts'
import { inTemporary, makeTemporary } from './temporary.ts'

/** The most key folders below a working folder that a box (the sandbox of a command) hides. */
const MOST_MASKED = 64

/** A program and its arguments. */
export type Command = [program: string, args: string[]]

/** A command that runs in a box. */
export interface BoxedCommand {
  child: GuardedChild
  /**
   * Must be called when all processes of the command have ended. Closes the network of the box, and undoes changes to files that programs
   * outside the box act on by themselves (git settings, hooks, editor settings).
   */
  finish(): Promise<BoxEnd>
  /** Returns sentences that say how the box made the command fail; none if it is not known to be the cause. */
  explain(output: CommandOutput): string[]
}

/** The notes about a command in a box that has ended. */
export interface BoxEnd {
  /** One sentence for each change that was undone. */
  takenAway: string[]
  /** Sentences about the commits of the command, the files that it wrote outside the working folder, and why it was ended. */
  notes: string[]
}

export interface CommandParts {
  clock: Clock
  /** The configuration directory of the service. */
  ownHome: string
  /** Returns the environment that child processes of the service get. */
  environment: () => NodeJS.ProcessEnv
  /** Looks up the addresses of hosts that a box is allowed to reach. Rejects for hosts of private networks. */
  lookUp: LookUp
  withFolder: WithFolder
  /** Returns the path at which a command sees a path. For a path in a copy, it is the path in the copied folder. */
  shownAt: (path: string) => string
  /** Compares folders before and after commands. */
  checks: ReturnType<typeof createFolderChecks>
  /** The home and /tmp of conversations and runs. Absent: each command has its own, in memory. */
  privateFolders?: ReturnType<typeof createPrivateFolders>
}

/** The parts of the box of one command. */
export interface BoxPlan {
  /** The open working folder. */
  folder: OpenFolder
  cwd: string
  hosts?: string[]
  /** Set if the command is tried out: it writes into this overlay. */
  overlay?: Overlay
  /** The network that the command shares with others. Absent: it has a network of its own. */
  shared?: SharedNetwork
  /** The conversation, or the run, whose home and /tmp the command uses. Absent: the command has its own, in memory. */
  owner?: string
  /** The command line. */
  line?: string
}

/** The paths, handles and network that were found or opened for one box. */
interface Opened {
  env: NodeJS.ProcessEnv
  /** The working folder, as the command sees it. */
  seenAt: string
  above: Above
  /** True if the command is not allowed to change the repository above, because it is tried out or works on a copy. */
  isKept: boolean
  /** A folder outside of the box, for files that it needs. */
  own: string
  held: Held[]
  kept?: PrivateFolders
  /** The folder with the writes of a command that is tried out. */
  upper?: FileHandle
  network?: Awaited<ReturnType<typeof openBoxNetwork>>
}

/** Starts a command in a box of bubblewrap. */
export async function startOnLinux (program: string, command: Command, plan: BoxPlan, parts: CommandParts): Promise<BoxedCommand> {
  const { folder, cwd, hosts, overlay, owner, line = '' } = plan
  const { ownHome, shownAt, checks, lookUp, privateFolders } = parts
  const seenAt = shownAt(folder.path)
  const above = await findRepositoryAbove(seenAt, ownHome)
  const isKept = overlay !== undefined || seenAt !== folder.path
  const env = boxEnvironment(parts.environment())
  const where = whereOf(folder.path, { env, seenAt, above: isKept ? undefined : above.repository })
  let entered: Entered | undefined
  const opened: Opened = { env, seenAt, above, isKept, own: await makeTemporary(), held: [] }
  const { own, held } = opened
  const tidyUp = async () => {
    await entered?.leave()
    await opened.network?.close()
    await opened.kept?.close()
    await opened.upper?.close()
    await rm(own, { recursive: true, force: true })
  }
  try {
    if (overlay === undefined) entered = await checks.enter(where)
    const state = entered?.now ?? await checks.look(where)
    const obeyed = await holdObeyed(folder, { state, seenAt, made: checks.made })
    entered?.start(new Map(obeyed.held.flatMap(({ fd, path, isWritable }) => isWritable ? [] : [[path, identityOf(fstatSync(fd))]])))
    held.push(...obeyed.held.map((each) => ({ ...each, path: shownAt(each.path) })), ...holdPackages(seenAt))
    if (above.repository !== undefined) held.push(...await holdRepository(above.repository, seenAt, !isKept))
    if (owner !== undefined && overlay === undefined) opened.kept = await privateFolders?.open(owner, seenAt)
    if (overlay !== undefined) opened.upper = await open(overlay.upper)
    if (hosts !== undefined) opened.network = await openBoxNetwork({ folder: own, hosts, lookUp, stdin: 'ignore' })
    const masked = state.keys.slice(0, MOST_MASKED).map(shownAt)
    const child = await startWith(program, command, { plan, opened, parts, masked })
    const isTooLarge = watchWritten(child, opened, parts.clock)
    const since = (await stat(own)).ctimeMs
    const home = boxHome(env)
    const facts = () => ({
      ...{ folder: seenAt, cwd: shownAt(cwd), home, above, isKept, hosts: hosts ?? [], shown: shownFolders(env, ownHome) },
      ...{ keys: [...masked, ...maskedPlaces().map(({ path }) => path)], line, readOnly: obeyed.opens.map(shownAt) }
    })
    return {
      child,
      async finish () {
        try {
          const left = entered
          entered = undefined
          const git = boxedGitOver(program, parts, { folder: folder.path, above: where.above })
          const { taken = [], notes = [] } = await left?.leave(git) ?? {}
          const written = await opened.kept?.written(since, home)
          return { takenAway: taken, notes: [...notes, ...endNotes({ line, isTooLarge: await isTooLarge, isTried: !!overlay, written })] }
        } finally {
          await tidyUp()
        }
      },
      explain: (output) => explainFailure(facts(), output)
    }
  } catch (error) {
    await tidyUp()
    throw error
  } finally {
    closeHeld(held)
  }
}

/** Ends the command if it writes too much. Resolves to true if it did; returns undefined if nothing is watched. */
const watchWritten = (child: GuardedChild, { upper, kept }: Opened, clock: Clock): Promise<boolean> | undefined =>
  (upper ? watchSize(child, [upper], clock, MOST_WRITTEN) : kept?.watch(child))?.catch(() => false)

/** Returns the folders that are compared before and after a command: its folder, its home, and a repository above. */
const whereOf = (folder: string, { env, seenAt, above }: { env: NodeJS.ProcessEnv, seenAt: string, above?: RepositoryAbove }) => ({
  ...{ folder, seenAt, home: env.HOME ?? homedir(), outside: above === undefined ? [] : [above.common], top: above?.top, above }
})

/** The most bytes of output that are read from git, and the milliseconds that git may take. */
const MOST_ANSWERED = 16 * 1024 ** 2
const GIT_MS = 10_000

/** Returns the git operations for the check after a command. Each runs git in a box of its own, which shows the folder at its real path. */
export function boxedGitOver (
  program: string,
  { clock, ownHome, environment, withFolder }: Pick<CommandParts, 'clock' | 'ownHome' | 'environment' | 'withFolder'>,
  { folder, above }: { folder: string, above?: RepositoryAbove }
) {
  const run: RunInBox = (command, { isWritable, cwd, input }) => withFolder(folder, ({ handle }) => inTemporary(async (own) => {
    const env = boxEnvironment(environment())
    const held = above === undefined ? [] : await holdRepository(above, folder, isWritable)
    try {
      const { env: settings, files } = await writeGitSettings(own, env.HOME)
      const child = await startInBox(
        { environment: env, held: [{ fd: handle.fd, path: folder, isWritable }, ...held], cwd, ownHome, files },
        {
          ...{ program, command, env: { ...commandEnvironment(env), ...settings, ...OFFLINE } },
          ...{ stdin: input === undefined ? 'closed' : 'pipe', clock, own }
        }
      )
      const output: Buffer[] = []
      let bytes = 0
      child.stdout.on('data', (chunk: Buffer) => void ((bytes += chunk.length) <= MOST_ANSWERED && output.push(chunk)))
      child.stderr.resume()
      child.stdin?.on('error', () => {}).end(input)
      const hasExited = await settlesWithin({ clock, ms: GIT_MS }, child.exited)
      await child.end(0)
      return hasExited && (await child.exited).code === 0 ? Buffer.concat(output) : undefined
    } finally {
      closeHeld(held)
    }
  })).catch(() => undefined)
  return createBoxedGit(run)
}

interface Start {
  plan: BoxPlan
  opened: Opened
  parts: CommandParts
  masked: string[]
}

async function startWith (program: string, [name, args]: Command, { plan, opened, parts, masked }: Start): Promise<GuardedChild> {
  const { folder, cwd, overlay, shared } = plan
  const { env, seenAt, above: { repository }, own, kept, network } = opened
  const settings = await writeGitSettings(own, env.HOME)
  const guard = repository && await guardRepository(own, repository, seenAt)
  const isRepository = opened.held.some(({ path, isWritable }) => !isWritable && path === join(seenAt, '.git/config'))
  const child = await startInBox({
    environment: env,
    held: [{ fd: folder.handle.fd, path: seenAt, isWritable: true }, ...opened.held],
    cwd: parts.shownAt(cwd),
    ownHome: parts.ownHome,
    files: [...network?.files ?? [], ...settings.files, ...guard?.files ?? []],
    kept,
    masked,
    overlay: overlay && { from: overlay.merged, to: seenAt },
    sharesNetwork: shared !== undefined
  }, {
    program,
    command: [...network?.command ?? [], name, ...args],
    env: {
      ...{ ...commandEnvironment(env), ...settings.env, ...guard?.env ?? (isRepository ? readOnlyVariables() : {}) },
      ...network === undefined ? OFFLINE : network.env
    },
    stdin: network === undefined ? 'closed' : 'pipe',
    clock: parts.clock,
    own,
    within: [...overlay?.command(folder.path, FIRST_FD) ?? [], ...shared?.join ?? []]
  })
  child.stdin?.end(network?.input)
  return child
}

/** Starts a command in a box of sandbox-exec. */
export async function startOnMac (
  program: string,
  [name, args]: Command,
  { folder, cwd }: BoxPlan,
  { environment, ownHome, clock, checks }: CommandParts
): Promise<BoxedCommand> {
  const env = commandEnvironment(boxEnvironment(environment()))
  const temporary = await makeTemporary()
  const entered = await checks.enter(whereOf(folder.path, { env, seenAt: folder.path }))
  entered.start(new Map())
  const tidyUp = () => rm(temporary, { recursive: true, force: true })
  const box = macArguments({ environment: env, folder: folder.path, temporary, ownHome, opens: entered.now.opens })
  const child = await spawnGuarded(program, [...box, name, ...args], {
    cwd,
    env: { ...env, HOME: temporary, TMPDIR: temporary },
    stdin: 'closed',
    clock
  }).catch(async (error) => {
    await entered.leave()
    await tidyUp()
    throw error
  })
  return {
    child,
    async finish () {
      await tidyUp()
      const { taken, notes } = await entered.leave(createBoxedGit(undefined))
      return { takenAway: taken, notes }
    },
    explain: () => []
  }
}

/** Matches paths in the temporary folders that are deleted together with a box. */
const GONE = /(?:^|[\s'"=>(])(\/(?:var\/tmp|dev\/shm)\/[\w.@+~/-]+)/g

/** Returns notes about a command that has ended: why it was ended, and which files are private to the box or gone with it. */
function endNotes (
  { line, isTooLarge, isTried, written }: {
    line: string,
    isTooLarge?: boolean,
    isTried: boolean,
    written?: { paths: string[], more: number }
  }
): string[] {
  const named = (paths: string[]) => paths.map((path) => JSON.stringify(path).slice(1, -1)).join(', ')
  const more = written !== undefined && written.more > 0 ? ` and ${written.more} more` : ''
  const gone = [...new Set([...line.matchAll(GONE)].map(([, path]) => path))]
  return [
    isTooLarge && isTried &&
      `It was ended, because a command that is tried out may write ${MOST_WRITTEN / 1024 ** 2} MiB in all into the folder.`,
    isTooLarge && !isTried &&
      'The home and /tmp of this conversation held more than 1 GiB, so the command was ended and the largest files there were deleted. ' +
        'Write large files into the working folder.',
    written !== undefined && written.paths.length > 0 &&
      `Outside the working folder it wrote ${named(written.paths)}${more}: private to the commands of this conversation. No other tool ` +
        'and no other program sees such files; write what the user is to have into the folder.',
    gone.length > 0 &&
      `Files in /var/tmp and /dev/shm are gone with each command: use the working folder or /tmp in place of ${named(gone)}.`
  ].filter((note) => typeof note === 'string')
}
