/** The form of stored data: `version` counts the migrations that were made since the base schema `base`. */
export interface SchemaVersion {
  base: number
  version: number
}

/** Whether a program whose newest schema is `newest` can read data of the schema `found`, and if not, which of the two is older. */
export function ageOf (found: SchemaVersion, newest: SchemaVersion): 'readable' | 'older' | 'newer' {
  if (found.base !== newest.base) return found.base < newest.base ? 'older' : 'newer'
  return found.version > newest.version ? 'newer' : 'readable'
}

/** Returns the schema that a store or a backup names; undefined when it names none. Builds before base schema 1 wrote one number. */
export function readSchema (written: unknown): SchemaVersion | undefined {
  if (Number.isSafeInteger(written)) return { base: 0, version: written as number }
  const { base, version } = (written ?? {}) as Partial<SchemaVersion>
  return Number.isSafeInteger(base) && Number.isSafeInteger(version) ? { base: base!, version: version! } : undefined
}

/** The name of a schema in sentences. */
export const schemaName = ({ base, version }: SchemaVersion): string => `${base}.${version}`
