import { isObject, readJson } from '../lib/json.ts'
import type { Scripts } from './obeyed-state.ts'
import { type Check, moveAside, write } from './put-back.ts'
import { readSmall } from './read-small.ts'

// A hook that runs `npm test` obeys the scripts of package.json. Packages are added to that file all the time, so it is no file that a
// command cannot write: its scripts are compared, and those alone put back.

/** Parts of package.json that hooks run. */
const PARTS = ['scripts', 'lint-staged', 'husky', 'simple-git-hooks']

/** Returns what hooks run of a package.json. */
export async function scriptsOf (path: string): Promise<Scripts> {
  const json = await readPackage(path) ?? {}
  return Object.fromEntries(PARTS.flatMap((part) => isObject(json[part])
    ? Object.entries(json[part]).map(([name, value]) => [`${part}.${name}`, value])
    : json[part] === undefined ? [] : [[part, json[part]]]))
}

async function readPackage (path: string): Promise<Record<string, any> | undefined> {
  const json: unknown = readJson(await readSmall(path) ?? '')
  return isObject(json) ? json : undefined
}

/** Puts back scripts that hooks run, and takes away new ones that would run with them. */
export async function putBackScripts (check: Check): Promise<void> {
  for (const [path, was] of check.before.packages) {
    const [json, now] = [await readPackage(path), await scriptsOf(path)]
    const isNew = (key: string) => !(key in was) &&
      (!key.startsWith('scripts.') || (/^scripts\.(?:pre|post)/.test(key) && key.replace(/^scripts\.(?:pre|post)/, 'scripts.') in was))
    const changed = [...Object.keys(was).filter((key) => key in now && JSON.stringify(was[key]) !== JSON.stringify(now[key])),
      ...Object.keys(now).filter(isNew)]
    if (json === undefined || changed.length === 0) continue
    for (const key of changed) {
      const [part, ...name] = key.split('.')
      const [holder, last] = name.length === 0 ? [json, part] : [json[part], name.join('.')]
      if (key in was) holder[last] = was[key]
      else delete holder[last]
    }
    if (!await moveAside(check, path)) continue
    const content = Buffer.from(`${JSON.stringify(json, undefined, 2)}\n`).toString('base64')
    await write(check, path, { kind: 'file', id: '', mode: 0o644, links: 1, content })
    check.taken.push(`Hooks run ${changed.slice(0, 10).join(', ')} of ${path}: that is as it was.`)
  }
}
