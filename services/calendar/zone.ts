import { readlinkSync } from 'node:fs'
import { DAY } from './days.ts'

/** A time span without a clock change in a zone. Times are milliseconds since the Unix epoch; `end` is exclusive. */
export interface Segment {
  start: number
  end: number
  /** Local time minus UTC; milliseconds. */
  offset: number
  /** The offset before `start`. */
  before: number
}

/** Step of the search for clock changes. No zone has ever changed its clocks and changed them back within this span; milliseconds. */
const STEP = 7 * DAY
const CHUNK = 26 * STEP
/** Margin around a requested time; clocks were never changed by more than a day. */
const MARGIN = 2 * DAY
/** Known segments are dropped when a requested time is further away than this; milliseconds. */
const FAR = 30 * 366 * DAY
/** Zones that are kept in memory. */
const MAX_ZONES = 200

const zones = new Map<string, (time: number) => Segment>()

/** The segment that contains a time. Known segments are cached, so that most calls cost one comparison. */
export function segmentAt (timezone: string, time: number): Segment {
  let zone = zones.get(timezone)
  if (zone === undefined) {
    if (zones.size >= MAX_ZONES) zones.clear()
    zone = openZone(timezone)
    zones.set(timezone, zone)
  }
  return zone(time)
}

/** The local date and time at a point in time, as milliseconds since 1970-01-01 00:00 local. */
export const localTime = (timezone: string, time: number) => time + segmentAt(timezone, time).offset

export function isTimezone (timezone: string): boolean {
  try {
    return offsetsOf(timezone) !== undefined
  } catch {
    return false
  }
}

let checked = { name: 'UTC', isKnown: true }

/** The machine's current time zone, read from `link`, because Node keeps the zone of its start. Names unknown to Node are ignored. */
export function machineTimezone (link = '/etc/localtime'): string {
  const name = process.env.TZ || process.platform === 'win32' ? undefined : zoneAt(link)
  if (name !== undefined && name !== checked.name) checked = { name, isKnown: isTimezone(name) }
  return name !== undefined && checked.isKnown ? name : Intl.DateTimeFormat().resolvedOptions().timeZone
}

function zoneAt (link: string): string | undefined {
  try {
    return /\/zoneinfo\/(?:posix\/|right\/)?(.+)$/.exec(readlinkSync(link))?.[1]
  } catch {
    return undefined
  }
}

function openZone (timezone: string) {
  const offsetAt = offsetsOf(timezone)
  let known: Segment[] = []
  let hit: Segment | undefined

  return (time: number): Segment => {
    if (hit && time >= hit.start + MARGIN && time < hit.end - MARGIN) return hit
    if (known.length === 0 || time < known[0].start - FAR || time > known.at(-1)!.end + FAR) {
      const start = Math.floor(time / STEP) * STEP - MARGIN
      known = scan(offsetAt, start, start + CHUNK)
    }
    while (time - MARGIN < known[0].start) known = join(scan(offsetAt, known[0].start - CHUNK, known[0].start), known)
    while (time + MARGIN >= known.at(-1)!.end) known = join(known, scan(offsetAt, known.at(-1)!.end, known.at(-1)!.end + CHUNK))
    hit = known.findLast(({ start }) => start <= time)!
    return hit
  }
}

function scan (offsetAt: (time: number) => number, start: number, end: number): Segment[] {
  const offset = offsetAt(start)
  const found: Segment[] = [{ start, end, offset, before: offset }]
  for (let from = start, to = Math.min(start + STEP, end); from < end; from = to, to = Math.min(to + STEP, end)) {
    for (let last = found.at(-1)!; offsetAt(to) !== last.offset; last = found.at(-1)!) {
      const change = findChange(offsetAt, last.offset, Math.max(from, last.start), to)
      last.end = change
      found.push({ start: change, end, offset: offsetAt(change), before: last.offset })
    }
  }
  // A change exactly at the end belongs to the next scan.
  return found.filter(({ start }) => start < end)
}

/** The first second after `from` whose offset differs from `offset`. The offset at `to` must differ. */
function findChange (offsetAt: (time: number) => number, offset: number, from: number, to: number) {
  while (to - from > 1_000) {
    const middle = from + Math.floor((to - from) / 2_000) * 1_000
    if (offsetAt(middle) === offset) from = middle
    else to = middle
  }
  return to
}

function join (left: Segment[], right: Segment[]): Segment[] {
  const last = left.at(-1)!
  const [first, ...rest] = right
  return last.offset === first.offset
    ? [...left.slice(0, -1), { ...last, end: first.end }, ...rest]
    : [...left, { ...first, before: last.offset }, ...rest]
}

/** Returns a function from a time to the zone's offset in milliseconds. Throws RangeError when the zone does not exist. */
function offsetsOf (timezone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric'
  })
  return (time: number) => {
    const [month, day, year, hour, minute, second] = format.format(time).split(/\D+/, 6).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1_000) * 1_000
  }
}
