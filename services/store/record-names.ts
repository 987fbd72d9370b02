// Database keys that begin with `!` are internal. Callers reach them only through methods of the store.

/** Unencrypted: schema version and key source. */
export const META = '!meta'
/** Written and read back to test whether the disk accepts writes again. */
export const PROBE = '!probe'
/** Unencrypted, present while a migration runs: name of the copy made before it. */
export const MIGRATING = '!migrating'
/** Unencrypted: number of times the database was opened. */
export const SESSION = '!session'
/** The key of `Store.digest`, from which record keys are made, if it differs from the one derived from the master key. */
export const DIGEST = '!digest'
/** Keys of the unencrypted records. */
export const PLAIN: ReadonlySet<string> = new Set([META, PROBE, MIGRATING, SESSION])

/** Whether a key belongs to a record that describes the database and is not copied with its contents. */
export const describesDatabase = (key: string): boolean => PLAIN.has(key) || key === DIGEST

/** Returns the key of a single record. */
export const recordKey = (name: string): string => `!record/${name}`

/** The first key that callers are allowed to use. */
export const FIRST_KEY = '"'

/** Whether a key is valid for a record of another store, including single records. */
export const isRecord = (key: string): boolean => /^(?:!record\/[!-~]+|["-~][!-~]*)$/.test(key)

/** Throws a TypeError unless `key` is printable ASCII without spaces that does not start with `!`. */
export function assertKey (key: string): void {
  if (!/^["-~][!-~]*$/.test(key)) throw new TypeError(`not a key of the store: ${JSON.stringify(key)}`)
}
