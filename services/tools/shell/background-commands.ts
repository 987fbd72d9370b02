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

/** Commands that run in the background at once: of one conversation or run of a task, and in all. */
const MOST_OF_OWNER = 8
const MOST = 32
/** Ended commands whose last output can still be read. */
const MOST_ENDED = 64
/** How long commands go on without a message, a read of their output or a run of their conversation, milliseconds. */
const IDLE_MS = 60 * 60 * 1000

/** Names and addresses of this machine, as they stand in an address that was read. */
const THIS_MACHINE = /^(?:localhost|[\w.-]+\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[\da-f]*:[\da-f]+\])$/i

const CommandUnknown = defineError(
  'ERR_COMMAND_UNKNOWN',
  'No command "%s" runs in the background. GET /commands lists those that do.'
)

/** Whose commands they are: a conversation's, or those of a run of a task. */
interface CommandOwner {
  threadId?: string
  taskId?: string
}

/** A command that started, with what follows its end in a box. */
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
  /** Set when it has ended. */
  end?: BoxEnd & { exitCode: number | null, signal?: NodeJS.Signals }
  explain?: BoxedCommand['explain']
  /** Settles when it has ended, with all that it started. */
  ended: Promise<void>
}

/** What is new of a command. */
export interface CommandState extends ReturnType<NewOutput['take']> {
  end?: Background['end']
  explain?: BoxedCommand['explain']
}

const stateOf = ({ output, end, explain }: Background): CommandState => ({ ...output.take(), end, ...(explain && { explain }) })

interface Parts {
  clock: Clock
  log: Pick<Log, 'warn'>
  /** Returns whose run it is; undefined for one that is not active. */
  ownerOf: (runId: string) => CommandOwner | undefined
  /** Whether a run of the conversation, or the run of the task, is active. */
  isActive: (owner: CommandOwner & { runId: string }) => boolean
  boxes: Pick<Sandbox, 'shareNetwork' | 'forgetOwner'>
}

export type BackgroundCommands = ReturnType<typeof createBackgroundCommands>

