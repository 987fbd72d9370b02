import { createHash } from 'node:crypto'
import type { CommitEnd } from './commit-ends.ts'

// A changed obeyed file is allowed to stay if it comes from a commit that no command in a box made. Commands can replace git's objects and
// lie about the order of commits, so the answers of git are only hints: each object is compared with its digest.

/** Runs git with these arguments and this standard input. Returns the output; undefined if git failed. */
type AskGit = (args: string[], input?: string) => Promise<Buffer | undefined>

/** A file whose commit is looked for. */
export interface WantedFile {
  path: string
  /** Its path in the repository. */
  name: string
  isLink: boolean
  /** The ids that git gives to its bytes: by SHA-1, and by SHA-256. */
  blobs: ReadonlySet<string>
}

interface GitObject {
  kind: string
  bytes: Buffer
}
interface Commit {
  tree: string
  parents: string[]
}
interface History {
  ask: AskGit
  commits: Map<string, Commit>
  objects: Map<string, GitObject>
}

/** The most commits that are read, and the most ends of branches from before the first command that are searched. */
const MOST_COMMITS = 10_000
const MOST_ENDS = 64
/** The most commits that are compared with one file. */
const MOST_HINTS = 4

/** Returns the paths of the files whose bytes were committed by somebody other than a command. */
export async function findVouched (ask: AskGit, wanted: readonly WantedFile[], ends: readonly CommitEnd[]): Promise<Set<string>> {
  const files = wanted.filter(({ name }) => !/[\n"\\]/.test(name))
  const ids = ends.map(({ id }) => id).join('\n')
  if (files.length === 0) return new Set()
  const listed = await ask(['rev-list', `--max-count=${MOST_COMMITS}`, '--ignore-missing', '--stdin'], `${ids}\n`)
  const names = listed?.toString().split('\n').filter((id) => id !== '') ?? []
  if (names.length === 0) return new Set()
  const history: History = { ask, commits: new Map(), objects: new Map() }
  await read(history, names)
  for (const id of names) addCommit(history, id)
  const isOfCommand = assign(history, ends)
  const found = new Set<string>()

  // The ends of branches from before the first command that is recorded.
  const first = ends.findIndex((end) => end.isOfCommand && history.commits.has(end.id))
  const clean = ends.slice(0, first === -1 ? undefined : first).filter(({ id }) => history.commits.has(id)).slice(-MOST_ENDS)
  await read(history, clean.flatMap(({ id }) => files.flatMap(({ name }) => treesOn(id, name))))
  for (const file of files) if (clean.some(({ id }) => has(history, id, file))) found.add(file.path)

  const left = files.filter(({ path }) => !found.has(path))
  const hints = (await hintsOf(ask, ids, left)).filter(({ id }) => isOfCommand.get(id) === false)
  await read(history, hints.flatMap(({ id, file }) =>
    [id, ...history.commits.get(id)!.parents].flatMap((each) => treesOn(each, file.name))))
  for (const { id, file } of hints) if (isIntroducedBy(history, id, file)) found.add(file.path)
  return found
}

/** Returns, for each commit, whether it is of a command. A commit belongs to the first end from which it can be reached. */
function assign ({ commits }: History, ends: readonly CommitEnd[]): Map<string, boolean> {
  const isOfCommand = new Map<string, boolean>()
  for (const end of ends) {
    const left = [end.id]
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      const commit = commits.get(id)
      if (commit === undefined || isOfCommand.has(id)) continue
      isOfCommand.set(id, end.isOfCommand)
      left.push(...commit.parents)
    }
  }
  return isOfCommand
}

/** Returns the newest commits that brought the content of a file, according to git. */
async function hintsOf (ask: AskGit, ids: string, files: readonly WantedFile[]): Promise<Array<{ id: string, file: WantedFile }>> {
  if (files.length === 0) return []
  const format = ['--no-renames', '--root', '-m', '--raw', '--no-abbrev', '--format=commit %H', `--max-count=${MOST_COMMITS}`]
  const names = new Map(files.map((file) => [file.name, file]))
  const log = await ask(['log', ...format, '--ignore-missing', '--stdin'], [ids, '--', ...names.keys(), ''].join('\n'))
  const counts = new Map<WantedFile, number>()
  const hints: Array<{ id: string, file: WantedFile }> = []
  let id = ''
  for (const line of (log?.toString() ?? '').split('\n')) {
    id = /^commit ([0-9a-f]+)$/.exec(line)?.[1] ?? id
    const [, blob, name] = /^:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) [A-Z]\d*\t(.*)$/.exec(line) ?? []
    const file = name === undefined ? undefined : names.get(name)
    const count = file === undefined ? 0 : counts.get(file) ?? 0
    if (!file?.blobs.has(blob) || count >= MOST_HINTS) continue
    counts.set(file, count + 1)
    hints.push({ id, file })
  }
  return hints
}

