const KEY = 'welcome-seen'

/** Whether this browser has not yet dismissed the welcome, nor seen the console with a model. */
export const isFirstVisit = (): boolean => localStorage.getItem(KEY) === null

/** The welcome does not come back to this browser. */
export function noteVisit (): void {
  try {
    localStorage.setItem(KEY, '1')
  } catch {
    // Without room in the storage, the next visit is welcomed, too.
  }
}
