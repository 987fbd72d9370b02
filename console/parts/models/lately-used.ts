const KEY = 'models-lately-used'
const MOST = 5

/** Returns the models that were last chosen in this browser, newest first. */
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
    // The storage is full or disabled, so the list of models has no group of recent ones.
  }
}

/** Deletes the list of recently chosen models. */
export const forgetLatelyUsed = (): void => localStorage.removeItem(KEY)
