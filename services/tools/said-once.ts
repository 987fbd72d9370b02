import { isDeepStrictEqual } from 'node:util'
import type { ToolOutput } from '../contracts/tool.ts'

type Block = Record<string, any>

/** Stands for what a tool server addresses to the user alone. */
const FOR_USER = '[shown to the user only]'
/** Stands for bytes in `structuredContent` that are also in `content`. */
const IN_CONTENT = '[see content]'

/**
 * Reduces an output in MCP's form, `{content, structuredContent?}`, to what a model is to read: each statement once, and nothing that
 * the server addresses to the user alone (`annotations.audience`). `structuredContent` replaces the texts of `content`, unless it only
 * wraps them; pictures, sounds, links and resources of `content` stay. Returns any other output unchanged.
 */
export function saidOnce (output: ToolOutput): ToolOutput {
  const { content, structuredContent, ...rest } = output
  if (!Array.isArray(content)) return output
  if (!isObject(structuredContent) || onlyWraps(structuredContent, content)) {
    return { ...rest, content: withoutNotes(content) }
  }
  const others = content.filter((block) => block?.type !== 'text')
  return {
    ...rest,
    structuredContent: replaceStrings(structuredContent, said(content)),
    ...others.length > 0 && { content: withoutNotes(others) }
  }
}

/** Whether the structured form has one property, which repeats the content: its text, its blocks or its only block. */
function onlyWraps (structured: Block, content: Block[]): boolean {
  const values = Object.values(structured)
  if (values.length !== 1) return false
  const [value] = values
  if (typeof value !== 'string') return isDeepStrictEqual(value, content) || (content.length === 1 && isDeepStrictEqual(value, content[0]))
  return content.every((block) => block?.type === 'text') && value === content.map(({ text }) => text).join('\n')
}

/** Removes the blocks for the user alone, and the notes to clients from the other blocks. */
function withoutNotes (content: unknown[]): unknown[] {
  const shown = content.map((block) => {
    if (!isObject(block)) return block
    if (isForUser(block)) return FOR_USER
    const { annotations, _meta, ...rest } = block
    return rest
  })
  return shown.filter((block, at) => block !== FOR_USER || shown.indexOf(FOR_USER) === at)
}

/** The strings of `content` that `structuredContent` may repeat, with what models get in their place. */
function said (content: unknown[]): Map<unknown, string> {
  const strings = new Map<unknown, string>()
  for (const block of content) {
    if (!isObject(block)) continue
    const { text, data, resource } = block
    for (const bytes of [data, resource?.blob]) strings.set(bytes, IN_CONTENT)
    if (isForUser(block)) for (const own of [text, data, resource?.text, resource?.blob]) strings.set(own, FOR_USER)
  }
  for (const empty of ['', undefined]) strings.delete(empty)
  return strings
}

function replaceStrings (value: unknown, strings: Map<unknown, string>): unknown {
  if (strings.size === 0) return value
  if (typeof value === 'string') return strings.get(value) ?? value
  if (Array.isArray(value)) return value.map((each) => replaceStrings(each, strings))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceStrings(each, strings)]))
}

/** Whether the server names an audience for the block, without the model: MCP's roles are `user` and `assistant`. */
export function isForUser ({ annotations }: Block): boolean {
  const audience: unknown = annotations?.audience
  return Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant')
}

const isObject = (value: unknown): value is Block => typeof value === 'object' && value !== null && !Array.isArray(value)