/** Returns the names, for `git cat-file`, of the commit and of the trees on the way to a file. */
const treesOn = (commit: string, name: string): string[] => {
  const parts = name.split('/').slice(0, -1)
  return [commit, `${commit}^{tree}`, ...parts.map((_, at) => `${commit}:${parts.slice(0, at + 1).join('/')}`)]
}

const has = (history: History, commit: string, { name, blobs, isLink }: WantedFile): boolean => {
  const entry = entryIn(history, commit, name)
  return entry !== undefined && entry !== 'none' && blobs.has(entry.id) && (entry.mode === '120000') === isLink
}

/** Whether a commit has a file that one of its parents does not have. A commit without parents counts. */
function isIntroducedBy (history: History, id: string, file: WantedFile): boolean {
  if (!has(history, id, file)) return false
  const { parents } = history.commits.get(id)!
  return parents.length === 0 || parents.some((parent) => {
    addCommit(history, parent)
    return entryIn(history, parent, file.name) !== undefined && !has(history, parent, file)
  })
}

/** Returns the mode and id of a file in a commit, 'none' if it has none; undefined if the objects that were read do not show it. */
function entryIn ({ commits, objects }: History, commit: string, name: string): { mode: string, id: string } | 'none' | undefined {
  let id = commits.get(commit)?.tree
  let mode = '40000'
  for (const part of name.split('/')) {
    const tree = mode === '40000' ? objects.get(id ?? '') : undefined
    if (mode !== '40000') return 'none'
    if (tree?.kind !== 'tree') return undefined
    const entry = findInTree(tree.bytes, part, id!.length / 2)
    if (entry === undefined) return 'none'
    mode = entry.mode
    id = entry.id
  }
  return { mode, id: id! }
}

function findInTree (bytes: Buffer, name: string, idBytes: number): { mode: string, id: string } | undefined {
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0, at)
    if (end === -1) return undefined
    const blank = bytes.indexOf(32, at)
    if (bytes.toString('utf8', blank + 1, end) === name) {
      return { mode: bytes.toString('latin1', at, blank), id: bytes.toString('hex', end + 1, end + 1 + idBytes) }
    }
    at = end + 1 + idBytes
  }
  return undefined
}

function addCommit ({ commits, objects }: History, id: string): void {
  const object = objects.get(id)
  if (object?.kind !== 'commit' || commits.has(id)) return
  const [head] = object.bytes.toString('latin1').split('\n\n', 1)
  const [, tree] = /^tree ([0-9a-f]+)$/m.exec(head) ?? []
  if (tree !== undefined) commits.set(id, { tree, parents: [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent]) => parent) })
}

/** Reads objects by their names, and keeps those whose digest is their id. */
async function read ({ ask, objects }: History, names: readonly string[]): Promise<void> {
  const wanted = [...new Set(names)].filter((name) => !objects.has(name))
  if (wanted.length === 0) return
  const answer = await ask(['cat-file', '--batch'], `${wanted.join('\n')}\n`) ?? Buffer.alloc(0)
  for (let at = 0; at < answer.length;) {
    const end = answer.indexOf(10, at)
    if (end === -1) return
    const [, id, kind, length] = /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(answer.toString('latin1', at, end)) ?? []
    at = end + 1
    if (id === undefined) continue
    const bytes = answer.subarray(at, at + Number(length))
    at += Number(length) + 1
    const digest = createHash(id.length === 40 ? 'sha1' : 'sha256').update(`${kind} ${bytes.length}\0`).update(bytes).digest('hex')
    if (digest === id) objects.set(id, { kind, bytes })
  }
}
