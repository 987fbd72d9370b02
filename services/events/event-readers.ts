import type { Writable } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { PING_MS } from '../lib/event-stream.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import type { EventView, ReplayBuffer } from './replay-buffer.ts'

/** The shortest time between two checks of all readers, in milliseconds. One timer serves all readers. */
const LOOK_MS = 250
/** A reader that takes nothing for this many milliseconds while events wait is dropped. */
const STALL_MS = 30_000
/**
 * A reader is dropped if its socket has been full for LAG_MS milliseconds and more than MAX_LAG characters of
 * events wait for it. If the service is slow instead of the reader, the socket drains and the reader stays.
 */
const MAX_LAG = 1024 * 1024
const LAG_MS = 1_000
/** The number of characters that are written to a socket at once; a single event can be longer. */
const BATCH_LENGTH = 64 * 1024

interface Reader {
  out: Writable
  view: EventView
  /** The position of the newest event that was written to the reader or skipped, because its view does not include the event. */
  position: number
  /** The time of the last write; `clock.monotonic()`. */
  wroteAt: number
  /** When the socket became full, by `clock.awake()`; undefined while it takes data. */
  fullSince?: number
  /** The position of the newest event when the socket was last drained. Earlier events do not count as lag. */
  lagsFrom: number
}

/** Where a new reader starts. */
interface Beginning {
  /** The last position that is skipped. */
  after: number
  /** The text of an event that is sent before all others. */
  first?: string
}

export type EventReaders = ReturnType<typeof createEventReaders>

/**
 * Creates the writer of events to their readers. A reader is only a position in the buffer: events that it has not read yet are stored
 * nowhere else, so an idle reader costs little more than its connection. A slow reader is dropped instead of slowing down the service.
 */
export function createEventReaders (
  { clock, buffer, idOf }: { clock: Clock, buffer: ReplayBuffer, idOf: (position: number) => string }
) {
  const readers = new Set<Reader>()
  /** Texts by view and position, shared by all readers with the same view and position. */
  const texts = new Map<string, { bytes: Buffer, end: number }>()
  let isFlushing = false
  let isLooking = false
  let closing = false
  /** Aborted to wake `look` early, because a reader with a full socket has to be checked sooner than a silent one. */
  let resting = new AbortController()

  /** Returns the text of the next events for a reader, up to about BATCH_LENGTH characters, and the position of the last one. */
  function textAfter ({ view, position }: Reader): { bytes: Buffer, end: number } {
    const key = `${position} ${view.key}`
    const known = texts.get(key)
    if (known !== undefined) return known
    let text = ''
    let end = position
    while (end < buffer.newest && text.length < BATCH_LENGTH) {
      const event = buffer.at(++end)
      if (!view.accepts(event)) continue
      text += view.hasIds ? `id: ${idOf(end)}\n${event.frame}` : event.frame
    }
    const made = { bytes: Buffer.from(text), end }
    if (isFlushing) texts.set(key, made)
    return made
  }

  function write (reader: Reader, text: string | Buffer) {
    reader.wroteAt = clock.monotonic()
    if (reader.out.write(text) || reader.fullSince !== undefined) return
    reader.fullSince = clock.awake()
    resting.abort('full')
  }

  function drop (reader: Reader) {
    readers.delete(reader)
    reader.out.destroy()
  }

  /** Writes the events that a reader has not received yet, until its socket is full. */
  function deliver (reader: Reader) {
    while (reader.fullSince === undefined && reader.position < buffer.newest) {
      if (!buffer.holdsAfter(reader.position)) return drop(reader)
      const { bytes, end } = textAfter(reader)
      reader.position = end
      if (bytes.length > 0) write(reader, bytes)
    }
    if (closing && reader.position === buffer.newest) {
      readers.delete(reader)
      reader.out.end()
    }
  }

  /** Delivers new events to all readers. Yields to the event loop if that takes long. */
  async function flush () {
    isFlushing = true
    await new Promise(setImmediate)
    for (let newest = -1; newest < buffer.newest;) {
      newest = buffer.newest
      texts.clear()
      for (const reader of readers) {
        deliver(reader)
        const turn = yieldToEventLoop()
        if (turn) await turn
      }
    }
    texts.clear()
    isFlushing = false
  }

  /** True if a reader whose socket is full has to be dropped. */
  function isTooSlow ({ view, fullSince, lagsFrom, position }: Reader): boolean {
    const silent = fullSince === undefined ? 0 : clock.awake() - fullSince
    if (silent >= STALL_MS || !buffer.holdsAfter(position)) return true
    if (silent < LAG_MS) return false
    let lag = 0
    for (let at = Math.max(position, lagsFrom) + 1; at <= buffer.newest && lag <= MAX_LAG; at++) {
      const event = buffer.at(at)
      if (view.accepts(event)) lag += event.frame.length
    }
    return lag > MAX_LAG
  }

  /** Sleeps for `ms`, but at most for LAG_MS after a socket becomes full. */
  async function rest (ms: number) {
    resting = new AbortController()
    await clock.sleep(ms, resting.signal).catch(() => clock.sleep(Math.min(ms, LAG_MS)))
  }

  /** Sends pings to silent readers and drops slow ones, as long as there are readers. */
  async function look () {
    isLooking = true
    while (readers.size > 0) {
      let next = PING_MS
      const now = clock.monotonic()
      for (const reader of readers) {
        if (reader.fullSince !== undefined) {
          next = LAG_MS
          if (isTooSlow(reader)) drop(reader)
          continue
        }
        // The id in the ping moves the position of a reader forward even if none of the events belongs to its view.
        if (now - reader.wroteAt >= PING_MS) write(reader, reader.view.hasIds ? `: ping\nid: ${idOf(reader.position)}\n\n` : ': ping\n\n')
        next = Math.min(next, PING_MS - now + reader.wroteAt)
      }
      await rest(Math.max(next, LOOK_MS))
    }
    isLooking = false
  }

  return {
    get size () {
      return readers.size
    },

    /** Adds a reader: a response whose headers have been sent. */
    add (out: Writable, view: EventView, { after, first }: Beginning): void {
      const reader: Reader = { out, view, position: after, wroteAt: clock.monotonic(), lagsFrom: buffer.newest }
      readers.add(reader)
      out.once('close', () => readers.delete(reader))
      out.on('drain', () => {
        reader.fullSince = undefined
        reader.lagsFrom = buffer.newest
        deliver(reader)
      })
      if (out.destroyed) readers.delete(reader)
      if (view.hasIds) write(reader, `${first ?? ': connected\n'}id: ${idOf(after)}\n\n`)
      deliver(reader)
      if (!isLooking) void look()
    },

    /** Delivers new events at the end of this turn of the event loop. */
    wake () {
      if (!isFlushing && readers.size > 0) void flush()
    },

    /** Ends each response once all events have been written to it. */
    close () {
      closing = true
      for (const reader of readers) deliver(reader)
    }
  }
}
