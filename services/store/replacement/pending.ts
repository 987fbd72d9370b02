import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The database in the making, and the files that go with it. */
export const NEXT = 'data.next'
export const NEXT_KEY = 'master.key.next'
export const NEXT_CONFIG = 'config.json.next'
/** What an import was sent. */
export const UPLOAD = 'import.partial'
/** What is to be done. */
export const PLAN = 'replace.json'
export const LEFTOVERS = [NEXT, NEXT_KEY, NEXT_CONFIG, UPLOAD]

/** Whether something was begun in the directory that is to be ended or cleared away. */
export const hasPendingReplacement = (dir: string): boolean => [PLAN, ...LEFTOVERS].some((name) => existsSync(join(dir, name)))
