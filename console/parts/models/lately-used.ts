const KEY = 'models-lately-used'
const MOST = 5

/** Returns the models that were chosen last in this browser, the last one first. */
export function readLatelyUsed (): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter((id) => typeof id === 'string').slice(0, MOST) : []
  } catch {
    return []
  }
}

/** Notes that a model was chosen. */
export function noteUsed (id: string): void {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...readLatelyUsed().filter((each) => each !== id)].slice(0, MOST)))
  } catch {
    // The storage is full or turned off: the list has no such group.
  }
}

/** Forgets the models that were used. */
export const forgetLatelyUsed = (): void => localStorage.removeItem(KEY)
