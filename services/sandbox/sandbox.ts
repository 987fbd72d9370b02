import { existsSync } from 'node:fs'
import { lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Boundary, SandboxMode } from '../contracts/boundary.ts'
import type { WorkFolder } from '../contracts/tool.ts'
import { systemClock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { type GuardedChild, shellCommand } from '../process/index.ts'
import { boxEnvironment } from './box-environment.ts'
import { isIn, linkableFolders, unfitReason } from './box-places.ts'
import {
  type BoxedCommand, boxedGitOver, type BoxPlan, type Command, type CommandParts, startOnLinux, startOnMac
} from './command-box.ts'
import type { CommandOutput } from './explain-failure.ts'
import { BUBBLEWRAP } from './linux-box.ts'
import { SANDBOX_EXEC } from './mac-box.ts'
import { createBoxedGit } from './boxed-git.ts'
import type { EndsShelf } from './commit-ends.ts'
import { createFolderChecks, type StateShelf, type TellCut } from './folder-checks.ts'
import { createOverlay, type Overlay } from './overlay.ts'
import { findRepositoryAbove } from './repository-above.ts'
import { removeServerCaches, startServerInBox, type ServerProgram } from './server-box.ts'
import { canShare, makeSharedNetwork, type SharedNetwork } from './shared-network.ts'
import { inTemporary, removeAbandoned } from './temporary.ts'

/**
 * The kind of box (sandbox) that this computer can make, and the program for it; if there is none, `why` is a clause that says why.
 * `canTry`: whether a command can be tried out on an overlay of its folder; absent if that is not known yet.
 */
export type BoxKind = { is: 'bubblewrap' | 'sandbox-exec', program: string, canTry?: boolean } | { is: 'none', why: string }

type Maker = Exclude<BoxKind, { is: 'none' }>

/** What a call asks for. */
interface BoundaryWish {
  network?: string[]
  /** Ports of the command that must be reachable at 127.0.0.1. */
  ports?: number[]
  outside?: boolean
}

interface Parts extends Omit<CommandParts, 'shownAt' | 'checks'>, Partial<Pick<CommandParts, 'shownAt'>> {
  /** Stores the states of folders while commands run in them. Absent: they are kept in memory alone. */
  shelf?: StateShelf
  /** Stores which commits commands made. Absent: that is kept in memory alone. */
  endsShelf?: EndsShelf
  /** Returns the setting commands.sandbox of config.json. */
  mode: () => SandboxMode
  /** The kind of box, for tests. Absent: the kind that this computer can make. */
  kind?: BoxKind
  /** Called when the kind of box is known. */
  found?: (kind: BoxKind) => void
}

const PROBE_MS = 10_000
const PROBE_CODE = 7
/** Fails if the box does not work: if hooks can be written, or the folder cannot. */
const PROBE = `if (: > .git/hooks/probe) 2>/dev/null; then exit 1; fi; : > probe && exit ${PROBE_CODE}`

export type Sandbox = ReturnType<typeof createSandbox>

let probed: Promise<BoxKind> | undefined
let tryable: Promise<boolean> | undefined

/** Creates the service that runs commands and tool servers in boxes. */
export function createSandbox (parts: Parts) {
  const { clock, ownHome, environment, mode, lookUp, withFolder, privateFolders } = parts
  const { shownAt = (path) => path, kind: given, found = () => {} } = parts
  const checks = createFolderChecks({
    ...{ withFolder, shelf: parts.shelf, endsShelf: parts.endsShelf },
    linkable: () => linkableFolders(environment(), ownHome)
  })
  let known = given

  /** Returns the kind of box of this computer. The first call in a process finds it out by making a box. */
  async function find (): Promise<BoxKind> {
    if (known !== undefined) return known
    probed ??= removeAbandoned(systemClock.now()).then(probe).catch((error: Error) => none(error.message))
    const kind = await probed
    if (known === undefined) found(kind)
    known = kind
    return kind
  }

  async function probe (): Promise<BoxKind> {
    if (process.platform !== 'linux' && process.platform !== 'darwin') return none('this system has none')
    const is = process.platform === 'linux' ? 'bubblewrap' as const : 'sandbox-exec' as const
    const program = (is === 'bubblewrap' ? BUBBLEWRAP : [SANDBOX_EXEC]).find(existsSync)
    if (program === undefined) return none(`${is} is not installed`)
    return inTemporary(async (folder) => {
      await mkdir(join(folder, '.git', 'hooks'), { recursive: true })
      if (await tryIn(folder, { is, program }, ['/bin/sh', ['-c', PROBE]]) === PROBE_CODE) return { is, program }
      const why = is === 'bubblewrap' ? ', as where user namespaces are forbidden or it is older than version 0.8' : ''
      return none(`${is} cannot make one here${why}`)
    })
  }

  /** Runs a command in a box over a folder. Returns its exit code; undefined if it takes too long. */
  async function tryIn (folder: string, kind: Maker, command: Command, overlay?: Overlay): Promise<number | null | undefined> {
    const { child, finish } = await withFolder(folder, (open) => start(kind, command, { folder: open, cwd: folder, overlay }))
    const hasExited = await settlesWithin({ clock, ms: PROBE_MS }, child.exited)
    await child.end(0)
    await finish()
    return hasExited ? (await child.exited).code : undefined
  }

  async function probeOverlay (kind: Maker): Promise<boolean> {
    if (!existsSync('/usr/bin/unshare')) return false
    const overlay = await createOverlay()
    if (overlay === undefined) return false
    try {
      return await inTemporary(async (folder) => {
        await tryIn(folder, kind, shellCommand(': > probe'), overlay)
        return existsSync(join(overlay.upper, 'probe')) && !existsSync(join(folder, 'probe'))
      })
    } finally {
      await overlay.remove()
    }
  }

  const start = (kind: Maker, command: Command, plan: BoxPlan): Promise<BoxedCommand> =>
    (kind.is === 'bubblewrap' ? startOnLinux : startOnMac)(kind.program, command, plan, { ...parts, shownAt, checks })

  return {
    find,
    /** Returns the kind of box; undefined before it was looked for. */
    kind: () => known,
    mode,

    /**
     * Returns where a command would run: in a box, outside, or not at all. `folder` is the folder that the command starts in, `base` the
     * working folder of its run, both real paths. `narrowed` is the mode in the options of the run: the stricter of it and config.json
     * counts.
     */
    async boundary (
      { network, ports, outside }: BoundaryWish,
      { folder, base, narrowed = 'off' }: { folder: WorkFolder, base: string, narrowed?: SandboxMode }
    ): Promise<Boundary> {
      const strict = narrower(mode(), narrowed)
      const refusedOr = (why: string): Boundary =>
        strict === 'required' || network !== undefined || ports !== undefined ? { is: 'refused', why } : { is: 'outside', why }
      if (strict === 'off') return refusedOr('The box for commands is turned off in config.json (commands.sandbox).')
      if (outside) return refusedOr(strict === 'required' ? 'No command may run outside the box here.' : 'The call asks for it.')
      const kind = await find()
      if (kind.is === 'none') return refusedOr(`No box can be had on this computer: ${kind.why}.`)
      if (network !== undefined && kind.is !== 'bubblewrap') return { is: 'refused', why: 'The box of this computer can have no network.' }
      if (ports !== undefined && !(kind.is === 'bubblewrap' && canShare())) {
        return { is: 'refused', why: 'Ports of the box of this computer cannot be reached.' }
      }
      const place = folder.path !== base && isIn(base, folder.path) ? await identify(base) ?? folder : folder
      const unfit = unfitReason(place.path, ownHome)
      if (unfit !== undefined) return refusedOr(unfit)
      const { path, dev, ino } = place
      const above = shownAt(path) === path ? (await findRepositoryAbove(path, ownHome)).repository : undefined
      const repository = above && kind.is === 'bubblewrap' && { repository: above.top, gitDirectory: above.common }
      const box = { folder: { path, dev, ino }, ...repository }
      if (network === undefined && ports === undefined) return { is: 'confined', ...box }
      return { is: 'networked', ...box, hosts: network ?? [], ...(ports && { ports }) }
    },

    /** Returns what a call can ask for: a network, and to run outside. `narrowed` is the mode in the options of its run. */
    mayAsk: (narrowed: SandboxMode = 'off'): CommandOutput['mayAsk'] =>
      ({ network: known?.is === 'bubblewrap', outside: narrower(mode(), narrowed) !== 'required' }),

    /**
     * Returns whether commands can be tried out here. The first call in a process finds it out by trying one; a failed try counts as no.
     */
    async canTry (): Promise<boolean> {
      const kind = await find()
      if (kind.is !== 'bubblewrap') return false
      if (kind.canTry !== undefined) return kind.canTry
      tryable ??= probeOverlay(kind).catch(() => false)
      return tryable
    },

    /** Makes a network that several commands can share; undefined if this computer cannot. */
    async shareNetwork (): Promise<SharedNetwork | undefined> {
      const kind = await find()
      if (kind.is !== 'bubblewrap' || !canShare()) return undefined
      return makeSharedNetwork(kind.program, { clock, environment: boxEnvironment(environment()) })
    },

    /**
     * Starts a command line in a box. `plan.folder` is the open working folder, which the caller has checked; `plan.cwd` is the same folder
     * or one in it.
     */
    async start (line: string, plan: BoxPlan): Promise<BoxedCommand> {
      const kind = await find()
      // A command that needs a box must not run without one.
      if (kind.is === 'none') throw new Error(`No box can be had: ${kind.why}.`)
      return start(kind, shellCommand(line), { ...plan, line })
    },

    /** Accepts files that tools wrote while commands run: the check after the commands does not undo them. */
    keepWritten: checks.keepWritten,

    /** Finishes the checks of commands whose service was killed. `tell` gets the sentences about what was put back. */
    finishCut: (tell: TellCut): Promise<void> => checks.finishCut(async ({ folder }) => {
      const kind = await find()
      if (kind.is !== 'bubblewrap') return createBoxedGit(undefined)
      const above = shownAt(folder) === folder ? (await findRepositoryAbove(folder, ownHome)).repository : undefined
      return boxedGitOver(kind.program, parts, { folder, above })
    }, tell),

    /** Deletes the home and the /tmp of a conversation, or of a run. Its commands must have ended. */
    forgetOwner: async (owner: string): Promise<void> => privateFolders?.remove(owner),

    /**
     * Deletes homes whose owner does not exist any more, homes that no command used for long, and, if all together are too large, the ones
     * unused for longest.
     */
    sweepOwners: async (isKept: (name: string) => Promise<boolean>): Promise<void> => privateFolders?.sweep(isKept),

    /**
     * Starts a tool server in a box. Throws an Error if no box can be made. Its message is a clause that says what to do, such as "it is to
     * run in a box, and …".
     */
    async startServer (server: ServerProgram): Promise<GuardedChild> {
      const kind = await find()
      const why = kind.is === 'none' ? kind.why : 'the boxes of this system are for commands'
      if (kind.is !== 'bubblewrap') {
        throw new Error(
          `it is to run in a box ("sandbox" of its entry), and this computer has none for it: ${why}. Install bubblewrap 0.8 or later ` +
            'and allow user namespaces, or take "sandbox" out of the entry to run it as you'
        )
      }
      return startServerInBox(server, { program: kind.program, clock, ownHome, environment: boxEnvironment(environment()), lookUp })
    },

    /** Deletes what a server in a box has downloaded. The server must have ended. */
    forgetServer: (name: string): Promise<void> => removeServerCaches(ownHome, name)
  }
}

const none = (why: string): BoxKind => ({ is: 'none', why })

const WIDTH: SandboxMode[] = ['off', 'auto', 'required']
const narrower = (one: SandboxMode, other: SandboxMode): SandboxMode => WIDTH[Math.max(WIDTH.indexOf(one), WIDTH.indexOf(other))]

async function identify (path: string): Promise<WorkFolder | undefined> {
  const stat = await lstat(path, { bigint: true }).catch(() => undefined)
  return stat?.isDirectory() ? { path, dev: String(stat.dev), ino: String(stat.ino) } : undefined
}

/** Returns sentences that tell a person where a command would run, where its commits go, and which changes could be undone. */
export function describeBoundary (boundary: Boundary): string {
  const commits = boundary.repository !== undefined &&
    `Commits go to the repository of ${JSON.stringify(boundary.repository)}.`
  return [placeText(boundary), commits, boundary.undo].filter((sentence) => typeof sentence === 'string').join(' ')
}

function placeText (boundary: Boundary): string {
  const inBox = (folder: WorkFolder) =>
    `Runs in a box: it can write in ${JSON.stringify(folder.path)} alone, sees of your other files installed tools only`
  switch (boundary.is) {
    case 'confined':
      return `${inBox(boundary.folder)} and has no network.`
    case 'networked':
      return [
        boundary.hosts.length > 0
          ? `${inBox(boundary.folder)}, and its network leads to ${boundary.hosts.join(', ')} alone.`
          : `${inBox(boundary.folder)} and reaches no network.`,
        ...boundary.ports === undefined
          ? []
          : [`Every program of this computer can reach it at ${boundary.ports.map((port) => `127.0.0.1:${port}`).join(', ')}.`]
      ].join(' ')
    case 'outside':
      return `Runs outside a box and may do whatever you may. ${boundary.why}`
    case 'refused':
      return `Does not run. ${boundary.why}`
  }
}
