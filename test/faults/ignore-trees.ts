import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findPaths } from '../../services/tools/search/search-folder.ts'

/** Returns a generator of numbers below 1, the same for each seed (mulberry32). */
function randomOf (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const FOLDERS = ['a', 'b', 'src', 'build', 'x y', 'node', '日本']
const FILES = ['a', 'b.txt', 'a.log', 'keep.log', 'x.js', 'x.ts', '#h', '!b', '.env', 'é.md', '[c].txt', 'B.TXT', 'build']
const PIECES = [
  ...['*', '**', '?', '*.log', '*.t[xs]*', '[!a]*', '\\#h', '\\!b', '\\[c\\].txt'],
  ...[...FOLDERS, ...FILES].filter((name) => !/[[#!]/.test(name))
]

/** A folder with files, `.gitignore`s and `.git/info/exclude` that the seed makes. */
function makeTree (seed: number): { folder: string, described: string } {
  const random = randomOf(seed)
  const one = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]
  const folder = mkdtempSync(join(tmpdir(), 'ignore-'))
  const places = new Set([''])
  for (let n = 0; n < 6; n++) places.add(join(one([...places]), one(FOLDERS)))
  for (const place of places) mkdirSync(join(folder, place), { recursive: true })
  for (const place of places) {
    for (let n = 0; n < 4; n++) {
      try {
        writeFileSync(join(folder, place, one(FILES)), 'x')
      } catch {
        // A folder has this name.
      }
    }
  }
  const rule = () => {
    const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () => one(PIECES))
    return `${random() < 0.25 ? '!' : ''}${random() < 0.25 ? '/' : ''}${parts.join('/')}${random() < 0.25 ? '/' : ''}`
  }
  const rules = () => Array.from({ length: 1 + Math.floor(random() * 4) }, rule).join(random() < 0.1 ? '\r\n' : '\n')
  const written: Array<[path: string, text: string]> = [['.gitignore', rules()]]
  for (let n = 0; n < 2; n++) if (random() < 0.6) written.push([join(one([...places]), '.gitignore'), rules()])
  execFileSync('git', ['init', '-q'], { cwd: folder })
  if (random() < 0.4) written.push(['.git/info/exclude', rules()])
  for (const [path, text] of written) {
    mkdirSync(join(folder, dirname(path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return { folder, described: `seed ${seed}: ${JSON.stringify(written)}` }
}

/** Makes a tree, and returns what our searches find in it that git ignores, or the other way round; undefined for nothing. */
export function compareWithGit (seed: number): string | undefined {
  const { folder, described } = makeTree(seed)
  try {
    const settings = ['-c', 'core.quotepath=off', '-c', 'core.excludesFile=']
    const listed = execFileSync('git', [...settings, 'ls-files', '-co', '--exclude-standard', '-z'], { cwd: folder })
    const wanted = listed.toString().split('\0').filter(Boolean).sort()
    const { paths } = findPaths({ folder, parents: [], excluded: [], glob: '**', offset: 0, limit: 10_000 })
    const found = new Set(paths)
    const known = new Set(wanted)
    const missed = wanted.filter((path) => !found.has(path))
    const more = paths.filter((path) => !known.has(path))
    if (missed.length + more.length === 0) return undefined
    return `${described}: not found ${JSON.stringify(missed)}, too many ${JSON.stringify(more)}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}
