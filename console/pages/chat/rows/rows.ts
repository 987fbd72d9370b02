import { getToolName, isToolUIPart, type ToolUIPart, type DynamicToolUIPart, type UIMessage } from 'ai'
import { withoutDroppedTries } from '../../../../client/dropped-tries.ts'
import type { AgentPlan, ReplacedChanges, RunTask, Steer } from '../../../../client/generated/index.ts'
import { headingLevels } from '../../../parts/markdown/heading-levels.ts'
import { createReferences, type ResolvedBlock } from '../../../parts/markdown/references.ts'
import { splitBlocks, type Split } from '../../../parts/markdown/split-blocks.ts'
import { type Chosen, chosenIn, ownParts } from '../thread/chosen.ts'
import { steerIn, steerStateOf } from '../thread/unread-words.ts'
import facts from '../../../lib/tool-facts.json'
import { readAsked } from './asked-row.tsx'
import { foldSteps } from './fold-steps.ts'

type Message = { message: UIMessage }
export type CallPart = ToolUIPart | DynamicToolUIPart

/** One row of a conversation. A long message has many rows, because only those in view are in the document. */
export type Row = { key: string, /** The message begins here. */ isFirst?: true } & (
  | { kind: 'said', text: string, state?: Steer['state'] } & Message
  /** A prompt or a skill of the user's message. `isAlone` is true if the message has no text. */
  | { kind: 'chosen', chosen: Chosen, isAlone: boolean } & Message
  /** A steering message that the user sent while the answer was made. */
  | { kind: 'steer', text: string, state: Steer['state'] }
  | { kind: 'system', text: string }
  | { kind: 'block', block: ResolvedBlock, levels: string }
  | { kind: 'reasoning', text: string, isAnalysis: boolean, isOpen: boolean }
  | { kind: 'call', part: CallPart, name: string } & Message
  /** Completed steps, folded into one row. */
  | { kind: 'steps', steps: StepRow[] }
  /** Closed questions to the user. */
  | { kind: 'asked', questions: NonNullable<ReturnType<typeof readAsked>> }
  | { kind: 'task', task: RunTask }
  | { kind: 'object', object: unknown }
  /** The answer was reviewed, and its second version follows. */
  | { kind: 'revised' }
  /** The changes that were undone before the answer. */
  | { kind: 'undone', undone: ReplacedChanges }
  | { kind: 'plan', steps: AgentPlan['steps'] }
  | { kind: 'file', url: string, mediaType: string, name?: string, isSaid: boolean }
  | { kind: 'end' } & Message
)

export type StepRow = Extract<Row, { kind: 'call' | 'reasoning' }>

/** Returns true if a row is a step that has succeeded. Other steps are shown where they are. */
function isStepOver (row: Row): row is StepRow {
  if (row.kind === 'call') return row.part.state === 'output-available' && row.part.preliminary !== true
  return row.kind === 'reasoning' && !row.isOpen && !row.isAnalysis
}

/** Returns one row for several steps, if at least one of them is a call. */
function foldedSteps (steps: StepRow[]): Row | undefined {
  if (!steps.some(({ kind }) => kind === 'call')) return undefined
  return { kind: 'steps', key: `${steps[0].key} steps`, steps, ...steps[0].isFirst && { isFirst: true } }
}

type Part = UIMessage['parts'][number]
type Content = Row extends infer R ? R extends Row ? Omit<R, 'key' | 'isFirst'> : never : never

/**
 * Creates the function that returns the rows of a message. An unchanged message keeps its row objects. A growing message keeps the row
 * objects of its unchanged blocks.
 */
