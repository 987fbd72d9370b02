import { join, relative, sep } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { holdFolder, readEntry, release, type HeldFolder } from './held-folder.ts'

const IGNORE_BYTES = 1024 * 1024

/** The rules of one .gitignore, and the path of its folder relative to the searched folder: '' or ending with '/'. */
interface Rules {
  base: string
  rules: Ignore
}

/** The rules that apply in a folder, the outermost first. */
export type IgnoreRules = readonly Rules[]

/**
 * Adds the .gitignore of a folder, whose path relative to the searched folder is `base`. Names are compared as git compares them on the
 * system.
 */
export function withRules (
  outer: IgnoreRules,
  base: string,
  text: string | undefined,
  platform: NodeJS.Platform = process.platform
): IgnoreRules {
  if (text === undefined) return outer
  return [...outer, { base, rules: ignore({ ignorecase: platform !== 'linux', allowRelativePaths: true }).add(text) }]
}

/** Returns whether a path below the folders of the rules is ignored; the path of a folder ends with '/'. The innermost rule decides. */
export function isIgnored (all: IgnoreRules, path: string): boolean {
  for (const { base, rules } of all.toReversed()) {
    const { ignored, unignored } = rules.test(path.slice(base.length))
    if (ignored || unignored) return ignored
  }
  return false
}

/**
 * Returns the rules for the entries of a folder that is searched. If a .gitignore ignores this folder, and another one or the search itself
 * overrules that, the first one does not apply to its entries.
 */
export const rulesInside = (all: IgnoreRules, folder: string): IgnoreRules =>
  all.filter(({ base, rules }) => !rules.test(folder.slice(base.length)).ignored)

/** Returns the path of a folder relative to an outer one: '' or ending with '/'. */
export const prefixOf = (outer: string, inner: string): string => outer === inner ? '' : `${relative(outer, inner).replaceAll(sep, '/')}/`

/**
 * Returns the text of a folder's .gitignore. If the folder has no such name among `names`, no file is opened, because an error takes long.
 */
export function ignoreText (folder: HeldFolder, names: readonly string[] = ['.gitignore']): string | undefined {
  const isThere = names.some((name) => name.length === 10 && name.toLowerCase() === '.gitignore')
  return isThere ? readEntry(folder, '.gitignore', IGNORE_BYTES, () => false)?.toString() : undefined
}

/** Returns the rules of `.git/info/exclude` of a repository's folder. Each .gitignore overrules them. */
export function rulesOfExclude (top: string): IgnoreRules {
  const held = holdFolder(join(top, '.git', 'info'))
  if (held === undefined) return []
  const text = readEntry(held, 'exclude', IGNORE_BYTES, () => false)?.toString()
  release(held)
  return withRules([], '', text)
}

/**
 * Adds to `outer` the rules of each .gitignore in folders above a searched one, the outermost first. Their paths begin at the outermost
 * folder.
 */
export function rulesAbove (parents: readonly string[], folder: string, outer: IgnoreRules = []): IgnoreRules {
  const top = parents[0] ?? folder
  let rules = outer
  for (const parent of parents) {
    const base = prefixOf(top, parent)
    rules = base === '' ? rules : rulesInside(rules, base)
    const held = holdFolder(parent)
    if (held === undefined) continue
    rules = withRules(rules, base, ignoreText(held))
    release(held)
  }
  return rules
}
