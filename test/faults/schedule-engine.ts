import { setImmediate as turn } from 'node:timers/promises'
import type { App } from '../../app.ts'
import type { Clock } from '../../services/lib/clock.ts'
import { createGrants } from '../../services/approvals/grants/grants.ts'
import { createLedger } from '../../services/approvals/ledger.ts'
import { createIdempotency } from '../../services/http/idempotency.ts'
import type { Store } from '../../services/store/store-types.ts'
import { createTasks } from '../../services/tasks/task-service.ts'
import { createActiveRuns } from '../../services/runs/engine/active-runs.ts'
import { drive } from '../../services/runs/engine/drive.ts'
import { createRunRepository } from '../../services/runs/run-repository.ts'
import { facts } from '../harness/facts.ts'

const NO_NOTIFICATIONS = { ops: () => [], closing: () => [], toldBy: () => [] }

/** The service looks at the clock at least so often. */
export const LOOK_MS = 10_000
/** The same while there is nothing that can become due. */
const IDLE_LOOK_MS = 3_600_000
/** Who looks: the schedules and the triggers. */
const LOOKING = 2

/** What runs of a task do. */
export type Mode = 'ok' | 'fail' | 'hold'

/** A clock that is set in both directions, beside one that goes on; who sleeps less than a second wakes at once. */
export function setClock () {
  let wall = Date.UTC(2026, 0, 5, 9)
  let elapsed = 0
  const sleepers = new Set<{ ms: number, at: number, wake: () => void }>()
  const clock: Clock = {
    now: () => wall,
    monotonic: () => elapsed,
    awake: () => elapsed,
    timeout: (ms, signal) => clock.sleep(ms, signal),
    sleep: (ms, signal) =>
      ms < 1_000
        ? turn(undefined, { signal })
        : new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason)
          const sleeper = { ms, at: elapsed + ms, wake: resolve }
          sleepers.add(sleeper)
          signal?.addEventListener('abort', () => {
            sleepers.delete(sleeper)
            reject(signal.reason)
          }, { once: true })
        })
  }
  return {
    clock,
    /** Once the service has looked: the wall clock is so much later, or earlier; in truth it was the time between two looks. */
    async move (ms: number) {
      while ([...sleepers].filter(({ ms }) => ms <= LOOK_MS || ms === IDLE_LOOK_MS).length < LOOKING) await turn()
      wall += ms
      elapsed += LOOK_MS
      for (const sleeper of [...sleepers]) {
        if (sleeper.at > elapsed) continue
        sleepers.delete(sleeper)
        sleeper.wake()
      }
    }
  }
}

/** The same store, until it is taken away as from a service that is killed: what was acknowledged is there. */
function cuttable (store: Store) {
  let dead = false
  const alive = () => {
    if (dead) throw Object.assign(new Error('the service was killed'), { code: 'ERR_STORE_UNAVAILABLE' })
  }
  const cut: Store = {
    ...store,
    async get (key) {
      alive()
      return store.get(key)
    },
    async * list<T> (prefix: string, options?: object) {
      alive()
      yield * store.list<T>(prefix, options)
    },
    async transact (ops) {
      alive()
      await store.transact(ops)
      alive()
    }
  }
  return {
    store: cut,
    kill: () => {
      dead = true
    }
  }
}

/** One life: the service's engine, whose runs work in this thread, as the test says. */
export class Engine {
  tasks: ReturnType<typeof createTasks>
  modes: Map<string, Mode>
  #held = new Set<() => void>()
  #cut: ReturnType<typeof cuttable>

  constructor (app: App, clock: Clock, modes: Map<string, Mode>) {
    this.modes = modes
    this.#cut = cuttable(app.store)
    const { store } = this.#cut
    const activeRuns = createActiveRuns({ clock, limit: () => 128 })
    this.tasks = createTasks(
      {
        store,
        clock,
        runs: createRunRepository({ store, clock, facts }),
        activeRuns,
        registry: app.providers,
        host: app.tools,
        helpers: app.helperQueue,
        fence: app.fence,
        usage: app.usage,
        agents: app.agents,
        copies: app.copies,
        ledger: createLedger({ store, clock }),
        keepAwake: app.keepAwake,
        liveQuestions: app.liveQuestions,
        undo: app.undo,
        grants: createGrants({ store, clock, tools: app.tools, hasToken: false, largestKept: () => Infinity }),
        idempotency: createIdempotency({ store, clock }),
        config: () => ({}),
        memory: async () => '',
        skills: app.skills,
        machine: '',
        guides: app.folderGuides,
        workspace: app.workspace,
        threads: app.threads,
        paths: app.paths,
        transform: app.fileTransform,
        slowTransform: app.fileTransform,
        notifications: NO_NOTIFICATIONS,
        emit () {},
        log: { info () {}, warn () {}, error () {} }
      } as Parameters<typeof createTasks>[0],
      {
        run: async (actions, signal) => {
          signal.throwIfAborted()
          const aborted = new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason), { once: true })
          })
          aborted.catch(() => {})
          const { log: { events } } = activeRuns.ofTasks().find((live) => live.signal === signal)!.run
          await actions.next()
          const context = events.find((event) => event.type === 'context')
          const name = /task \d+/.exec(JSON.stringify(context))![0]
          while (this.modes.get(name) === 'hold') await Promise.race([aborted, new Promise<void>((resolve) => this.#held.add(resolve))])
          if (this.modes.get(name) === 'fail') throw Object.assign(new Error('it failed, as the test says'), { code: 'ERR_TEST' })
          return Promise.race([aborted, drive(actions)])
        },
        prepare () {},
        close: async () => {}
      }
    )
  }

  mode (name: string, mode: Mode) {
    this.modes.set(name, mode)
    for (const resolve of this.#held) resolve()
    this.#held.clear()
  }

  async kill () {
    this.#cut.kill()
    await this.tasks.close()
  }
}
