import { basename, dirname, relative } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool, FileChanges, FilesOfCall, ToolOutput, ToolPreview } from '../../contracts/tool.ts'
import { assertExpected, withPathErrors } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import type { Clock } from '../../lib/clock.ts'
import { contentDigest, fileDigest } from './change-digest.ts'
import { PREVIEW_CHARS, unifiedDiff } from './diff.ts'
import { assertShown } from './place-state.ts'
import { readDigest, readWhole } from './read-text.ts'
import { examineFile, replaceFile, tellKept, withCreatedFolder } from './replace-file.ts'
import { withParent, type Folder } from '../../workspace/index.ts'
import { withLineEnds } from './line-ends.ts'
import { decodeText, detectEncoding, encodeText, lineEndsOf, unusualForm, type TextForm } from './text-encoding.ts'
import { block, count } from '../../lib/in-words.ts'

const LONGEST_CONTENT = 10 * 1024 * 1024

const Input = Type.Object({
  path: Type.String({
    minLength: 1,
    description: 'Missing folders are made'
  }),
  content: Type.String({ maxLength: LONGEST_CONTENT })
}, { additionalProperties: false })

const COMPACT = {
  description: 'Create a file, or replace all of it.',
  schema: Type.Object({ path: Type.String(), content: Type.String() })
}

/** A file before the write. `text` and `form` are absent if the file is too large or not text. */
interface Before {
  digest: string
  text?: string
  form?: TextForm
}

/**
 * Output: `{path, bytesWritten, created, encoding?, encodingIsGuess?, lineEnds?, message?, keptAside?, note?, digest, diff}`; models get no
 * diff. A new file is UTF-8. A replaced text file keeps its encoding, unless the encoding lacks characters of the content; then `message`
 * says so. It also keeps its line ends, line by line, if the content has no CRLF.
 */
export function createWriteFile ({ paths, clock }: { paths: PathPolicy, clock: Clock }): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'writeFile',
      description: 'Create a text file, or replace its whole content. To change parts of one, use editFile, which cannot lose the rest. ' +
        'Make files that were asked for or are needed, no others.',
      compact: COMPACT,
      ...{ schema: Input, use: 'always' },
      output: withoutDiff
    },
    says: {
      en: { label: 'Write a file', does: 'write the file', verb: 'write', result: writeInWords },
      about: ['path'],
      otherNames: ['write', 'createfile', 'savefile', 'writetofile', 'newfile', 'create']
    },
    policy: { effect: 'write' },
    effects: {
      proves: 'file',
      files: ({ path, content }, { cwd }) =>
        changedFile(paths, path, cwd, async (real, { ahead, signal }) => {
          const present = () => withParent(real, async (folder, name) => (await examine(folder, name, paths, signal))?.found)
          const before = ahead.has(real) ? comingAt(ahead, real) : await present().catch(unlessAbsent)
          const { bytes, text, lost } = await inForm(content, before)
          const diff = await unifiedDiff(relative(cwd, real), before ? before.text : null, text, PREVIEW_CHARS)
          const note = lost && `The file is ${lost}, which lacks some characters of the content. It would become UTF-8.`
          return { diff, note, leaves: new Map([[real, bytes]]) }
        })
    },
    execute: ({ path, content }, context) =>
      withPathErrors(path, async () => {
        const { cwd, signal, changed, shown } = context
        const real = await paths.resolve(path, cwd)
        assertExpected(real, context)
        return withCreatedFolder(dirname(real), async (folder) => {
          const name = basename(real)
          const old = await examine(folder, name, paths, signal)
          await assertShown(folder, name, { paths, shown, signal })
          const { bytes, text, form, lost } = await inForm(content, old?.found)
          const isShown = context.shown?.some((place) => place.path === real && place.state !== undefined)
          const replaced = old && { mode: old.mode, digest: old.found.digest, ...(isShown && { version: old.version }) }
          const kept = await replaceFile(folder, name, bytes, replaced, { paths, clock, signal })
          changed?.({ path: real, before: old?.found.digest ?? null, after: contentDigest(bytes) })
          return {
            path: real,
            bytesWritten: bytes.length,
            created: old === undefined,
            ...unusualForm(form),
            message: lost && `The file was ${lost}, which lacks some characters of the content. It is UTF-8 now.`,
            ...tellKept(real, kept),
            digest: readDigest(bytes),
            diff: await unifiedDiff(relative(cwd, real), old === undefined ? null : old.found.text, text)
          }
        })
      })
  }
}

function examine (folder: Folder, name: string, paths: PathPolicy, signal: AbortSignal) {
  return examineFile(folder, name, paths, async (file, size): Promise<Before> => {
    const bytes = await readWhole(file, size, signal)
    if (bytes === undefined) return { digest: await fileDigest(file, size, signal) }
    return { digest: contentDigest(bytes), ...textOf(bytes) }
  })
}

/** Returns the description of the file change for a tool that writes the one file at `path`. */
export const changedFile = (
  paths: PathPolicy,
  path: string,
  cwd: string,
  preview: (real: string, context: Parameters<FilesOfCall['preview']>[0]) => Promise<ToolPreview>
): Promise<FilesOfCall> =>
  withPathErrors(path, async () => {
    const real = await paths.resolve(path, cwd)
    return { changed: [{ path: real }], preview: (context) => withPathErrors(path, () => preview(real, context)) }
  })

/** Removes the diff from an output for models, which know what they wrote. */
export const withoutDiff = ({ diff, ...output }: ToolOutput): ToolOutput => output

/** Ignores the error for a folder that does not exist yet: the folder is created with the file. */
function unlessAbsent (error: { code?: string }): undefined {
  if (error.code !== 'ENOENT') throw error
}

/** Returns the text that earlier calls of the step would leave at a path; undefined if they would leave no file. */
function comingAt (ahead: FileChanges, real: string): Pick<Before, 'text' | 'form'> | undefined {
  const bytes = ahead.get(real)
  return bytes ? textOf(Buffer.from(bytes)) : undefined
}

function textOf (bytes: Buffer): Pick<Before, 'text' | 'form'> {
  const encoding = detectEncoding(bytes)
  if (encoding === undefined) return {}
  const text = decodeText(bytes, encoding)
  return { text, form: { encoding, lineEnds: lineEndsOf(text) } }
}

/**
 * Returns the content in the encoding and with the line ends of the text that it replaces. If that encoding lacks characters of the
 * content, returns UTF-8, and the old encoding as `lost`.
 */
async function inForm (content: string, old: Pick<Before, 'text' | 'form'> = {}): Promise<{
  bytes: Buffer,
  text: string,
  form: TextForm,
  lost?: string
}> {
  const { form } = old
  const text = form === undefined || content.includes('\r\n') ? content : await withLineEnds(content, old.text ?? '', form.lineEnds)
  const lineEnds = lineEndsOf(text)
  const kept = form && encodeText(text, form.encoding)
  if (kept !== undefined) return { bytes: kept, text, form: { encoding: form!.encoding, lineEnds } }
  return { bytes: Buffer.from(text), text, form: { encoding: 'utf-8', lineEnds }, lost: form?.encoding }
}

const writeInWords = ({ bytesWritten, created, diff }: ToolOutput, { path }: { path?: unknown }): string =>
  `${created === false ? 'Changed' : 'Created'} \`${path}\` (${count(Number(bytesWritten), 'byte', 'bytes')}).${block(diff, 'diff')}`
