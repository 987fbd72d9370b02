import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import { withPathErrors, ToolFailed } from '../tool-errors.ts'
import { askForCredentials } from '../files/ask-for-credentials.ts'
import type { PathPolicy } from '../path-policy.ts'
import { type Transform, TransformFailed } from '../transform/transform.ts'
import { compilePattern, escapePattern } from './line-pattern.ts'
import { readAsBasic } from './translate-pattern.ts'
import type { FoundLines, MatchedLine, FilesRequest } from './search-rpc.ts'
import { lstat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { block, textOf } from '../../lib/in-words.ts'

const DEFAULT_LIMIT = 100

const Input = Type.Object({
  pattern: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'A regular expression (JavaScript)'
  }),
  path: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Folder or file'
    })
  ),
  glob: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: '"*.ts" (in any folder) or "src/**/*.{js,ts}"'
    })
  ),
  context: Type.Optional(Type.Integer({ minimum: 0, maximum: 10, description: 'Lines around each match' })),
  caseSensitive: Type.Optional(Type.Boolean({ description: 'Default true' })),
  literal: Type.Optional(Type.Boolean()),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000 })
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'nextOffset of the answer, to go on' }))
}, { additionalProperties: false })

interface Parts {
  paths: PathPolicy
  transform: Transform
}

/**
 * Output: `{path, matches: [{path, line, text, before?, after?}], searched, truncated?, nextOffset?, message?}`. The paths of matches are
 * relative to `path`. Models get the matches as text, grouped by file.
 */
export function createSearchFiles ({ paths, transform }: Parts): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'searchFiles',
      description: 'Search the contents of files: answers with each matching line. ' +
        'What .gitignore leaves out, binary files and .git are not searched.',
      compact: {
        description: 'Search the contents of files.',
        schema: Type.Object({
          pattern: Type.String({ description: 'Regular expression' }),
          path: Type.Optional(Type.String()),
          glob: Type.Optional(Type.String())
        })
      },
      schema: Input,
      use: 'always',
      output: grouped
    },
    says: {
      en: { label: 'Search in files', does: 'search the files in', verb: 'search files for', result: matchesInWords },
      about: ['path'],
      otherNames: ['grep', 'rg', 'ripgrep', 'grepsearch', 'searchinfiles', 'searchcode', 'codesearch', 'filesearch']
    },
    policy: { effect: 'read', permission: ({ path = '.' }, { cwd }) => askForCredentials(path, cwd, paths) },
    effects: { source: 'files' },
    execute: (
      { path = '.', pattern, glob, context = 0, caseSensitive = true, literal = false, limit = DEFAULT_LIMIT, offset = 0 },
      { cwd, signal }
    ) =>
      withPathErrors(path, async () => {
        const asItIs = literal ? escapePattern(pattern) : pattern
        const fault = faultOf(asItIs, caseSensitive)
        const basic = literal ? undefined : readAsBasic(pattern)
        const isReadable = basic !== undefined && faultOf(basic, caseSensitive) === undefined
        if (fault !== undefined && !isReadable) throw new ToolFailed(fault)
        const scope = await searchScope(path, cwd, paths)
        const wanted = glob === undefined ? {} : { glob: relativeGlob(glob, scope.folder) }
        const request = { ...scope, ...wanted, caseSensitive, context, limit, offset }
        const search = (reading: string) =>
          runSearch(() => transform.run('searchLines', { ...request, pattern: reading }, { signal }))
        const first = fault === undefined ? await search(asItIs) : undefined
        const second = isReadable && (first?.matches.length ?? 0) === 0 ? await search(basic) : undefined
        const isSecond = second !== undefined && second.matches.length > 0
        if (fault !== undefined && !isSecond) throw new ToolFailed(fault)
        const found = isSecond ? second : first!
        const { matches, searched } = found
        const note = isSecond ? AS_BASIC : nothingFound(found, offset)
        return { path: scope.folder, matches, searched, ...restOf(found, offset + matches.length, note) }
      })
  }
}

/** Returns a sentence that says what is wrong with a pattern; undefined if it can be compiled. */
function faultOf (pattern: string, isCaseSensitive: boolean): string | undefined {
  try {
    compilePattern(pattern, isCaseSensitive)
    return undefined
  } catch (error) {
    return `${(error as Error).message}. To find a text as it is, set literal to true.`
  }
}

const AS_BASIC = 'Nothing matches this pattern. These matches take ( ) { } + ? | as plain text, and as operators after a backslash.'

function nothingFound ({ matches, searched, skipped }: FoundLines, offset: number): string {
  if (matches.length > 0) return ''
  if (offset > 0) return 'There are no more matches.'
  const left = skipped === 0 ? '' : ` ${skipped} that are not text, too large or unreadable were not.`
  return `No line matches; ${searched} files were searched.${left} ` +
    'Files that .gitignore leaves out are searched when path names their folder.'
}

