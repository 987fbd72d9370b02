import type { Dirent } from 'node:fs'
import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { jsonBytes } from '../../lib/json.ts'
import { FITTING_BYTES } from '../model-output.ts'
import type { BuiltinTool, ToolOutput } from '../../contracts/tool.ts'
import { withPathErrors } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFolder, type Folder } from '../../workspace/index.ts'
import { count } from '../../lib/in-words.ts'

const Input = Type.Object({
  path: Type.Optional(
    Type.String({
      minLength: 1
    })
  ),
  depth: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10 })
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: 'nextOffset of the answer, to go on' }))
}, { additionalProperties: false })

interface Entry {
  name: string
  /** The path relative to the listed folder. */
  path: string
  kind: 'file' | 'directory' | 'symlink' | 'other'
  /** The size in bytes, of files only. */
  size?: number
}

/** The bytes that are reserved for a size in the line of an entry. */
const SIZE_BYTES = 12
/** The most names read from one folder, so that a folder with millions of entries does not exhaust the memory. */
const NAMES_READ = 20_000

/**
 * Output: `{path, entries, truncated?, nextOffset?, message?}`. Folders are read level by level, so that the first answer contains the
 * upper levels; the entries of an answer are sorted by path. Models get one line for each entry.
 */
export function createListDirectory ({ paths }: { paths: PathPolicy }): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'listDirectory',
      description: 'List a folder. Folders end with "/", symbolic links with "@" and are not followed.',
      compact: { description: 'List a folder.', schema: Type.Object({ path: Type.Optional(Type.String()) }) },
      schema: Input,
      output: asLines
    },
    says: {
      en: { label: 'List a folder', does: 'list the folder', verb: 'list', ofCall: inHere, result: entriesInWords },
      about: ['path'],
      otherNames: ['ls', 'dir', 'glob', 'listdir', 'listfiles', 'listfolder', 'readdir', 'list', 'listdirectorycontents', 'viewdirectory']
    },
    policy: { effect: 'read' },
    effects: { source: 'files' },
    execute: ({ path = '.', depth = 1, limit = 500, offset = 0 }, { cwd, signal }) =>
      withPathErrors(path, async () => {
        const real = await paths.resolve(path, cwd)
        const end = offset + limit
        const entries: Entry[] = []
        let hasMore = false as boolean
        let isCut = false as boolean

        async function list (folder: Folder, prefix: string): Promise<void> {
          const { names, cut } = await namesOf(folder)
          isCut ||= cut
          hasMore ||= entries.length + names.length > end
          for (const found of names.slice(0, end - entries.length)) {
            signal.throwIfAborted()
            entries.push(await describe(folder, found, prefix))
          }
        }

        await withFolder(real, (folder) => list(folder, ''))
        let level = entries.filter(({ kind }) => kind === 'directory')
        for (let at = 1; at < depth && level.length > 0; at++) {
          const seen = entries.length
          for (const folder of level) {
            if (await paths.isForbidden(join(real, folder.path))) continue
            // A folder that has disappeared or cannot be read is listed without its entries.
            await withFolder(join(real, folder.path), (held) => list(held, `${folder.path}/`)).catch(() => signal.throwIfAborted())
          }
          level = entries.slice(seen).filter(({ kind }) => kind === 'directory')
        }
        const shown = fitting(entries.slice(offset))
        hasMore ||= offset + shown.length < entries.length
        const nextOffset = offset + shown.length
        const message = [
          hasMore && `There are more entries: go on with offset ${nextOffset}, or find files by name with findFiles.`,
          isCut && `A folder has more than ${NAMES_READ} entries; some of them are not listed. findFiles finds them by name.`,
          offset > 0 && entries.length <= offset && 'There are no more entries.'
        ].filter((sentence) => typeof sentence === 'string').join(' ')
        return {
          path: real,
          entries: shown.sort((a, b) => compare(a.path, b.path)),
          ...(hasMore || isCut) && { truncated: true },
          ...hasMore && { nextOffset },
          ...message !== '' && { message }
        }
      })
  }
}

/** Returns as many of the first entries as a model can get without a cut. */
function fitting (entries: Entry[]): Entry[] {
  let room = FITTING_BYTES
  const end = entries.findIndex(({ path }) => (room -= jsonBytes(path) + SIZE_BYTES) < 0)
  return end === -1 ? entries : entries.slice(0, end)
}

const MARKS: Record<Entry['kind'], string> = { file: '', directory: '/', symlink: '@', other: ' (neither file nor folder)' }

/** Converts each entry to a line for models: `src/`, `README.md 1234`. */
function asLines (output: ToolOutput): ToolOutput {
  if (!Array.isArray(output.entries)) return output
  const lines = (output.entries as Entry[]).map(({ path, kind, size }) =>
    `${path.replace(/\p{Cc}/gu, '\ufffd')}${MARKS[kind]}${size === undefined ? '' : ` ${size}`}`
  )
  return { ...output, entries: lines.join('\n') }
}

interface NamedEntry {
  name: string
  raw: Buffer
  entry: Dirent
}

/**
 * Reads the names in a folder. A name that is not UTF-8 is shown with replacement characters, and the file is opened by the bytes of its
 * name.
 */
async function namesOf (folder: Folder): Promise<{ names: NamedEntry[], cut: boolean }> {
  const names: NamedEntry[] = []
  const done = (cut: boolean) => ({ names: names.sort((a, b) => compare(a.name, b.name)), cut })
  // The type declarations lack the encoding 'buffer', which opendir supports.
  for await (const entry of await opendir(folder.entry('.'), { encoding: 'buffer' as BufferEncoding })) {
    if (names.length === NAMES_READ) return done(true)
    const raw = entry.name as unknown as Buffer
    names.push({ name: raw.toString(), raw, entry })
  }
  return done(false)
}

async function describe (folder: Folder, { name, raw, entry }: NamedEntry, prefix: string): Promise<Entry> {
  const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'symlink' : 'other'
  const size = kind === 'file' ? (await lstat(folder.entry(raw)).catch(() => undefined))?.size : undefined
  return { name, path: prefix + name, kind, ...(size !== undefined && { size }) }
}

/** Compares by UTF-16 code unit. Unlike localeCompare, this gives the same order on every machine. */
function compare (a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const inHere = ({ path }: { path?: unknown }): string | undefined => path === '.' ? 'list this folder' : undefined

/** The most entries in a text of the offline model. */
const ENTRIES_SAID = 100

/** Describes the entries of a folder for people. `entries` are the lines that models get: `src/`, `README.md 1234`, `link@`. */
function entriesInWords ({ entries, truncated }: ToolOutput, { path }: { path?: unknown }): string {
  const lines = typeof entries === 'string' ? entries.split('\n').filter((line) => line !== '') : []
  const folder = path === '.' ? 'This folder' : `\`${path}\``
  if (lines.length === 0) return `${folder} is empty.`
  const listed = lines.slice(0, ENTRIES_SAID).map((line) =>
    `- ${line.replace(/@$/, ' (link)').replace(/ (\d+)$/, (_all, size) => ` (${count(Number(size), 'byte', 'bytes')})`)}`
  )
  const more = lines.length > ENTRIES_SAID ? `\n- … and ${lines.length - ENTRIES_SAID} more` : truncated === true ? '\n- … and more' : ''
  return `${folder} holds ${count(lines.length, 'entry', 'entries')}:\n${listed.join('\n')}${more}`
}
