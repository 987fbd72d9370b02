import { basename, dirname, join, relative } from 'node:path'
import { isIn } from './box-places.ts'
import { isScript, WORDS } from './named-by-settings.ts'

/** Longer scripts are not read for names, bytes; and words of one that are looked at. */
const LARGEST = 64 * 1024
const MOST_WORDS = 500
/** Nobody writes there but managers of packages, which replace all of it. */
const OF_PACKAGES = /(?:^|\/)(?:node_modules|\.venv|venv|vendor|target|build|dist)\//

interface Found {
  folder: string
  entries: ReadonlyMap<string, { kind: string, content?: string }>
  gitDirectories: ReadonlyMap<string, { execs: readonly string[] }>
}

const MANAGERS = new Set(['.envrc', '.pre-commit-config.yaml', 'lefthook.yml', 'lefthook.yaml'])
/** What a loop runs that goes through a folder. */
const LOOP = /\bfor\s+\w+\s+in\s+([^;\n]+)/g

/** Returns scripts in the folder that hooks name, and what shells read on entering a folder: they are run with these. */
export async function namedByScripts ({ folder, entries, gitDirectories }: Found, hooks: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  const add = async (text: string, bases: readonly string[]) => {
    const inLoops = new Set([...text.matchAll(LOOP)].flatMap(([, words]) => words.split(WORDS)).filter((word) => word.includes('*')))
    for (const word of text.split(WORDS).slice(0, MOST_WORDS).filter((each) => /[./]/.test(each))) {
      for (const base of bases) {
        const place = join(base, (inLoops.has(word) ? dirname(word) : word).replace(/^(?:\$\w+|\$?\{\w+\})?\//, ''))
        if (!isIn(folder, place) || isIn(place, folder) || OF_PACKAGES.test(`${relative(folder, place)}/`)) continue
        if (inLoops.has(word) || await isScript(place)) found.add(place)
      }
    }
  }
  const hookFolders = new Set([...gitDirectories.keys()].map((git) => join(git, 'hooks')).concat(hooks))
  const isBelowHooks = (path: string): boolean => hookFolders.has(path) || (path.length > folder.length && isBelowHooks(dirname(path)))
  for (const [path, { kind, content }] of entries) {
    const isHook = isBelowHooks(path) || /\/\.(?:husky|githooks)\/[^/]+$/.test(path)
    if (kind !== 'file' || content === undefined || content.length > LARGEST || !(isHook || MANAGERS.has(basename(path)))) continue
    // The folder of the repository, which a variable may stand for, and that of the script.
    const bases = [topOf(path, gitDirectories) ?? folder, dirname(path)]
    await add(Buffer.from(content, 'base64').toString().replace(/^\s*#.*$/gm, ''), bases)
  }
  for (const [git, { execs }] of gitDirectories) if (execs.length > 0) await add(execs.join('\n'), [topOf(git, gitDirectories) ?? folder])
  return [...found]
}

/** Returns the folder of the files of the repository that a path belongs to. */
function topOf (path: string, gitDirectories: ReadonlyMap<string, unknown>): string | undefined {
  for (let at = dirname(path); dirname(at) !== at; at = dirname(at)) if (gitDirectories.has(join(at, '.git'))) return at
  return undefined
}