/** Converts matches to text in the form of grep: `12:` before a match, `11-` before a context line, `--` where lines are left out. */
function grouped (output: ToolOutput): ToolOutput {
  const { matches, searched: _searched, ...rest } = output
  if (!Array.isArray(matches)) return output
  const files = Map.groupBy(matches as MatchedLine[], ({ path }) => path)
  const text = [...files].map(([path, found]) => `${path}\n${linesOf(found)}`).join('\n\n')
  return { ...rest, matches: text }
}

function linesOf (matches: MatchedLine[]): string {
  const lines = new Map<number, string>()
  const context = (number: number, text: string) => {
    if (!lines.has(number)) lines.set(number, `${number}- ${text}`)
  }
  for (const { line, text, before = [], after = [] } of matches) {
    before.forEach((each, at) => context(line - before.length + at, each))
    const own = text.split('\n')
    own.forEach((each, at) => lines.set(line + at, `${line + at}: ${each}`))
    after.forEach((each, at) => context(line + own.length + at, each))
  }
  const sorted = [...lines].sort(([a], [b]) => a - b)
  const hasContext = matches.some(({ before }) => before !== undefined)
  return sorted.map(([number, text], at) => hasContext && at > 0 && sorted[at - 1][0] < number - 1 ? `--\n${text}` : text).join('\n')
}

/**
 * Returns the files that a search of a folder or file covers. Throws PathRefused, or ToolFailed if the path is neither a folder nor a file.
 */
export async function searchScope (path: string, cwd: string, paths: PathPolicy): Promise<Omit<FilesRequest, 'glob' | 'offset' | 'limit'>> {
  const real = await paths.resolve(path, cwd)
  const stat = await lstat(real)
  if (!stat.isDirectory() && !stat.isFile()) throw new ToolFailed(`${JSON.stringify(path)} is neither a folder nor a regular file.`)
  const excluded = await paths.ownIdentities()
  if (stat.isFile()) return { folder: dirname(real), file: basename(real), parents: [], excluded }
  return { folder: real, parents: await parentsOf(real, cwd, paths), excluded }
}

/** Returns the folders above a folder up to the root of its repository, outermost first, as far as the run is allowed to use them. */
async function parentsOf (folder: string, cwd: string, paths: PathPolicy): Promise<string[]> {
  const parents: string[] = []
  for (let place = folder; place !== dirname(place) && !await isThere(join(place, '.git')); place = dirname(place)) {
    const allowed = await paths.resolve(dirname(place), cwd).catch(() => undefined)
    if (allowed !== dirname(place)) break
    parents.unshift(allowed)
  }
  return parents
}

const isThere = (path: string): Promise<boolean> => lstat(path).then(() => true, () => false)

/** Runs a search in the worker. If the worker fails, throws a ToolFailed that says what to do. */
export async function runSearch<T> (work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof TransformFailed)) throw error
    throw new ToolFailed(
      `The search was stopped: ${error.message.replace(/^.*?: /, '')} The pattern may repeat within a repetition, such as (a+)+, or the ` +
      'lines may be very long. Use a simpler pattern, literal: true, a smaller folder or a glob.'
    )
  }
}

/** Returns the glob relative to the searched folder. Throws ToolFailed if the glob leads out of that folder. */
export function relativeGlob (glob: string, folder: string, platform: NodeJS.Platform = process.platform): string {
  const isWindows = platform === 'win32'
  // Windows names contain no character that a glob would have to escape, except for brackets and braces, so backslashes are separators.
  const [given, from] = isWindows ? [glob, folder].map((each) => each.replaceAll('\\', '/')) : [glob, folder]
  const start = from.endsWith('/') ? from : `${from}/`
  const isBelow = isWindows ? given.toLowerCase().startsWith(start.toLowerCase()) : given.startsWith(start)
  const relative = isBelow ? given.slice(start.length) : given.replace(/^(?:\.\/)+/, '')
  if (relative.startsWith('/') || relative.split('/').includes('..') || (isWindows && relative.includes(':'))) {
    throw new ToolFailed(`The glob ${JSON.stringify(glob)} must be relative to the searched folder: name another folder by path.`)
  }
  return relative
}

/**
 * Returns the fields of an answer that say whether there are further matches. `nothing` is the sentence for a search without matches, else
 * ''.
 */
export function restOf ({ hasMore, endedAt }: { hasMore: boolean, endedAt?: string }, nextOffset: number, nothing: string): ToolOutput {
  const rest = endedAt !== undefined
    ? `The search reached its time limit at ${JSON.stringify(endedAt)} and did not search the rest. Search a smaller folder, or use a glob.`
    : hasMore ? `There are more: go on with offset ${nextOffset}, or narrow the search by path, glob or a more exact pattern.` : ''
  const message = [nothing, rest].filter((sentence) => sentence !== '').join(' ')
  return {
    ...hasMore && { truncated: true, ...endedAt === undefined && { nextOffset } },
    ...message !== '' && { message }
  }
}

const matchesInWords = ({ matches, message }: ToolOutput, { pattern }: { pattern?: unknown }): string =>
  matches ? `\`${pattern}\` is found in:${block(textOf(matches))}` : textOf(message ?? `\`${pattern}\` is not found.`)
