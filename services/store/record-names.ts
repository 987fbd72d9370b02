// Database keys beginning with `!` are the store's own; callers reach them only through the store's verbs.

/** Unencrypted: schema version and where the key comes from. */
export const META = '!meta'
/** Written and read back to find out whether the disk takes writes again. */
export const PROBE = '!probe'
/** Unencrypted, while a migration is under way: name of the copy kept from before it. */
export const MIGRATING = '!migrating'
/** Unencrypted: how often the database was opened. */
export const SESSION = '!session'
/** The key of `Store.digest`, where another than the master key's own is in use: keys of records are made with it. */
export const DIGEST = '!digest'
/** The records that are not enciphered. */
export const PLAIN: ReadonlySet<string> = new Set([META, PROBE, MIGRATING, SESSION])

/** A record beside data that an import has brought, until its tasks were looked at. */
export const IMPORTED = 'imported'
/** Records that describe the database: they are not copied with its contents. */
export const isOwn = (key: string): boolean => PLAIN.has(key) || key === DIGEST

/** Where a single record lies. */
export const recordKey = (name: string): string => `!record/${name}`

/** Keys come in the order of `seq`, so a history is listed in the order it was written. */
export const historyKey = (prefix: string, id: string, seq: number): string => `${prefix}/${id}/${String(seq).padStart(10, '0')}`

/** The first key that callers may use. */
export const FIRST_KEY = '"'

/** Whether a key may be one of another store's records, its single ones among them. */
export const isRecord = (key: string): boolean => /^(?:!record\/[!-~]+|["-~][!-~]*)$/.test(key)

/** Throws a TypeError unless `key` is printable ASCII without spaces that does not start with `!`. */
export function assertKey (key: string): void {
  if (!/^["-~][!-~]*$/.test(key)) throw new TypeError(`not a key of the store: ${JSON.stringify(key)}`)
}
