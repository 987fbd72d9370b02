import type { Slot } from '../../../schemas/schedule.ts'
import { due, graceOf, upcoming, type Due } from '../../../services/calendar/due.ts'
import { parseSchedule } from '../../../services/calendar/parse-schedule.ts'
import type { Plan } from '../../../services/calendar/schedule-plan.ts'
import { countSlots, nextSlot, slotsBetween } from '../../../services/calendar/calendar.ts'
import type { Case } from './cases.ts'

const SECOND = 1_000
const DAY = 24 * 60 * 60 * SECOND

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
export function random (seed: number) {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A service as simple as can be: it looks when it was told to, stores what came out, and is stopped and sleeps at any time. */
export class Service {
  plan: Plan
  lastSlot: number | undefined
  ran = 0
  ledger: Slot[] = []
  runs: { at: number, now: number, trigger: string, standsFor: number }[] = []
  next: number | undefined

  constructor (plan: Plan) {
    this.plan = plan
    this.next = nextSlot(plan, plan.since)
  }

  look (now: number, busy = false): Due {
    const found = due({ plan: this.plan, lastSlot: this.lastSlot, next: this.next, now, ran: this.ran, ...(busy && { skip: 'overlap' }) })
    this.ledger.push(...found.slots)
    if (found.run) this.runs.push({ ...found.run, now })
    this.ran += found.run ? 1 : 0
    this.lastSlot = found.lastSlot
    this.next = found.next
    return found
  }

  /** What is left of it when it is stopped is what was stored. */
  restart () {
    const stored = JSON.parse(JSON.stringify({ plan: this.plan, lastSlot: this.lastSlot, next: this.next, ran: this.ran }))
    Object.assign(this, stored)
  }

  upcoming (now: number, n: number) {
    return upcoming(this.plan, now, n, { lastSlot: this.lastSlot, ran: this.ran })
  }
}

/** Every time that the slots of a ledger stand for, oldest first. */
export function settled (plan: Plan, ledger: Slot[]): number[] {
  return ledger.flatMap(({ from, at, count }) => {
    if (from === undefined) return [at]
    const times = slotsBetween(plan, from - 1, at, Infinity)
    if (times.length !== count) throw new Error(`${count} counted, ${times.length} there`)
    return times
  })
}

/**
 * Lives through the years of a case: awake from one time to the next, with naps, long sleeps, restarts, overlaps and small
 * steps of the clock in both directions. Says what is wrong, if anything.
 */
export async function live ({ schedule, expected }: Case, timezone: string, from: number, to: number, seed: number): Promise<string[]> {
  const chance = random(seed)
  const wrong: string[] = []
  const missed = chance() < 0.5 ? 'run_once' : 'skip'
  const plan = await parseSchedule({ ...schedule, timezone, missed }, { timezone: 'UTC', now: from })
  const service = new Service(plan)
  let now = from
  let foretold: number | undefined
  while (now < to && service.next !== undefined) {
    const act = chance()
    foretold = undefined
    if (act < 0.03) now += Math.floor(chance() * 40 * DAY)
    else if (act < 0.08) now += Math.floor(chance() * 2 * DAY)
    else if (act < 0.1) now -= Math.floor(chance() * 3 * SECOND)
    else if (act < 0.15) service.restart()
    else {
      foretold = service.upcoming(now, 1)[0]
      if (foretold !== service.next) wrong.push(`${foretold} foretold, ${service.next} next`)
      now = Math.max(now, service.next) + Math.floor(chance() * 2 * SECOND)
    }
    const before = service.lastSlot ?? plan.since
    const { run, slots } = service.look(now, act > 0.98)
    // Awake, exactly what was foretold is what runs, or is skipped for a run under way.
    if (
      foretold !== undefined &&
      slots.map(({ at, fate, reason }) => `${at} ${fate} ${reason}`).join() !==
        `${foretold} ${act > 0.98 ? 'skipped overlap' : 'run undefined'}`
    ) wrong.push(`${foretold} foretold, ${JSON.stringify(slots)} came`)
    if (
      run &&
      run.standsFor !== slots.filter(({ fate }) => fate === 'run' || fate === 'coalesced').reduce((sum, { count = 1 }) => sum + count, 0)
    ) wrong.push(`stands for ${run.standsFor} of ${JSON.stringify(slots)}`)
    if (slots.length > 201) wrong.push(`${slots.length} slots at once`)
    if (service.look(now).slots.length > 0) wrong.push('came again when asked again')
    if (service.lastSlot! < before) wrong.push('the last slot went back')
    const grace = slots.length === 0 ? 0 : graceOf(plan, slots.at(-1)!.at)
    for (const { fate, at } of slots) {
      const late = now - at
      if (fate === 'missed' && late <= grace) wrong.push(`${at} missed within grace`)
      if (fate === 'coalesced' && late > grace) wrong.push(`${at} coalesced beyond grace`)
      if (fate === 'run' && (late < 0 || late > (missed === 'skip' ? 30_000 : grace))) wrong.push(`${at} ran ${late} ms late`)
    }
  }
  const last = service.lastSlot ?? from
  const times = settled(plan, service.ledger)
  const wanted = expected(timezone, from + 1, last + 1)
  const i = times.findIndex((at, i) => at !== wanted[i])
  if (i >= 0 || times.length !== wanted.length) {
    wrong.push(`${times.length} of ${wanted.length} have a fate; the first that differs is ${times[i]} for ${wanted[i]}`)
  }
  if (countSlots(plan, last, now) > 0) wrong.push('times have passed that have no fate')
  return wrong.slice(0, 3).map((what) => `${schedule.interval} in ${timezone}, seed ${seed}: ${what}`)
}
