/** An event as it is kept: its frame is made once for all readers. */
export interface KeptEvent {
  /** Counted from 1 since the start of the service. */
  position: number
  type: string
  threadId?: string
  taskId?: string
  /** The lines of the event in a stream, without `id:`, with the empty line at the end. */
  frame: string
}

/** The events that are kept for readers that resume. */
const MAX_EVENTS = 10_000
/** The length of all kept frames in characters. A single longer event is kept all the same. */
const MAX_LENGTH = 16 * 1024 * 1024

/** Keeps the newest events in memory: for readers that resume, and for readers that are behind. */
export function createReplayBuffer () {
  const kept = new Map<number, KeptEvent>()
  let length = 0
  let newest = 0

  return {
    /** The position of the newest event; 0 before the first. */
    get newest () {
      return newest
    },
    /** Whether every event after this position is kept. */
    holdsAfter: (position: number) => position <= newest && position >= newest - kept.size,
    at: (position: number): KeptEvent => kept.get(position)!,

    add (event: Omit<KeptEvent, 'position'>): KeptEvent {
      const added = { ...event, position: ++newest }
      kept.set(newest, added)
      length += added.frame.length
      while (kept.size > MAX_EVENTS || (length > MAX_LENGTH && kept.size > 1)) {
        const oldest = newest - kept.size + 1
        length -= kept.get(oldest)!.frame.length
        kept.delete(oldest)
      }
      return added
    }
  }
}

export type ReplayBuffer = ReturnType<typeof createReplayBuffer>
