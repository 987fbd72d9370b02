import { parse } from 'node:path'
import { defineError } from '../../../lib/service-error.ts'
import { abortKind } from '../../../lib/abort.ts'
import type { Clock } from '../../../lib/clock.ts'
import { settlesWithin, withDeadline } from '../../../lib/deadline.ts'
import { readLines, type Line } from '../../../lib/line-reader.ts'
import { childProgram, type GuardedChild, spawnGuarded } from '../../../process/index.ts'
import { createOneAtATime } from '../../one-at-a-time.ts'
import { ToolFailed } from '../../tool-errors.ts'
import type { Act, Acts, Answer, Order } from './desktop-rpc.ts'
import { createRequire } from 'node:module'

const DesktopBusy = defineError('ERR_DESKTOP_BUSY', 'Too much is being done on the desktop at once; try again in a moment.')

const LIMITS_MS: Record<Act, number> = { look: 5_000, capture: 15_000, click: 15_000, type: 50_000, scroll: 15_000 }
/** The time that a child has to stop, in milliseconds, so that it can finish the current character. */
const STOP_MS = 500
/** The most bytes of one answer. An image of noise takes about 5 MB. */
const LONGEST_ANSWER = 16 * 1024 * 1024
const TAIL_CHARACTERS = 600

interface Parts {
  clock: Clock
  /** The environment of the child, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
}

interface Running {
  child: GuardedChild
  answers: AsyncGenerator<Line>
  /** The end of the child's stderr. */
  tail: string
}

export type Desktop = ReturnType<typeof createDesktop>

/**
 * Uses the screen, the mouse and the keyboard, one action at a time. The actions run in a child process that is started when needed,
 * because robotjs exits its process on errors. A child that ends fails only the running action.
 */
export function createDesktop ({ clock, environment }: Parts) {
  const acts = createOneAtATime({ clock, busy: () => new DesktopBusy(), isRunning: () => running !== undefined, end })
  let running: Running | undefined
  let starting: Promise<Running> | undefined
  let probed: { problem?: string } | undefined
  /** True if the running child performed an action other than a probe. */
  let isUsed = false

  const problem = () => (probed ??= { problem: desktopProblem(process.platform, environment()) }).problem

  async function start (): Promise<Running> {
    const { command, args, env, input } = childProgram('desktop')
    const child = await spawnGuarded(command, args, {
      cwd: parse(process.execPath).root,
      env: { ...environment(), ...env },
      stdin: 'pipe',
      clock
    })
    child.stdin!.write(input)
    const started = { child, answers: readLines(child.stdout, { longest: LONGEST_ANSWER, endless: LONGEST_ANSWER }), tail: '' }
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      started.tail = (started.tail + text).slice(-TAIL_CHARACTERS)
    })
    void child.exited.then(() => {
      if (running !== started) return
      running = undefined
      isUsed = false
    })
    return (running = started)
  }

  async function end (): Promise<void> {
    await starting?.catch(() => {})
    const { child, answers } = running ?? {}
    running = undefined
    isUsed = false
    await child?.end(0)
    void answers?.return(undefined).catch(() => {})
  }

  const send = (order: Order) => running?.child.stdin!.write(`${JSON.stringify(order)}\n`)

  async function perform (act: Act, input: unknown, signal: AbortSignal): Promise<unknown> {
    const current = running ?? await (starting = start())
    // The signal might have aborted while the child was being started; nothing was sent to the child yet.
    signal.throwIfAborted()
    send({ act, input })
    const { answers } = current
    const { value } = await answers.next()
    if (value === undefined || !('bytes' in value)) throw new ToolFailed(await describeLoss(current))
    const answer = JSON.parse(value.bytes.toString()) as Answer
    if ('error' in answer) throw new ToolFailed(answer.error)
    return answer.output
  }

  async function performWithDeadline (act: Act, input: unknown, signal: AbortSignal): Promise<unknown> {
    const ms = LIMITS_MS[act]
    let performing: Promise<unknown> = Promise.resolve()
    try {
      return await withDeadline({ clock, ms, signal }, (limit) => (performing = perform(act, input, limit)))
    } catch (error) {
      if (abortKind(error) !== undefined || signal.aborted) await stop(performing)
      signal.throwIfAborted()
      throw abortKind(error) === 'timeout'
        ? new ToolFailed(`The call did not end within ${ms / 1000} s. It may have had some of its effects: look before you repeat it.`)
        : error
    }
  }

  /** Stops the running action. Ends the child if the action does not stop within STOP_MS. */
  async function stop (performing: Promise<unknown>): Promise<void> {
    send({ stop: true })
    if (!await settlesWithin({ clock, ms: STOP_MS }, Promise.allSettled([performing]))) await end()
  }

  const run = <A extends Act>(act: A, input: Acts[A]['input'], signal: AbortSignal): Promise<Acts[A]['output']> =>
    acts.run(signal, (aborted) => {
      isUsed ||= act !== 'look'
      return performWithDeadline(act, input, aborted) as Promise<Acts[A]['output']>
    })

  return {
    /**
     * Performs one action. Rejects with the signal's abort reason, with ToolFailed, whose message is for the model, or with DesktopBusy.
     */
    run,

    /** Returns a sentence that says why the desktop cannot be used; undefined if no obstacle is known. */
    problem,

    /**
     * Tests whether the desktop can be used, and stores the result for `problem`. Ends the child afterwards, unless another action used it.
     */
    async probe (): Promise<void> {
      if (problem() !== undefined) return
      const look = () => run('look', {}, acts.closing)
      // A running child might just have lost its display. The second attempt then starts a new child.
      await look().catch(look).catch((error) => {
        if (!acts.closing.aborted) probed = { problem: error.message }
      })
      if (!(isUsed && problem() === undefined)) acts.endWhenIdle(0)
    },

    /** The process id of the child; undefined if no child is running. */
    get pid (): number | undefined {
      return running?.child.pid
    },

    /** Ends the child together with its running action. */
    close: (): Promise<void> => acts.close(new ToolFailed('The service is ending.'))
  }
}

/** Matches the X11 error for a character that has no key in the keyboard layout. */
const NO_KEY = /BadValue[^]*X_XTestFakeInput/

/** Returns a text for the model that says why the child ended during a call. */
async function describeLoss ({ child, tail }: Running): Promise<string> {
  const { code, signal } = await child.exited
  if (NO_KEY.test(tail)) {
    return 'The keyboard layout cannot type one of these characters or keys. Typing ended there: what comes before it may have been typed.'
  }
  const stderr = tail.trim() === '' ? '' : `, saying ${JSON.stringify(tail.trim())}`
  return `The desktop was lost during the call: its process ended with ${
    signal ?? `exit code ${code}`
  }${stderr}. What the call did by then is not known.`
}

const WAYLAND = 'This is a Wayland session, where programs can neither see the screen nor use mouse and keyboard. Log in to an X11 session.'

/** Returns a sentence that says why the desktop cannot be used; undefined if nothing speaks against it before it is tried. */
function desktopProblem (platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string | undefined {
  if (!['linux', 'darwin', 'win32'].includes(platform)) return `There is no desktop for ${platform}.`
  try {
    createRequire(import.meta.url).resolve('robotjs')
  } catch {
    return 'The package robotjs is not installed.'
  }
  if (platform !== 'linux') return undefined
  // If both are set, DISPLAY belongs to XWayland, which sees only the windows of X11 programs.
  if (environment.WAYLAND_DISPLAY) return WAYLAND
  return environment.DISPLAY ? undefined : 'There is no display: DISPLAY is not set.'
}
