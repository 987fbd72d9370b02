import type { CommandView } from '../../../schemas/commands.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import { defineError } from '../../lib/service-error.ts'
import type { GuardedChild } from '../../process/index.ts'
import type { BoxedCommand, BoxEnd, Sandbox, SharedNetwork } from '../../sandbox/index.ts'
import { ToolFailed } from '../tool-errors.ts'
import { collectNew, type NewOutput, SHUTDOWN_MS } from './command-output.ts'

/** The most commands in the background at a time: of one conversation or task run, and of all together. */
const MOST_OF_OWNER = 8
const MOST = 32
/** The most ended commands whose last output can still be read. */
const MOST_ENDED = 64
/** How long commands keep running without a message, a read of their output or a run of their conversation, in milliseconds. */
const IDLE_MS = 60 * 60 * 1000

/** Matches a hostname in a URL that means this machine. */
const THIS_MACHINE = /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]*:[\da-f]+\])$/i

const CommandUnknown = defineError(
  'ERR_COMMAND_UNKNOWN',
  'No command "%s" runs in the background. GET /commands lists those that do.'
)

/** The owner of commands: a conversation, or the run of a task. */
interface CommandOwner {
  threadId?: string
  taskId?: string
}

/** A command that has started. `finish` does the work that follows the end of a command in a box (a sandbox). */
export interface Started {
  child: GuardedChild
  finish?: BoxedCommand['finish']
  explain?: BoxedCommand['explain']
}

interface Background extends CommandView {
  key: string
  isBoxed: boolean
  output: NewOutput
  child: GuardedChild
  /** Set once the command has ended. */
  end?: BoxEnd & { exitCode: number | null, signal?: NodeJS.Signals }
  explain?: BoxedCommand['explain']
  /** Settles when the command and all its child processes have ended. */
  ended: Promise<void>
}

/** The output of a command since the last read, and the state of the command. */
export interface CommandState extends ReturnType<NewOutput['take']> {
  end?: Background['end']
  explain?: BoxedCommand['explain']
}

const stateOf = ({ output, end, explain }: Background): CommandState => ({ ...output.take(), end, ...(explain && { explain }) })

interface Parts {
  clock: Clock
  log: Pick<Log, 'warn'>
  /** Returns the owner of a run's commands; undefined if the run is not active. */
  ownerOf: (runId: string) => CommandOwner | undefined
  /** True if a run of the conversation, or the run of the task, is active. */
  isActive: (owner: CommandOwner & { runId: string }) => boolean
  boxes: Pick<Sandbox, 'shareNetwork' | 'forgetOwner'>
  /** Resolves when the file changes of a run's ended commands are stored. */
  settled?: (runId: string) => Promise<void>
  /** Called with sentences about files that were removed after a command, because a model might never read the command's result. */
  tookAway?: (command: CommandView, sentences: readonly string[]) => Promise<void>
}

export type BackgroundCommands = ReturnType<typeof createBackgroundCommands>

/**
 * Manages commands that keep running after their calls have ended: as long as their conversation uses them, but no longer than this process
 * runs.
 */
