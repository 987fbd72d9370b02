import t from 'tap'
import { createAnswerText, offeredTools, type TextPiece } from '../../../services/models/index.ts'
import { readNearlyJson } from '../../../services/lib/nearly-json.ts'
import { mendInput } from '../../../services/tools/mend-input.ts'
import { nameMeant } from '../../../services/tools/name-meant.ts'
import { offered, type TextCallCase } from './cases/text-call-case.ts'
import { textCallsHeld, textCallTools } from './cases/text-calls-held.ts'
import { openCases } from './cases/text-calls-open.ts'

type Call = TextCallCase['calls'][number]
type Schemas = Record<string, { properties: object }>

const openTools: Schemas = Object.fromEntries(offered.map(({ name, parameters, required }) => {
  const properties = Object.fromEntries(Object.entries(parameters).map(([key, type]) => [key, { type }]))
  return [name, { type: 'object', properties, required }]
}))

/** Returns what comes of a text that arrives in pieces of a length, in a run that offers tools. */
function read (text: string, length: number, schemas: Schemas) {
  const names = Object.keys(schemas)
  const meant = (name: string) => nameMeant(name, names)
  const reader = createAnswerText(offeredTools({ tools: names.map((name) => ({ name, inputSchema: schemas[name] })) }, meant))
  const pieces: TextPiece[] = []
  for (let at = 0; at < text.length; at += length) pieces.push(...reader.take(text.slice(at, at + length)))
  pieces.push(...reader.end())
  let [shown, reasoning] = ['', '']
  const calls: Call[] = []
  let isUnread = false
  for (const piece of pieces) {
    if (piece.kind === 'text') shown += piece.delta
    if (piece.kind === 'reasoning') reasoning += piece.delta
    if (piece.kind === 'was-thought') [shown, reasoning] = ['', shown]
    if (piece.kind === 'broken') isUnread = true
    if (piece.kind === 'call') {
      const name = meant(piece.name)!
      let input = readNearlyJson(piece.input)?.value
      if (typeof input === 'string') input = readNearlyJson(input)?.value
      calls.push({ name, input: mendInput(schemas[name], input) as Call['input'] })
    }
  }
  return { shown: shown.trim(), reasoning: reasoning.trim(), calls, isUnread }
}

const inOrder = ({ name, input }: Call) => [name, Object.entries(input).sort(([a], [b]) => a < b ? -1 : 1)]
const isSame = (calls: readonly Call[], others: readonly Call[]) =>
  JSON.stringify(calls.map(inOrder)) === JSON.stringify(others.map(inOrder))
const LENGTHS = [1, 3, 7, 10_000]

function problemOf (each: TextCallCase, length: number): string | undefined {
  const { shown, reasoning, calls, isUnread } = read(each.text, length, openTools)
  const wrong = [
    !isSame(calls, each.calls) && `calls ${JSON.stringify(calls)}`,
    isUnread !== (each.isUnread ?? false) && `isUnread ${isUnread}`,
    each.shown !== undefined && shown !== each.shown && `shown ${JSON.stringify(shown)}`,
    each.reasoning !== undefined && reasoning !== each.reasoning && `reasoning ${JSON.stringify(reasoning)}`
  ].filter((problem) => problem !== false)
  return wrong.length > 0 ? `${each.name} (${length}): ${wrong.join(', ')}` : undefined
}

t.test('each dialect is read as its makers write it, however the answer is cut into pieces', (t) => {
  t.same(LENGTHS.flatMap((length) => openCases.flatMap((each) => problemOf(each, length) ?? [])), [])
  t.comment(`${openCases.length} open cases`)
  t.end()
})

// Written by somebody who did not see the readers, and not read by those who wrote them.
t.test('so are answers that the readers were not written with', (t) => {
  const wrong = textCallsHeld.filter((each) => {
    const schemas = Object.fromEntries(each.tools.map((name) => [name, textCallTools[name as keyof typeof textCallTools]]))
    return LENGTHS.some((length) => {
      const { calls, isUnread } = read(each.text, length, schemas as unknown as Schemas)
      if ('calls' in each.expect) return !isSame(calls, each.expect.calls as Call[])
      return calls.length > 0 || ('unreadable' in each.expect && !isUnread)
    })
  })
  const kinds = wrong.map(({ dialect, kind }) => `${dialect} ${kind}`)
  t.comment(`${textCallsHeld.length - wrong.length} of ${textCallsHeld.length} held cases; not ${kinds.join(', ') || 'one'}`)
  t.same(wrong.flatMap(({ kind, dialect }) => kind === 'quoted' ? dialect : []), [], 'a quoted call never runs')
  t.ok(wrong.length <= 0)
  t.end()
})
