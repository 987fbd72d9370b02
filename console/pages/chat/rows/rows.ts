import { getToolName, isToolUIPart, type ToolUIPart, type DynamicToolUIPart, type UIMessage } from 'ai'
import type { RunTask } from '../../../../client/generated/index.ts'
import { splitBlocks, type Block, type Split } from '../../../parts/markdown/split-blocks.ts'

type Message = { message: UIMessage }
export type CallPart = ToolUIPart | DynamicToolUIPart

/** One line of what a conversation shows. A long message has many, because only those in view are in the page. */
export type Row = { key: string, /** The message begins here. */ isFirst?: true } & (
  | { kind: 'said', text: string } & Message
  | { kind: 'system', text: string }
  | { kind: 'block', block: Block }
  | { kind: 'thinking', text: string, isAnalysis: boolean, isOpen: boolean }
  | { kind: 'call', part: CallPart, name: string } & Message
  | { kind: 'task', task: RunTask }
  | { kind: 'object', object: unknown }
  | { kind: 'file', url: string, mediaType: string, name?: string }
  | { kind: 'end' } & Message
)

type Part = UIMessage['parts'][number]
type Content = Row extends infer R ? R extends Row ? Omit<R, 'key' | 'isFirst'> : never : never

/** Creates the function that turns messages into rows. Messages that stay the same keep their rows, and a text that grows its blocks. */
export function createRows (): (messages: UIMessage[]) => Row[] {
  const known = new WeakMap<UIMessage, Row[]>()
  const splits = new Map<string, Split>()

  function blocksOf (key: string, text: string): Block[] {
    const split = splitBlocks(text, splits.get(key))
    splits.set(key, split)
    return split.blocks
  }

  function contentOf (message: UIMessage, part: Part, key: string): Content[] {
    if (part.type === 'text') {
      if (message.role === 'user') return [{ kind: 'said', text: part.text, message }]
      if (message.role === 'system') return [{ kind: 'system', text: part.text }]
      return blocksOf(key, part.text).map((block) => ({ kind: 'block', block }))
    }
    if (part.type === 'reasoning') {
      if (part.text === '') return []
      const isAnalysis = part.providerMetadata?.agent?.phase === 'analysis'
      return [{ kind: 'thinking', text: part.text, isAnalysis, isOpen: part.state === 'streaming' }]
    }
    if (part.type === 'file') return [{ kind: 'file', url: part.url, mediaType: part.mediaType, name: part.filename }]
    if (part.type === 'data-task') return [{ kind: 'task', task: part.data as RunTask }]
    if (part.type === 'data-object') return [{ kind: 'object', object: (part.data as { object: unknown }).object }]
    return isToolUIPart(part) ? [{ kind: 'call', part, name: getToolName(part), message }] : []
  }

  function rowsOf (message: UIMessage): Row[] {
    const rows = known.get(message) ?? message.parts.flatMap((part, at) => {
      const key = `${message.id} ${at}`
      return contentOf(message, part, key).map((content, n): Row => ({ ...content, key: `${key} ${n}` }))
    })
    if (!known.has(message) && rows.length > 0) {
      rows[0].isFirst = true
      if (message.role === 'assistant') rows.push({ kind: 'end', key: `${message.id} end`, message })
      known.set(message, rows)
    }
    return rows
  }
  return (messages) => messages.flatMap(rowsOf)
}

/** The text of an answer, without what its tools did. */
export const textOf = ({ parts }: UIMessage): string => parts.flatMap((part) => part.type === 'text' ? part.text : []).join('\n\n')
