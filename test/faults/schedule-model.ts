import type { Schedule } from '../../schemas/schedule.ts'
import type { RunStatus, RunTrigger, TaskStatus } from '../../schemas/tasks.ts'

export interface Wanted {
  everyMs: number
  missed: 'run_once' | 'skip'
  graceMs: number
  maxRuns?: number
}
export interface ModelRun {
  trigger: RunTrigger
  status: RunStatus
  standsFor?: number
  crashes: number
}

export const ALLOWED: Record<string, TaskStatus[]> = {
  start: ['planned', 'completed', 'failed', 'cancelled'],
  pause: ['running', 'scheduled'],
  resume: ['paused'],
  run: ['planned', 'scheduled', 'paused', 'completed', 'failed'],
  steer: ['planned', 'scheduled', 'running', 'paused', 'completed', 'failed'],
  cancel: ['planned', 'scheduled', 'running', 'paused'],
  cancelRun: ['running']
}
const RESTING: TaskStatus[] = ['planned', 'completed', 'failed', 'cancelled']
const LATE_MS = 30_000
const FAILURES = 5

export const scheduleOf = ({ everyMs, ...rest }: Wanted): Schedule => ({ interval: `${everyMs / 60_000}m`, ...rest })

/** A recurring task by the rules, as simple as they can be written: every planned time is looked at one by one. */
export class ModelTask {
  status: TaskStatus = 'planned'
  reason: string | undefined
  /** The schedule under way. */
  plan: Wanted & { since: number, ran: number } | undefined
  last = 0
  next: number | undefined
  runs: ModelRun[] = []
  fates = new Map<number, string>()
  live: ModelRun | undefined
  waiting: ModelRun | undefined
  returnTo: TaskStatus | undefined
  failures = 0
  /** Of a failing task: the time from which a planned time is tried again. */
  tryAt: number | undefined
  wanted: Wanted

  constructor (wanted: Wanted) {
    this.wanted = wanted
  }

  get spent () {
    return this.plan?.maxRuns !== undefined && this.plan.ran >= this.plan.maxRuns
  }

  /** Planned times after the one and up to the other. */
  #times (after: number, upTo: number): number[] {
    const times: number[] = []
    for (let at = this.#after(after); at <= upTo; at += this.plan!.everyMs) times.push(at)
    return times
  }