function createRows (): (message: UIMessage) => Row[] {
  const known = new WeakMap<UIMessage, Row[]>()
  const splits = new Map<string, Split>()
  const rowsOfBlocks = new WeakMap<ResolvedBlock, Row>()
  const references = new Map<string, ReturnType<typeof createReferences>>()

  function blocksOf (key: string, text: string): ResolvedBlock[] {
    const split = splitBlocks(text, splits.get(key))
    splits.set(key, split)
    const resolve = references.get(key) ?? createReferences()
    references.set(key, resolve)
    return resolve(split.blocks)
  }

  function answerOf (key: string, text: string): Content[] {
    const blocks = blocksOf(key, text)
    const levels = headingLevels(blocks)
    return blocks.map((block, at) => ({ kind: 'block', block, levels: levels[at] }))
  }

  function contentOf (message: UIMessage, part: Part, key: string): Content[] {
    const chosen = message.role === 'user' ? chosenIn(part) : undefined
    if (chosen !== undefined) return [{ kind: 'chosen', chosen, isAlone: !ownParts(message).some(({ type }) => type === 'text'), message }]
    if (part.type === 'text') {
      if (message.role === 'user') return [{ kind: 'said', text: part.text, state: steerStateOf(message), message }]
      if (message.role === 'system') return [{ kind: 'system', text: part.text }]
      return answerOf(key, part.text)
    }
    if (part.type === 'data-revision') return [{ kind: 'revised' }, ...answerOf(key, (part.data as { text: string }).text)]
    if (part.type === 'reasoning') {
      if (part.text === '') return []
      const isAnalysis = part.providerMetadata?.agent?.phase === 'analysis'
      return [{ kind: 'reasoning', text: part.text, isAnalysis, isOpen: part.state === 'streaming' }]
    }
    if (part.type === 'file') {
      return [{ kind: 'file', url: part.url, mediaType: part.mediaType, name: part.filename, isSaid: message.role === 'user' }]
    }
    const steer = steerIn(part)
    if (steer !== undefined) return [{ kind: 'steer', text: steer.text, state: steer.state }]
    if (part.type === 'data-task') return [{ kind: 'task', task: part.data as RunTask }]
    if (part.type === 'data-plan') return [{ kind: 'plan', steps: (part.data as AgentPlan).steps }]
    if (part.type === 'data-object') return [{ kind: 'object', object: (part.data as { object: unknown }).object }]
    if (!isToolUIPart(part)) return []
    const name = getToolName(part)
    const questions = facts.asking.includes(name) && part.state === 'output-available' ? readAsked(part.input, part.output) : undefined
    return [questions === undefined ? { kind: 'call', part, name, message } : { kind: 'asked', questions }]
  }

  /** Returns the earlier row of the same block if there is one, else this row. */
  function sameRow (row: Row): Row {
    if (row.kind !== 'block') return row
    const same = rowsOfBlocks.get(row.block)
    if (same?.kind === 'block' && same.key === row.key && same.levels === row.levels && same.isFirst === row.isFirst) return same
    rowsOfBlocks.set(row.block, row)
    return row
  }

  function rowsOf (message: UIMessage): Row[] {
    const rows = withoutDroppedTries(message.parts).flatMap((part, at) => {
      const key = `${message.id} ${at}`
      return contentOf(message, part, key).map((content, n): Row => ({ ...content, key: `${key} ${n}` }))
    })
    const undone = undoneOf(message)
    if (undone !== undefined) rows.unshift({ kind: 'undone', undone, key: `${message.id} undone` })
    if (rows.length === 0) return rows
    for (const [n, row] of rows.entries()) if (n === 0 || row.kind === 'steer' || rows[n - 1].kind === 'steer') row.isFirst = true
    if (message.role === 'assistant') rows.push({ kind: 'end', key: `${message.id} end`, message })
    return foldSteps(rows, isStepOver, foldedSteps).map(sameRow)
  }

  return (message) => {
    const rows = known.get(message) ?? rowsOf(message)
    known.set(message, rows)
    return rows
  }
}

/** Rows that enter and leave the document together. */
export interface Group {
  key: string
  rows: Row[]
}

/** The maximum number of messages that share groups, and of rows in a group. */
const MESSAGES = 8
const MOST_ROWS = 20

/**
 * Creates the function that puts the rows of messages into groups. A row stays in its group when messages are added before or after it, and
 * a group whose rows are unchanged stays the same object.
 */
export function createGroups (): (messages: UIMessage[]) => Group[] {
  const rowsOf = createRows()
  let known = new Map<string, Group>()
  /** The id of a message at which a group begins. */
  let origin: string | undefined
  return (messages) => {
    const at0 = Math.max(messages.findIndex(({ id }) => id === origin), 0)
    origin = messages[at0]?.id
    const placeOf = (at: number) => Math.floor((at - at0) / MESSAGES)
    const groups = new Map<string, Group>()
    let rows: Row[] = []
    messages.forEach((message, at) => {
      rows.push(...rowsOf(message))
      const place = placeOf(at)
      if (placeOf(at + 1) === place && at !== messages.length - 1) return
      for (let first = 0; first < rows.length; first += MOST_ROWS) {
        const key = `${place} ${first}`
        const group = { key, rows: rows.slice(first, first + MOST_ROWS) }
        const same = known.get(key)
        groups.set(key, same !== undefined && isEqual(same.rows, group.rows) ? same : group)
      }
      rows = []
    })
    known = groups
    return [...groups.values()]
  }
}

const isEqual = (rows: Row[], others: Row[]) => rows.length === others.length && rows.every((row, at) => row === others[at])

/** Returns the text of an answer, without its tool calls. */
export const textOf = ({ parts }: UIMessage): string => parts.flatMap((part) => part.type === 'text' ? part.text : []).join('\n\n')

/** Returns the text that the user typed in a message. */
export const ownTextOf = (message: UIMessage): string => textOf({ ...message, parts: ownParts(message) })

/** Returns the id of the run that wrote an answer; undefined for messages of other clients. */
export const runIdOf = ({ metadata }: UIMessage): string | undefined => (metadata as { runId?: string } | undefined)?.runId

const undoneOf = ({ metadata }: UIMessage) => (metadata as { undone?: ReplacedChanges } | undefined)?.undone
