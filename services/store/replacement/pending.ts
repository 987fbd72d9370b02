import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Names of the staged database and the files that belong to it. */
export const NEXT = 'data.next'
export const NEXT_KEY = 'master.key.next'
export const NEXT_CONFIG = 'config.json.next'
/** The uploaded file of an import. */
export const UPLOAD = 'import.partial'
/** The replacement plan. */
export const PLAN = 'replace.json'
export const LEFTOVERS = [NEXT, NEXT_KEY, NEXT_CONFIG, UPLOAD]

/** Whether the directory holds an unfinished or abandoned replacement. */
export const hasPendingReplacement = (dir: string): boolean => [PLAN, ...LEFTOVERS].some((name) => existsSync(join(dir, name)))
