const KEY = 'welcome-seen'

/** Returns true if this browser has neither dismissed the welcome nor seen the console with a model. */
export const isFirstVisit = (): boolean => localStorage.getItem(KEY) === null

/** Stores that the welcome is not shown again in this browser. */
export function noteVisit (): void {
  try {
    localStorage.setItem(KEY, '1')
  } catch {
    // The storage is full or disabled, so the welcome appears again at the next visit.
  }
}
