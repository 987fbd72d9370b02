import { useState } from 'react'

const KEY = 'digest-seen-until'
const DAY_MS = 24 * 60 * 60_000

/** The time is that of the service: `until` of a digest. */
function read (storage: Storage): number | undefined {
  const at = Number(storage.getItem(KEY) ?? NaN)
  return Number.isSafeInteger(at) && at >= 0 ? at : undefined
}

function write (storage: Storage, at: number) {
  try {
    storage.setItem(KEY, String(at))
  } catch {
    // Without room in the storage, the next visit shows more than is new.
  }
}

/**
 * Since when the digest tells: the last visit with any tab of this browser, a day ago at the first one. It stays the same for this
 * tab, over reloads, until the user has marked the digest as seen. Milliseconds since the Unix epoch.
 */
export function useLastVisit () {
  const [since, setSince] = useState(() => read(sessionStorage) ?? read(localStorage) ?? Date.now() - DAY_MS)
  return {
    since,
    /** Notes that the digest until this time was shown: the next visit begins there. */
    noteShown (until: number) {
      write(sessionStorage, since)
      write(localStorage, until)
    },
    markSeen (until: number) {
      write(sessionStorage, until)
      write(localStorage, until)
      setSince(until)
    }
  }
}
