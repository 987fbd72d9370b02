import { relative } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { assertExpected, withPathErrors, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import type { Clock } from '../../lib/clock.ts'
import { isObject } from '../../lib/json.ts'
import { withMending } from '../mend-input.ts'
import { contentDigest } from './change-digest.ts'
import { PREVIEW_CHARS, unifiedDiff } from './diff.ts'
import { applyEdits } from './apply-edits.ts'
import { kindOf } from './file-kind.ts'
import { withParent, type Folder } from '../../workspace/index.ts'
import { readDigest, readWhole, WHOLE_BYTES } from './read-text.ts'
import { assertShown } from './place-state.ts'
import { examineFile, replaceFile, tellKept } from './replace-file.ts'
import { decodeText, detectEncoding, encodeText, lineEndsOf, unusualForm, type Encoding } from './text-encoding.ts'
import { changedFile, withoutDiff } from './write-file.ts'

const LONGEST_TEXT = 1024 * 1024

const Edit = Type.Object({
  oldText: Type.String({
    minLength: 1,
    maxLength: LONGEST_TEXT,
    description: 'Exactly as it is in the file, indentation included, without line numbers. It must occur once: ' +
      'take in lines around it until it does'
  }),
  newText: Type.String({ maxLength: LONGEST_TEXT, description: '"" removes it' }),
  all: Type.Optional(Type.Boolean({ description: 'Replace every occurrence' }))
}, { additionalProperties: false })

const Input = Type.Object({
  path: Type.String({ minLength: 1 }),
  edits: Type.Array(Edit, {
    minItems: 1,
    maxItems: 100
  }),
  digest: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'The digest of the last answer: nothing is written if the file has changed since'
    })
  )
}, { additionalProperties: false })

const COMPACT = {
  description: 'Replace a text of a file. oldText must occur once, exactly as it is there.',
  schema: Type.Object({ path: Type.String(), oldText: Type.String(), newText: Type.String() })
}

/** Moves the fields of a single edit at the top level of the input into the list `edits`. */
function listEdit (input: unknown): unknown {
  if (!isObject(input) || input.edits !== undefined || input.oldText === undefined) return input
  const { oldText, newText, all, ...others } = input
  return { ...others, edits: [{ oldText, newText, ...(all !== undefined && { all }) }] }
}

/**
 * Output: `{path, replacements, bytesWritten, encoding?, lineEnds?, keptAside?, note?, digest, diff}`; models get no diff. Writes all edits
 * in one step, or none. Bytes outside of the replaced texts, encoding, line ends and file mode are kept. Throws ToolFailed if an oldText
 * does not occur, with the most similar text, or occurs more than once.
 */
export function createEditFile ({ paths, clock }: { paths: PathPolicy, clock: Clock }): BuiltinTool<Static<typeof Input>> {
  return {
    model: {
      name: 'editFile',
      description: 'Replace texts in a text file. Read it first, then send all changes of one file in one call: ' +
        'all are made or none.',
      compact: COMPACT,
      schema: withMending(Input, listEdit),
      use: 'always',
      output: withoutDiff
    },
    says: {
      en: { label: 'Edit a file', does: 'edit the file' },
      about: ['path'],
      otherNames: ['edit', 'strreplace', 'replaceinfile', 'searchreplace', 'strreplaceeditor', 'multiedit', 'notebookedit', 'applyedit']
    },
    policy: { effect: 'write' },
    effects: {
      proves: 'file',
      files: (input, { cwd }) =>
        changedFile(paths, input.path, cwd, async (real, { ahead, signal }) => {
          const content = ahead.has(real)
            ? ahead.get(real) ?? undefined
            : await withParent(real, async (folder, name) => (await examine(folder, name, signal))?.found)
          const { text, edited, written } = edit(content, input)
          return { diff: await unifiedDiff(relative(cwd, real), text, edited.text, PREVIEW_CHARS), leaves: new Map([[real, written]]) }
        })
    },
    execute: (input, context) =>
      withPathErrors(input.path, async () => {
        const { cwd, signal, changed, shown } = context
        const real = await paths.resolve(input.path, cwd)
        assertExpected(real, context)
        return withParent(real, async (folder, name) => {
          const old = await examine(folder, name, signal)
          await assertShown(folder, name, { paths, shown, signal })
          const { bytes, text, encoding, edited, written } = edit(old?.found, input)
          const before = contentDigest(bytes)
          const kept = await replaceFile(folder, name, written, { ...old!, digest: before }, { paths, clock, signal })
          changed?.({ path: real, before, after: contentDigest(written) })
          return {
            path: real,
            replacements: edited.replacements,
            bytesWritten: written.length,
            ...unusualForm({ encoding, lineEnds: lineEndsOf(edited.text) }),
            ...tellKept(real, kept),
            digest: readDigest(written),
            diff: await unifiedDiff(relative(cwd, real), text, edited.text)
          }
        })
      })
  }

  function examine (folder: Folder, name: string, signal: AbortSignal) {
    return examineFile(folder, name, paths, async (file, size) => await readWhole(file, size, signal) ?? TOO_LARGE)
  }
}

/** Stands for the content of a file that is too large to edit. */
const TOO_LARGE = Symbol('too large')

/** Applies the edits to the content of a file in memory. Throws ToolFailed if the file does not exist, has changed or cannot be edited. */
function edit (content: Uint8Array | typeof TOO_LARGE | undefined, { path, edits, digest }: Static<typeof Input>) {
  const shown = JSON.stringify(path)
  if (content === undefined) throw new ToolFailed(`${shown} does not exist. Create a file with writeFile.`)
  if (content === TOO_LARGE) throw new ToolFailed(`${shown} is larger than the ${WHOLE_BYTES} bytes that can be edited: use a command.`)
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (digest !== undefined && digest !== readDigest(bytes)) {
    throw new ToolFailed(`${shown} has changed since it was read with digest ${digest}. Nothing was changed: read it again.`)
  }
  const { text, encoding } = decodeExactly(bytes, shown)
  const edited = applyEdits(text, edits)
  const written = encodeText(edited.text, encoding)
  if (written === undefined) {
    throw new ToolFailed(
      `${shown} is in ${encoding}, which lacks some characters of the new text. Nothing was changed: use other characters, ` +
        'or rewrite the file with writeFile, which makes it UTF-8.'
    )
  }
  return { bytes, text, encoding, edited, written }
}

/** Decodes text, if encoding it again gives the same bytes. Throws ToolFailed otherwise. */
function decodeExactly (bytes: Buffer, shown: string): { text: string, encoding: Encoding } {
  const encoding = detectEncoding(bytes)
  if (encoding === undefined) throw new ToolFailed(`${shown} is ${kindOf(bytes)}, not text: it cannot be edited.`)
  const text = decodeText(bytes, encoding)
  if (encodeText(text, encoding)?.equals(bytes)) return { text, encoding }
  throw new ToolFailed(`${shown} holds bytes that are not ${encoding}; an edit would lose them. Nothing was changed: use a command.`)
}
