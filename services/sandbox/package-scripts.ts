import { isObject, readJson } from '../lib/json.ts'
import type { PackageUse } from './obeyed-state.ts'
import { type Check, moveAside, writeText } from './put-back.ts'
import { readSmall } from './read-small.ts'

// A hook that runs `npm test` runs a script of package.json. Commands add packages to that file all the time, so it cannot be read-only for
// them. Instead, its scripts are compared after a command, and only the scripts are put back.

/** Parts of package.json with commands that hooks run. */
const PARTS = ['scripts', 'lint-staged', 'husky', 'simple-git-hooks']
/** Scripts that run during an installation of packages. */
const LIFE_CYCLE = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare', 'dependencies']
const DEPENDENCIES = ['dependencies', 'devDependencies', 'optionalDependencies']
/** A dependency on a package in the folder. */
const LOCAL = /^(?:file|link|portal):|^\.{0,2}\//
const MOST_USES = 100

const INSTALLS = new RegExp(
  String.raw`\b(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:i|ci|add|install|update|up|link|rebuild|pack|publish|version|clean-install)\b|` +
    String.raw`\byarn\s*(?:$|[;&|)'"])`,
  'm'
)
const RUNS = new RegExp(
  String.raw`\b(?:(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:(?:run|run-script)\s+(?:-\S+\s+)*)?|node\s+--run\s+|npm:|` +
    String.raw`(?:npm-run-all|run-[sp])\s+(?:-\S+\s+)*)["']?([\w:.*-]+)`,
  'g'
)
/** Runs a script whose name is in a variable. */
const ANY_SCRIPT = /\b(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*run(?:-script)?\s+(?:-\S+\s+)*["']?[$\x60]/
/** The name of a script in the tasks of an editor. */
const IN_TASK = /"script"\s*:\s*"([\w:.-]+)"/g
const BINS = /\b(?:npx|bunx|(?:npm|pnpm|yarn)\s+(?:exec|x|dlx)|pnpm|yarn|bun\s+x)\s+(?:-\S+\s+)*([\w.-]+)/g
const IS_MAIN = /\bnode\s+(?:-\S+\s+)*\.{1,2}\/?(?=$|[\s;&|)'"])|\b(?:require|import|from)\b[\s(]*['"]\.{1,2}\/?['"]/m
const IMPORTS = /['"]#[\w/.-]+['"]/
/**
 * A script that reads package.json itself (READS), and the parts that it reads (KEYS). Parts that describe the package do not count: they
 * change all the time.
 */
const READS = /\bpackage\.json\b/
const KEYS = new RegExp(
  String.raw`[.["'](?!(?:name|version|description|license|author|private|engines|\w*[dD]ependencies|type|files|main|scripts|json)\b)` +
    String.raw`([a-zA-Z][\w-]*)`,
  'g'
)
const IS_PACKAGE = /\b(?:npm|npx|pnpm|yarn|bun|bunx)\b|\bnode\s+--run\b|\bpackage\.json\b/

/**
 * Returns the parts of a package.json that a script uses, such as `scripts.test`, whether they exist or not; undefined if it uses no
 * package.json.
 */
export function usesOf (text: string): string[] | undefined {
  const isPackage = IS_PACKAGE.test(text)
  const uses = [
    ...INSTALLS.test(text) ? [INSTALL, ...LIFE_CYCLE.map((name) => `scripts.${name}`)] : [],
    ...IS_MAIN.test(text) ? ['main', 'exports'] : [],
    ...IMPORTS.test(text) ? ['imports'] : [],
    ...[...text.matchAll(RUNS)].map(([, name]) => `scripts.${name}`),
    ...ANY_SCRIPT.test(text) ? ['scripts.*'] : [],
    ...READS.test(text) ? [...text.matchAll(KEYS)].map(([, name]) => name) : [],
    ...isPackage ? [...text.matchAll(IN_TASK)].map(([, name]) => `scripts.${name}`) : [],
    ...[...text.matchAll(BINS)].map(([, name]) => `bin.${name}`)
  ]
  return uses.length > 0 || isPackage ? [...new Set(uses)].slice(0, MOST_USES) : undefined
}

/** The name that stands for the dependencies on packages in the folder, which an installation would bring. */
const INSTALL = 'install'

/** The most rounds in which scripts that other scripts of the same file run are followed. */
const MOST_ROUNDS = 4

/**
 * Returns these parts of a package.json, and the further parts that the scripts among them use, MOST_USES in all and found in at most
 * MOST_ROUNDS rounds.
 */
export async function followUses (path: string, uses: readonly string[]): Promise<string[]> {
  const json = await readPackage(path) ?? {}
  const found = new Set(uses)
  for (let round = 0; round < MOST_ROUNDS && found.size < MOST_USES; round++) {
    const called = [...found].filter((use) => use.startsWith('scripts.')).map((use) => use.slice('scripts.'.length))
    const texts = called.flatMap((name) => [name, `pre${name}`, `post${name}`].map((each) => valueAt(json, `scripts.${each}`)))
    for (const text of texts) for (const use of typeof text === 'string' ? usesOf(text) ?? [] : []) found.add(use)
  }
  return [...found].slice(0, MOST_USES)
}

/** Returns the parts of a package.json that hooks run, by names such as `scripts.test`. A part in `uses` that does not exist is `null`. */
export async function readPackageUse (path: string, uses: readonly string[]): Promise<PackageUse> {
  const json = await readPackage(path) ?? {}
  const parts: Record<string, unknown> = {}
  for (const part of PARTS) {
    if (isObject(json[part])) for (const [name, value] of Object.entries(json[part])) parts[`${part}.${name}`] = value
    else if (json[part] !== undefined) parts[part] = json[part]
  }
  for (const use of uses) if (use !== INSTALL && !(use in parts)) parts[use] = valueAt(json, use) ?? null
  for (const part of uses.includes(INSTALL) ? DEPENDENCIES : []) {
    for (const [name, value] of Object.entries(isObject(json[part]) ? json[part] : {})) {
      if (LOCAL.test(String(value))) parts[`${part}.${name}`] = value
    }
  }
  return { uses: [...uses], parts }
}

const split = (key: string): [part: string, name: string | undefined] =>
  key.includes('.') ? [key.slice(0, key.indexOf('.')), key.slice(key.indexOf('.') + 1)] : [key, undefined]

function valueAt (json: Record<string, any>, key: string): unknown {
  const [part, name] = split(key)
  return name === undefined || !isObject(json[part]) ? json[part] : (json[part] as Record<string, unknown>)[name]
}

/** Sets a part, or deletes it if the value is `null`. If the part is not an object now, it is replaced as a whole. */
function setAt (json: Record<string, any>, key: string, value: unknown): void {
  const [part, name] = split(key)
  const [holder, last] = name !== undefined && isObject(json[part]) ? [json[part] as Record<string, unknown>, name] : [json, part]
  if (value !== null) holder[last] = value
  else delete holder[last]
}

const isLike = (use: string, key: string): boolean => use.endsWith('*') && key.startsWith(use.replace(/\*+$/, ''))

async function readPackage (path: string): Promise<Record<string, any> | undefined> {
  const json: unknown = readJson(await readSmall(path) ?? '')
  return isObject(json) ? json : undefined
}

/** Puts back changed scripts that hooks run, and removes new scripts that would run with them. */
export async function putBackScripts (check: Check): Promise<void> {
  for (const [path, { uses, parts: was }] of check.before.packages) {
    const [json, { parts: now }] = [await readPackage(path), await readPackageUse(path, uses)]
    const isRunWith = (key: string) => /^scripts\.(?:pre|post)/.test(key) && key.replace(/^scripts\.(?:pre|post)/, 'scripts.') in was
    const isNew = (key: string) => !(key in was) &&
      (!key.startsWith('scripts.') || isRunWith(key) || uses.some((use) => isLike(use, key)))
    const changed = [...Object.keys(was).filter((key) => key in now && JSON.stringify(was[key]) !== JSON.stringify(now[key])),
      ...Object.keys(now).filter((key) => now[key] !== null && isNew(key))]
    if (json === undefined || changed.length === 0) continue
    for (const key of changed) setAt(json, key, was[key] ?? null)
    if (!await moveAside(check, path)) continue
    await writeText(check, path, `${JSON.stringify(json, undefined, 2)}\n`)
    check.taken.push(`Hooks run ${changed.slice(0, 10).join(', ')} of ${path}: that is as it was.`)
  }
}
