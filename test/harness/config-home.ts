import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { Test } from 'tap'

/** Creates a configuration directory with this text as its config.json, or without one. */
export function home (t: Test, text?: string) {
  const dir = t.testdir(text === undefined ? {} : { 'config.json': text })
  return { dir, file: `${dir}/config.json`, read: () => readFileSync(`${dir}/config.json`, 'utf8') }
}
export const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
export const copies = (dir: string) => readdirSync(dir).filter((name) => name.startsWith('config.json.'))