export function createBackgroundCommands ({ clock, log, ownerOf, isActive, boxes, settled, tookAway }: Parts) {
  const running = new Map<string, Background>()
  const ended = new Map<string, Background>()
  /** The network that an owner's commands share, by the key of the owner. */
  const networks = new Map<string, Promise<SharedNetwork | undefined>>()
  const usedAt = new Map<string, number>()
  /**
   * Reserved places for background commands that are about to start; `beside` has one for each other command that uses the owner's network.
   */
  const starting = new Set<{ key: string }>()
  const beside = new Set<{ key: string }>()
  let isClosing = false

  const keyOf = (runId: string): string => {
    const owner = ownerOf(runId)
    return owner?.threadId === undefined ? `run:${runId}` : `thread:${owner.threadId}`
  }
  const ofKey = (key: string): Background[] => [...running.values()].filter((each) => each.key === key)
  const countOf = (places: ReadonlySet<{ key: string }>, key: string): number => [...places].filter((each) => each.key === key).length
  const use = (key: string) => usedAt.set(key, clock.awake())

  function find (runId: string, commandId: string): Background {
    const key = keyOf(runId)
    const found = running.get(commandId) ?? ended.get(commandId)
    if (found?.key !== key) {
      throw new ToolFailed(
        `No command ${JSON.stringify(commandId)} of this conversation runs in the background: it has ended, and its output is gone. ` +
        'Commands end an hour after their last use, and with the service.'
      )
    }
    use(key)
    return found
  }

  /** Reserves a slot, and returns the function that releases it. Throws ToolFailed if there are too many commands. */
  function reserve (key: string): () => void {
    if (isClosing) throw new ToolFailed('The service is about to end.')
    const own = ofKey(key)
    if (own.length + countOf(starting, key) >= MOST_OF_OWNER) {
      const list = own.map(({ commandId, command }) => `${commandId} (${command.slice(0, 60)})`).join(', ')
      throw new ToolFailed(`${MOST_OF_OWNER} commands run in the background already. End one with stopCommand first: ${list}.`)
    }
    if (running.size + starting.size >= MOST) {
      throw new ToolFailed(`${MOST} commands of all conversations run in the background already. Try again when one has ended.`)
    }
    const place = { key }
    starting.add(place)
    return () => void starting.delete(place)
  }

  /** Closes the network of an owner if none of the owner's commands needs it. */
  async function leave (key: string): Promise<void> {
    if (ofKey(key).length > 0 || countOf(starting, key) > 0) return
    usedAt.delete(key)
    if (countOf(beside, key) > 0) return
    const network = networks.get(key)
    networks.delete(key)
    await close(await network?.catch(() => undefined))
  }

  const close = (network: SharedNetwork | undefined) =>
    network?.close().catch((error: Error) => log.warn({ err: error }, 'the network of commands could not be closed'))

  /** Opens ports, all or none, and returns the function that closes them. Throws ToolFailed if a port cannot be opened. */
  async function openPorts (network: SharedNetwork | undefined, ports: number[]): Promise<() => void> {
    const open: Array<() => void> = []
    const closeAll = () => open.forEach((close) => close())
    for (const port of ports) {
      try {
        if (network === undefined) throw new Error('there is no network')
        open.push(await network.open(port))
      } catch (error) {
        closeAll()
        const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
        throw new ToolFailed(
          isTaken
            ? `Port ${port} of this computer is in use. Have the command listen at another one, and name that.`
            : `Port ${port} could not be opened: ${(error as Error).message}`
        )
      }
    }
    return closeAll
  }

  /** Ends a command once its owner's commands have not been used for IDLE_MS. */
  async function watch (key: string, command: Background): Promise<void> {
    for (;;) {
      const left = (usedAt.get(key) ?? 0) + IDLE_MS - clock.awake()
      if (left <= 0 && !isActive(command)) return void command.child.end()
      if (left <= 0) use(key)
      if (await settlesWithin({ clock, ms: left <= 0 ? IDLE_MS : left }, command.ended)) return
    }
  }

  function register (
    view: Omit<Background, 'startedAt' | 'output' | 'child' | 'ended'>,
    { child, finish, explain }: Started,
    cleanUp: () => Promise<void>
  ): Background {
    const output = collectNew([child.stdout, child.stderr])
    const endIt = async () => {
      const { code, signal } = await child.exited
      await child.end()
      await output.closed(clock)
      const boxEnd = await finish?.().catch((error: Error) => {
        log.warn({ err: error }, 'what a command left behind could not be looked at')
      }) ?? { takenAway: [], notes: [] }
      command.end = { exitCode: code, ...(signal !== null && { signal }), ...boxEnd }
      running.delete(view.commandId)
      ended.set(view.commandId, command)
      for (const old of [...ended.keys()].slice(0, -MOST_ENDED)) ended.delete(old)
      if (boxEnd.takenAway.length > 0) {
        await tookAway?.(command, boxEnd.takenAway).catch((error) => log.warn({ err: error }, 'what was taken away could not be told'))
      }
      await cleanUp()
      await leave(view.key)
    }
    const command: Background = { ...view, startedAt: clock.now(), output, child, explain, ended: Promise.resolve() }
    running.set(view.commandId, command)
    command.ended = endIt()
    void watch(view.key, command)
    return command
  }

  const endAll = async (commands: Background[], graceMs?: number): Promise<void> => {
    await Promise.all(commands.map(async ({ child, ended }) => {
      void child.end(graceMs)
      await ended
    }))
  }

  return {
    /** Records that a run of the conversation has ended. Its commands can keep running for another IDLE_MS. */
    used (threadId: string): void {
      const key = `thread:${threadId}`
      if (ofKey(key).length > 0) use(key)
    },

    /**
     * Starts a command with `begin`, which gets the network of the owner's background commands, if there is one. The network is kept until
     * the command has ended, even if all background commands end before that.
     */
    async besideOthers (runId: string, begin: (shared: SharedNetwork | undefined) => Promise<Started>): Promise<Started> {
      const place = { key: keyOf(runId) }
      const leaveIt = () => {
        beside.delete(place)
        return leave(place.key)
      }
      beside.add(place)
      try {
        const started = await begin(await networks.get(place.key)?.catch(() => undefined))
        void started.child.exited.then(leaveIt)
        return started
      } catch (error) {
        await leaveIt()
        throw error
      }
    },

    /** Returns the key of the home folder and /tmp that a run's commands use: those of its conversation or, for a task, of the run. */
    ownerKey: keyOf,

    /** Returns the ports at 127.0.0.1 of the commands of the run's conversation. */
    portsOf: (runId: string): number[] => ofKey(keyOf(runId)).flatMap(({ ports }) => ports),

    /** True if an address leads to a port that was opened for a command in a box. */
    isOpen (address: string): boolean {
      const port = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{4,5})(?:[/?#]|$)/i.exec(address.trim())?.[1]
      return port !== undefined && [...running.values()].some(({ isBoxed, ports }) => isBoxed && ports.includes(Number(port)))
    },

    /**
     * True if a page of this machine might be served by a command: its port was opened for a command in a box, or a command runs outside.
     */
    mayServe (address: string): boolean {
      const { hostname, port } = URL.parse(address) ?? {}
      if (hostname === undefined || !THIS_MACHINE.test(hostname)) return false
      return [...running.values()].some(({ isBoxed, ports }) => !isBoxed || ports.includes(Number(port)))
    },

    /**
     * Starts a command with `begin`, which gets the network to run in. `boxed` is set if the command runs in a box, and has the hosts that
     * it is allowed to reach. Throws ToolFailed if there are too many commands, or if a port is taken.
     */
    async start (
      { runId, command, ports = [], boxed }: { runId: string, command: string, ports?: number[], boxed?: { hosts: string[] } },
      begin: (shared: SharedNetwork | undefined) => Promise<Started>
    ): Promise<{ commandId: string, ended: Promise<void>, output: NewOutput }> {
      const key = keyOf(runId)
      const release = reserve(key)
      use(key)
      // The other commands are not allowed to reach these hosts, so this command gets a network of its own.
      const isApart = boxed !== undefined && boxed.hosts.length > 0
      let own: SharedNetwork | undefined
      try {
        if (isApart && ports.length > 0) own = await boxes.shareNetwork()
        if (boxed !== undefined && !isApart && !networks.has(key)) {
          networks.set(key, boxes.shareNetwork().catch((error) => {
            networks.delete(key)
            throw error
          }))
        }
        const network = own ?? (isApart ? undefined : await networks.get(key))
        const closePorts = await openPorts(network, boxed === undefined ? [] : ports)
        const started = await begin(network).catch((error) => {
          closePorts()
          throw error
        })
        const view = { commandId: newId(), command, runId, ports, key, isBoxed: boxed !== undefined, ...ownerOf(runId) }
        return register(view, started, async () => {
          closePorts()
          await close(own)
        })
      } catch (error) {
        await close(own)
        release()
        await leave(key)
        throw error
      } finally {
        release()
      }
    },

    /**
     * Returns the output of a command since the last read, and its end. Waits for output or the end, at most `ms` milliseconds. Throws
     * ToolFailed if the command belongs to another conversation, or the signal's abort reason.
     */
    async read (runId: string, commandId: string, { ms, signal }: { ms: number, signal?: AbortSignal }): Promise<CommandState> {
      const command = find(runId, commandId)
      await settlesWithin({ clock, ms, signal }, Promise.race([command.output.some(), command.ended]))
      if (command.output.isEnded() && command.end === undefined) await settlesWithin({ clock, ms, signal }, command.ended)
      // The output stays for the next read, because nobody gets the result of this one.
      signal?.throwIfAborted()
      return stateOf(command)
    },

    /** Ends a command and all its child processes. Throws what `read` throws. */
    async stop (runId: string, commandId: string): Promise<CommandState> {
      const command = find(runId, commandId)
      await endAll([command])
      return stateOf(command)
    },

    /** Returns the running commands, oldest first. */
    list: (): CommandView[] =>
      [...running.values()].map(({ commandId, command, runId, threadId, taskId, ports, startedAt }) =>
        ({ commandId, command, runId, ...(threadId && { threadId }), ...(taskId && { taskId }), ports, startedAt })),

    /** Ends a command for a person, from any conversation. Throws CommandUnknown (404). */
    async end (commandId: string): Promise<void> {
      const command = running.get(commandId)
      if (command === undefined) throw new CommandUnknown(commandId)
      await endAll([command])
    },

    /**
     * Ends the commands of a deleted conversation or an ended task run, and erases their home folder and /tmp. Resolves once the changes of
     * the commands are stored.
     */
    async endOf ({ threadId, runId }: { threadId?: string, runId?: string }): Promise<void> {
      const key = threadId === undefined ? `run:${runId}` : `thread:${threadId}`
      const commands = [...running.values(), ...ended.values()].filter((each) => each.key === key)
      await endAll(ofKey(key))
      for (const { commandId } of commands) ended.delete(commandId)
      await Promise.all(commands.map((each) => settled?.(each.runId)))
      await boxes.forgetOwner(key).catch((error: Error) => log.warn({ err: error }, 'a home of commands could not be erased yet'))
    },

    /** Ends all commands, and prevents others from starting. */
    async close (): Promise<void> {
      isClosing = true
      await endAll([...running.values()], SHUTDOWN_MS)
    }
  }
}
