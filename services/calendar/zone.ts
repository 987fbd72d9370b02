import { readlinkSync } from 'node:fs'
import { DAY } from './days.ts'

/** A time span in which a zone has no clock change. Times are milliseconds since the Unix epoch; `end` is exclusive. */
export interface Segment {
  start: number
  end: number
  /** Local time minus UTC; milliseconds. */
  offset: number
  /** The offset before `start`. */
  before: number
}

/**
 * The step of the search for clock changes, in milliseconds. No zone has ever changed its clocks and changed them back within this span.
 */
const STEP = 7 * DAY
/** How far clock changes are searched, in milliseconds. A longer segment is cut. */
const FAR = 53 * STEP
/** The most zones that are cached, and the most segments of each zone. */
const MAX_ZONES = 200
const MAX_SEGMENTS = 400

const zones = new Map<string, { offsetAt: (time: number) => number, segments: Segment[] }>()

/** Returns the segment (a span without clock changes) of a time zone that contains a time, from a cache if possible. */
export function segmentAt (timezone: string, time: number): Segment {
  let zone = zones.get(timezone)
  if (zone === undefined) {
    if (zones.size >= MAX_ZONES) zones.clear()
    zone = { offsetAt: offsetsOf(timezone), segments: [] }
    zones.set(timezone, zone)
  }
  const known = zone.segments.find(({ start, end }) => time >= start && time < end)
  if (known !== undefined) return known
  const segment = findSegment(zone.offsetAt, time)
  zone.segments = [segment, ...zone.segments.slice(0, MAX_SEGMENTS)]
  return segment
}

/** Returns the local date and time at a point in time, as milliseconds since 1970-01-01 00:00 on the local clock. */
export const localTime = (timezone: string, time: number) => time + segmentAt(timezone, time).offset

export function isTimezone (timezone: string): boolean {
  try {
    return offsetsOf(timezone) !== undefined
  } catch {
    return false
  }
}

let checked = { name: 'UTC', isKnown: true }

/**
 * Returns the current time zone of the computer. It is read from `link`, because Node keeps the zone of its
 * start. Names unknown to Node are ignored.
 */
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

function findSegment (offsetAt: (time: number) => number, time: number): Segment {
  const offset = offsetAt(time)
  let [start, end] = [time, time]
  while (start > time - FAR && offsetAt(start - STEP) === offset) start -= STEP
  while (end < time + FAR && offsetAt(end + STEP) === offset) end += STEP
  if (start > time - FAR) start = findChange((at) => offsetAt(at) === offset, start - STEP, start)
  if (end < time + FAR) end = findChange((at) => offsetAt(at) !== offset, end, end + STEP)
  return { start, end, offset, before: offsetAt(start - 1) }
}

/** Returns the first whole second after `from` for which `holds` is true, found by binary search. `holds` must be true at `to`. */
function findChange (holds: (time: number) => boolean, from: number, to: number): number {
  let [before, after] = [Math.floor(from / 1_000), Math.ceil(to / 1_000)]
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (holds(middle * 1_000)) after = middle
    else before = middle
  }
  return after * 1_000
}

/** Creates the function that returns the offset of a zone at a time, in milliseconds. Throws RangeError if the zone does not exist. */
function offsetsOf (timezone: string) {
  // The Swedish locale writes local times as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
  return (time: number) => Date.parse(`${format.format(time).replace(' ', 'T')}Z`) - Math.floor(time / 1_000) * 1_000
}
