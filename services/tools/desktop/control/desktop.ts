import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import createError from '@fastify/error'
import { abortKind } from '../../../lib/abort.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withDeadline } from '../../../lib/deadline.ts'
import { readLines, type Line } from '../../../lib/line-reader.ts'
import { spawnGuarded, type GuardedChild } from '../../../process/spawn-guarded.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import { ToolFailed } from '../../tool-errors.ts'
import { workerFile } from '../../../lib/worker-file.ts'
import type { Act, Acts, Answer, Order } from './desktop-rpc.ts'
import { withoutDesktop } from './display.ts'

export const DesktopBusy = createError('ERR_DESKTOP_BUSY', 'Too much is being done on the desktop at once; try again in a moment.', 503)

const LIMITS_MS: Record<Act, number> = { look: 5_000, capture: 15_000, click: 15_000, type: 50_000, scroll: 15_000 }
/** A child that is told to stop may finish the character it is at. */
const STOP_MS = 500
/** A child that nobody needed for so long is ended. */
const IDLE_MS = 30_000
const MOST_WAITING = 31
/** A picture of noise is some 5 MB. */
const LONGEST_ANSWER = 16 * 1024 * 1024
const TAIL_CHARACTERS = 600

interface Parts {
  clock: Clock
  /** Environment of the child, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
}

interface Running {
  child: GuardedChild
  answers: AsyncGenerator<Line>
  /** The last it said on stderr. */
  tail: string
}

export type Desktop = ReturnType<typeof createDesktop>

/**
 * Screen, mouse and keyboard, one act after the other. They are used in a child that is started when first needed, for
 * robotjs ends its process when something is wrong; a child that ends fails the call it was at and nothing else.
 */
export function createDesktop ({ clock, environment }: Parts) {
  const slots = createSemaphore({ limit: 1, maxQueued: MOST_WAITING, busy: () => new DesktopBusy() })
  const closing = new AbortController()
  let running: Running | undefined
  let starting: Promise<Running> | undefined
  let idle = new AbortController()
  let found: { problem?: string } | undefined
  let last: Act | undefined

  const problem = () => (found ??= { problem: withoutDesktop(process.platform, environment()) }).problem

  async function start (): Promise<Running> {
    const child = await spawnGuarded(process.execPath, [fileURLToPath(workerFile('desktop'))], {
      cwd: dirname(process.execPath),
      env: environment(),
      stdin: 'pipe',
      clock
    })
    const started = { child, answers: readLines(child.stdout, { longest: LONGEST_ANSWER, endless: LONGEST_ANSWER }), tail: '' }
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      started.tail = (started.tail + text).slice(-TAIL_CHARACTERS)
    })
    void child.exited.then(() => {
      if (running === started) running = undefined
    })
    return (running = started)
  }

  async function end (): Promise<void> {
    await starting?.catch(() => {})
    const { child } = running ?? {}
    running = undefined
    await child?.end(0)
  }

  const tell = (order: Order) => running?.child.stdin!.write(`${JSON.stringify(order)}\n`)

  async function perform (act: Act, input: unknown, signal: AbortSignal): Promise<unknown> {
    const current = running ?? await (starting = start())
    // Who gave up while the child was being started could tell it nothing.
    signal.throwIfAborted()
    tell({ act, input })
    const { value } = await current.answers.next()
    if (value === undefined || !('bytes' in value)) throw new ToolFailed(await lost(current))
    const answer = JSON.parse(value.bytes.toString()) as Answer
    if ('error' in answer) throw new ToolFailed(answer.error)
    return answer.output
  }

  async function perhaps (act: Act, input: unknown, signal: AbortSignal): Promise<unknown> {
    const ms = LIMITS_MS[act]
    let performing: Promise<unknown> = Promise.resolve()
    try {
      return await withDeadline({ clock, ms, signal }, (limit) => (performing = perform(act, input, limit)))
    } catch (error) {
      if (abortKind(error) !== undefined || signal.aborted) await stop(performing)
      signal.throwIfAborted()
      throw abortKind(error) === 'timeout'
        ? new ToolFailed(`The desktop did not do it within ${ms / 1000} s. Whether it did some of it is not known.`)
        : error
    }
  }

  /** Stops what the child is at; it is ended when it does not listen. */
  async function stop (performing: Promise<unknown>): Promise<void> {
    const settled = new AbortController()
    tell({ stop: true })
    const isOver = await Promise.race([
      performing.then(() => true, () => true),
      clock.timeout(STOP_MS, settled.signal).then(() => false, () => false)
    ])
    settled.abort()
    if (!isOver) await end()
  }

  /** Ends the child once nobody has come for a while. */
  function rest (ms: number) {
    idle.abort()
    idle = new AbortController()
    clock.sleep(ms, idle.signal).then(end, () => {})
  }

  async function run<A extends Act> (act: A, input: Acts[A]['input'], signal: AbortSignal): Promise<Acts[A]['output']> {
    const either = AbortSignal.any([signal, closing.signal])
    try {
      return await slots.run(either, () => {
        idle.abort()
        last = act
        return perhaps(act, input, either)
      }) as Acts[A]['output']
    } finally {
      if (slots.idle && running) rest(IDLE_MS)
    }
  }

  return {
    /** Does one act. Rejects with the signal's reason, with ToolFailed in words for the model, or with DesktopBusy. */
    run,

    /** Why there is no desktop here, a sentence; undefined when there is one, as far as is known. */
    problem,

    /** Tries whether there is a desktop. Nobody is kept waiting for it, and its child does not stay. */
    async probe (): Promise<void> {
      if (problem() !== undefined) return
      const wasThere = running !== undefined
      const look = () => run('look', {}, closing.signal)
      // A child that is there already may only just have lost its display: a new one says so.
      await look().catch(look).catch((error) => {
        if (!closing.signal.aborted) found = { problem: error.message }
      })
      const isWanted = problem() === undefined && (wasThere || last !== 'look')
      if (!isWanted && slots.idle && running) rest(0)
    },

    /** Process id of the child; undefined when there is none. */
    get pid (): number | undefined {
      return running?.child.pid
    },

    /** Ends the child, and what it was at with it. */
    async close (): Promise<void> {
      closing.abort(new ToolFailed('The service is ending.'))
      idle.abort()
      await end()
    }
  }
}

/** How X11 says that no key of the layout makes the character. */
const NO_KEY = /BadValue[^]*X_XTestFakeInput/

async function lost ({ child, tail }: Running): Promise<string> {
  const { code, signal } = await child.exited
  if (NO_KEY.test(tail)) {
    return 'The keyboard layout has no key for a character or key of it, and typing ended there; what comes before may have been typed.'
  }
  const said = tail.trim() === '' ? '' : `, saying ${JSON.stringify(tail.trim())}`
  return `The desktop was lost during the call: its process ended with ${
    signal ?? `exit code ${code}`
  }${said}. What the call did by then is not known.`
}
