// Database keys that begin with `!` are internal. Callers reach them only through methods of the store.

/** Key of the schema version and the source of the master key. Not encrypted. */
export const META = '!meta'
/** Key of the record that is written and read back to test whether the disk accepts writes again. Not encrypted. */
export const PROBE = '!probe'
/** Key of the name of the copy that was made before a migration. Exists while the migration runs. Not encrypted. */
export const MIGRATING = '!migrating'
/** Key of the number of times that the database was opened. Not encrypted. */
export const SESSION = '!session'
/**
 * Database key of the secret with which `Store.digest` makes digests. Exists if that secret differs from the one derived from the master
 * key.
 */
export const DIGEST = '!digest'
/** The database keys of the records that are not encrypted. */
export const PLAIN: ReadonlySet<string> = new Set([META, PROBE, MIGRATING, SESSION])

/** Whether a key belongs to a record that describes the database and is not copied with its contents. */
export const describesDatabase = (key: string): boolean => PLAIN.has(key) || key === DIGEST

/** Returns the database key of a single record (see `Store.record`). */
export const recordKey = (name: string): string => `!record/${name}`

/** The lowest key, in the order of keys, that callers are allowed to use: all internal keys come before it. */
export const FIRST_KEY = '"'

/** Whether a key is valid for a record of another store, including single records. */
export const isRecord = (key: string): boolean => /^(?:!record\/[!-~]+|["-~][!-~]*)$/.test(key)

/** Throws a TypeError unless `key` is printable ASCII without spaces that does not start with `!`. */
export function assertKey (key: string): void {
  if (!/^["-~][!-~]*$/.test(key)) throw new TypeError(`not a key of the store: ${JSON.stringify(key)}`)
}