  #after (time: number) {
    const { since, everyMs } = this.plan!
    return since + (Math.floor((time - since) / everyMs) + 1) * everyMs
  }

  /** What is announced: while the clock is behind, what comes after the last time, unless another comes before it. */
  #announce (now: number) {
    const soon = this.#after(now)
    this.next = this.spent ? undefined : soon < this.last ? soon : this.#after(Math.max(this.last, now))
  }

  #begin (now: number) {
    this.plan = { ...this.wanted, since: now, ran: 0 }
    this.last = now
    this.#announce(now)
  }

  #goBy (now: number, reason: string) {
    if (this.plan === undefined || this.spent) return
    for (const at of this.#times(this.last, now)) this.fates.set(at, `skipped ${reason}`)
    this.last = Math.max(this.last, now)
    this.#announce(now)
  }

  #newRun (trigger: RunTrigger, standsFor?: number): ModelRun {
    const run: ModelRun = { trigger, status: 'running', crashes: 0, ...(standsFor !== undefined && { standsFor }) }
    this.runs.push(run)
    return run
  }

  act (verb: string, now: number) {
    if (verb === 'start') {
      this.failures = 0
      this.tryAt = undefined
      this.returnTo = this.reason = undefined
      this.#begin(now)
      this.status = 'scheduled'
    } else if (verb === 'pause') {
      // Behind a run by hand there may be no schedule that goes on.
      const resting = RESTING.find((status) => status === this.returnTo)
      this.#stop('interrupted')
      this.returnTo = resting
      this.status = 'paused'
      this.reason = 'user'
      this.next = undefined
    } else if (verb === 'resume') {
      this.reason = undefined
      this.tryAt = undefined
      if (this.returnTo !== undefined) {
        this.status = this.returnTo
        this.returnTo = undefined
        return
      }
      if (this.plan === undefined) this.#begin(now)
      else this.#goBy(now, 'paused')
      this.status = 'scheduled'
      if (this.spent) this.#complete()
    } else if (verb === 'cancel') {
      this.#stop('cancelled')
      this.#goBy(now, 'cancelled')
      this.plan = this.next = this.reason = undefined
      this.status = 'cancelled'
    } else if (verb === 'cancelRun') {
      this.end('cancelled', now)
    } else if (verb === 'steer' && this.status === 'running') {
      this.waiting ??= this.#newRun('steer')
    } else {
      this.returnTo ??= this.status
      this.status = 'running'
      this.live = this.#newRun(verb === 'steer' ? 'steer' : 'manual')
    }
  }

  put (wanted: Wanted, now: number) {
    this.wanted = wanted
    this.tryAt = undefined
    if (this.plan === undefined) return
    const isPaused = this.status === 'paused' || this.returnTo === 'paused'
    this.#goBy(now, isPaused ? 'paused' : 'changed')
    this.#begin(now)
    if (isPaused) this.next = undefined
  }

  #stop (status: RunStatus) {
    if (this.waiting !== undefined) this.waiting.status = 'cancelled'
    if (this.live !== undefined) this.live.status = status
    this.live = this.waiting = this.returnTo = undefined
  }

  #complete () {
    this.status = 'completed'
    this.plan = this.next = undefined
  }

  /** The live run is over. */
  end (status: 'completed' | 'failed' | 'interrupted' | 'cancelled', now: number) {
    const { trigger } = this.live!
    this.live!.status = status
    if (status === 'completed') {
      this.failures = 0
      this.tryAt = undefined
    } else if (status === 'failed') {
      this.failures++
      const isTry = this.failures === FAILURES || trigger === 'schedule' || trigger === 'catch_up'
      if (this.failures >= FAILURES && isTry) this.tryAt = this.#tryAfter(now)
    }
    this.live = this.waiting
    this.waiting = undefined
    if (this.live !== undefined) return
    const { returnTo } = this
    this.returnTo = undefined
    if (returnTo !== undefined) this.status = returnTo
    else if (this.spent) this.#complete()
    else this.status = 'scheduled'
    if (this.status !== 'paused') this.reason = undefined
  }

  /** The planned time that becomes a run next. */
  get runsNext () {
    return this.next === undefined ? undefined : Math.max(this.next, this.tryAt ?? 0)
  }

  /** Twice the period after the last time, then twice as long with each failure; at most a day, or a period where that is longer. */
  #tryAfter (now: number): number | undefined {
    if (this.plan === undefined || this.next === undefined) return undefined
    const { everyMs } = this.plan
    const distance = Math.min(everyMs * 2 ** (this.failures - FAILURES + 1), Math.max(24 * 60 * 60_000, everyMs))
    return this.#after(Math.max(this.next - everyMs + distance - everyMs / 2, now))
  }

  /** The service looks at the clock. */
  look (now: number) {
    const isActive = this.status === 'scheduled' || (this.status === 'running' && (this.returnTo ?? 'scheduled') === 'scheduled')
    if (!isActive || this.plan === undefined || this.spent) return
    if (this.status !== 'scheduled') return this.#decide(now, 'overlap')
    if (this.tryAt !== undefined) this.#decide(Math.min(now, this.tryAt - 1), 'failing')
    if (this.tryAt === undefined || now >= this.tryAt) this.#decide(now)
  }

  #decide (now: number, skipped?: string) {
    const behind = this.last > now && this.next !== undefined
    const passed = this.#times(behind ? Math.min(this.last, this.next! - 1) : this.last, now)
    if (passed.length === 0) return this.#announce(now)
    const { missed, graceMs } = this.plan!
    const newest = passed.at(-1)!
    const may = passed.filter((at) => missed === 'skip' ? at === newest && now - at <= LATE_MS : now - at <= Math.max(graceMs, LATE_MS))
    for (const at of passed) if (!may.includes(at)) this.fates.set(at, missed === 'skip' ? 'skipped late' : 'missed')
    this.last = newest
    if (skipped !== undefined) {
      for (const at of may) this.fates.set(at, `skipped ${skipped}`)
    } else if (may.length > 0) {
      for (const at of may) this.fates.set(at, at === newest ? 'run' : 'coalesced')
      const isCatchUp = may.length > 1 || now - newest > LATE_MS
      this.plan!.ran++
      this.status = 'running'
      this.live = this.#newRun(isCatchUp ? 'catch_up' : 'schedule', isCatchUp ? may.length : undefined)
    }
    this.#announce(now)
  }
}