/** The commands that stay when their calls have ended: as long as their conversation uses them, at most as long as this process. */
export function createBackgroundCommands ({ clock, log, ownerOf, isActive, boxes }: Parts) {
  const running = new Map<string, Background>()
  const ended = new Map<string, Background>()
  /** The networks of owners whose commands share one. */
  const networks = new Map<string, Promise<SharedNetwork | undefined>>()
  const usedAt = new Map<string, number>()
  /** The places of commands that are about to run, and what other commands of the same owner use its network. */
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
        `No command ${JSON.stringify(commandId)} of this conversation runs in the background: it has ended, with what it wrote. ` +
        'Commands end an hour after their last use, and with the service.'
      )
    }
    use(key)
    return found
  }

  /** Throws ToolFailed when there are as many as may be. */
  function reserve (key: string): () => void {
    if (isClosing) throw new ToolFailed('The service is about to end.')
    const own = ofKey(key)
    if (own.length + countOf(starting, key) >= MOST_OF_OWNER) {
      const list = own.map(({ commandId, command }) => `${commandId} (${command.slice(0, 60)})`).join(', ')
      throw new ToolFailed(`${MOST_OF_OWNER} commands run in the background already. End one with stopCommand first: ${list}.`)
    }
    if (running.size + starting.size >= MOST) throw new ToolFailed(`${MOST} commands of all conversations run in the background already.`)
    const place = { key }
    starting.add(place)
    return () => void starting.delete(place)
  }

  /** Ends the network of an owner none of whose commands needs it. */
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

  /** Opens ports, all or none; returns what closes them. */
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

  /** Ends the commands of an owner that nobody has used for an hour. */
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
    /** A run of the conversation has ended: its commands may go on for another hour. */
    used (threadId: string): void {
      const key = `thread:${threadId}`
      if (ofKey(key).length > 0) use(key)
    },

    /**
     * Starts a command with `begin`, which gets the network that it shares with those of its owner that run in the background, if there is
     * one. That stays until the command has ended: who starts it has not joined it yet.
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

    /** Whose home and /tmp commands of the run have: those of its conversation, or its own. */
    ownerKey: keyOf,

    /** The ports of commands of the run's conversation that can be reached at 127.0.0.1. */
    portsOf: (runId: string): number[] => ofKey(keyOf(runId)).flatMap(({ ports }) => ports),

    /** Whether an address leads to a port that a command in a box has opened. */
    isOpen (address: string): boolean {
      const port = /^http:\/\/(?:127\.0\.0\.1|localhost):(\d{4,5})(?:[/?#]|$)/i.exec(address.trim())?.[1]
      return port !== undefined && [...running.values()].some(({ isBoxed, ports }) => isBoxed && ports.includes(Number(port)))
    },

    /** Whether a page of this machine may be one of a command: one in a box opened its port, or one runs outside. */
    mayServe (address: string): boolean {
      const { hostname, port } = URL.parse(address) ?? {}
      if (hostname === undefined || !THIS_MACHINE.test(hostname)) return false
      return [...running.values()].some(({ isBoxed, ports }) => !isBoxed || ports.includes(Number(port)))
    },

    /**
     * Starts a command with `begin`, which gets the network that it is to run in. `boxed`: it runs in a box, with these hosts to reach.
     * Throws ToolFailed where there are too many or a port is taken.
     */
    async start (
      { runId, command, ports = [], boxed }: { runId: string, command: string, ports?: number[], boxed?: { hosts: string[] } },
      begin: (shared: SharedNetwork | undefined) => Promise<Started>
    ): Promise<{ commandId: string, ended: Promise<void>, output: NewOutput }> {
      const key = keyOf(runId)
      const release = reserve(key)
      use(key)
      // Hosts that one command may reach are not for the others.
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
     * Returns what a command has written since it was last asked, and its end; waits for that, `ms` milliseconds at most. Throws ToolFailed
     * for one of another conversation.
     */
    async read (runId: string, commandId: string, { ms, signal }: { ms: number, signal?: AbortSignal }): Promise<CommandState> {
      const command = find(runId, commandId)
      await settlesWithin({ clock, ms, signal }, Promise.race([command.output.some(), command.ended]))
      if (command.output.isEnded() && command.end === undefined) await settlesWithin({ clock, ms, signal }, command.ended)
      return stateOf(command)
    },

    /** Ends a command with all that it started. Throws ToolFailed as `read`. */
    async stop (runId: string, commandId: string): Promise<CommandState> {
      const command = find(runId, commandId)
      await endAll([command])
      return stateOf(command)
    },

    /** The commands that run, the oldest first. */
    list: (): CommandView[] =>
      [...running.values()].map(({ commandId, command, runId, threadId, taskId, ports, startedAt }) =>
        ({ commandId, command, runId, ...(threadId && { threadId }), ...(taskId && { taskId }), ports, startedAt })),

    /** Ends a command for a person. Throws CommandUnknown (404). */
    async end (commandId: string): Promise<void> {
      const command = running.get(commandId)
      if (command === undefined) throw new CommandUnknown(commandId)
      await endAll([command])
    },

    /** Ends the commands of a conversation that is deleted, or of a run of a task that has ended, and erases their home and /tmp. */
    async endOf ({ threadId, runId }: { threadId?: string, runId?: string }): Promise<void> {
      const key = threadId === undefined ? `run:${runId}` : `thread:${threadId}`
      for (const [id, each] of ended) if (each.key === key) ended.delete(id)
      await endAll(ofKey(key))
      await boxes.forgetOwner(key).catch((error: Error) => log.warn({ err: error }, 'a home of commands could not be erased yet'))
    },

    /** Ends all commands; no other one starts. */
    async close (): Promise<void> {
      isClosing = true
      await endAll([...running.values()], SHUTDOWN_MS)
    }
  }
}
