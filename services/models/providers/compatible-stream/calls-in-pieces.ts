import { InvalidResponseDataError, type LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { newId } from '../../../lib/ids.ts'
import { isObject, isSameJson, readJson } from '../../../lib/json.ts'
import type { CallPiece } from './read-chunk.ts'

interface Call {
  choice: number
  index?: number
  /** The id that the server sent. */
  givenId?: string
  id: string
  name: string
  input: string
  /** True if the input might be complete: it ends with a brace. */
  isClosed: boolean
  thoughtSignature?: string
  /** True if the start and the input so far were passed on as parts. */
  isTold: boolean
}

const isWholeInput = ({ input, isClosed }: Pick<Call, 'input' | 'isClosed'>) => isClosed && isObject(readJson(input))
const isEmptyInput = (input: string) => /^\s*(?:\{\s*\}\s*)?$/.test(input)
const isClosing = (input: string) => input.trimEnd().endsWith('}')
const beginsInput = (input: string) => input.trimStart().startsWith('{')

/**
 * Assembles the tool calls that an answer brings in pieces. Servers differ in the fields of a piece: each field can be absent, the same for
 * all calls, or repeated in each piece. Some servers send a whole call twice.
 */
export function createCallsInPieces (metadataKey: string, enqueue: (part: LanguageModelV4StreamPart) => void) {
  const calls: Call[] = []

  const metadataOf = ({ thoughtSignature }: Call) =>
    thoughtSignature === undefined ? undefined : { providerMetadata: { [metadataKey]: { thoughtSignature } } }

  /** Returns the call that a piece might belong to. */
  function candidateFor ({ choice, index, id }: CallPiece): Call | undefined {
    const same = calls.filter((call) => call.choice === choice)
    if (index !== undefined) return same.findLast((call) => call.index === index)
    if (id !== undefined) return same.findLast((call) => call.givenId === id)
    return same.at(-1)
  }

  function begin ({ choice, index, id, name, input, thoughtSignature }: CallPiece) {
    const isClosed = isClosing(input)
    calls.push({ choice, index, givenId: id, id: id ?? newId(), name: name ?? '', input, isClosed, thoughtSignature, isTold: false })
  }

  /** Adds a piece to the call. If the piece does not belong to the call, begins another call. Leaves out repetitions. */
  function proceed (call: Call, piece: CallPiece) {
    if (isOther(call, piece)) {
      if (!isRepetition(call, piece)) begin(piece)
      return
    }
    if (isRepetition(call, piece)) return
    call.givenId ??= piece.id
    if (piece.id !== undefined && !call.isTold) call.id = piece.id
    call.thoughtSignature ??= piece.thoughtSignature
    if (piece.name !== undefined && (call.input === '' || call.name === '')) call.name = nameOf(call.name, piece.name)
    // Together with the name, some servers send all of the input so far.
    const isGrown = piece.name !== undefined && call.input !== '' && beginsInput(piece.input) && piece.input.startsWith(call.input)
    // Some servers send an empty object before the first piece of the input.
    if (isEmptyInput(call.input) && beginsInput(piece.input)) call.input = ''
    const delta = isGrown ? piece.input.slice(call.input.length) : piece.input
    if (delta.trim() !== '') call.isClosed = isClosing(delta)
    call.input += delta
    if (call.isTold && delta !== '') enqueue({ type: 'tool-input-delta', id: call.id, delta })
  }

  /** Passes on the beginning of a call, unless an earlier call has the same id: then it might be a repetition. */
  function tell (call: Call, isEnd = false) {
    if (call.isTold || call.name === '' || (isEmptyInput(call.input) && !isEnd)) return
    if (!isEnd && calls.some((other) => other !== call && other.id === call.id)) return
    call.isTold = true
    enqueue({ type: 'tool-input-start', id: call.id, toolName: call.name, ...metadataOf(call) })
    if (call.input !== '') enqueue({ type: 'tool-input-delta', id: call.id, delta: call.input })
  }

  return {
    take (piece: CallPiece) {
      const { name, id, input } = piece
      const call = candidateFor(piece)
      if (call !== undefined) proceed(call, piece)
      else if (name !== undefined || id !== undefined || input !== '') begin(piece)
      const latest = candidateFor(piece)
      if (latest !== undefined) tell(latest)
    },

    has: () => calls.length > 0,

    /** True if the input of each call has arrived completely. */
    areWhole: () => calls.every(({ name, input }) => name !== '' && (input.trim() === '' || isObject(readJson(unwrapped(input))))),

    /** Ends all calls. Throws InvalidResponseDataError when one has no name. */
    end () {
      const ended: Call[] = []
      for (const call of calls) {
        const { id, name } = call
        const input = unwrapped(call.input)
        if (name === '') {
          if (input.trim() === '') continue
          throw new InvalidResponseDataError({ data: call, message: 'A tool call has no name.' })
        }
        // The same call in another choice of the answer.
        const isAgain = (other: Call) =>
          other.choice !== call.choice && call.givenId === undefined && other.name === name && isSameJson(other.input, input)
        if (ended.some(isAgain)) continue
        ended.push(call)
        tell(call, true)
        enqueue({ type: 'tool-input-end', id })
        enqueue({ type: 'tool-call', toolCallId: id, toolName: name, input: input.trim() === '' ? '{}' : input, ...metadataOf(call) })
      }
    }
  }
}

/** Returns the JSON text inside of an input that is a JSON string. */
function unwrapped (input: string): string {
  const inner: unknown = input.trimStart().startsWith('"') ? readJson(input) : undefined
  return typeof inner === 'string' && isObject(readJson(inner)) ? inner : input
}

/** True if a piece does not continue `call`, but begins another call. */
function isOther (call: Call, { id, name, input, index }: CallPiece): boolean {
  const hasOtherId = id !== undefined && call.givenId !== undefined && id !== call.givenId
  // A piece without a name continues a call, even on servers that invent an id for each piece.
  if (name === undefined) return hasOtherId && index === undefined
  if (call.name === '') return hasOtherId
  const isOngoing = call.input !== '' && !isWholeInput(call)
  if (hasOtherId) return !(isOngoing && name === call.name && input !== '' && !beginsInput(input))
  if (call.input === '') return index === undefined && id === undefined && name !== call.name
  if (isOngoing) return name !== call.name && beginsInput(input)
  if (isEmptyInput(call.input) && id !== undefined && id === call.givenId) return name !== call.name
  return input.trim() !== '' || name !== call.name
}

/** True if a piece repeats the whole call that it seems to continue. */
function isRepetition (call: Call, { id, name, input }: CallPiece): boolean {
  if (id !== undefined && call.givenId !== undefined && id !== call.givenId) return false
  if (name !== undefined && name !== call.name) return false
  if (call.input === '' || input.trim() === '') return false
  return (input === call.input || name !== undefined) && isWholeInput(call) && isSameJson(input, call.input)
}

/** Joins the names in two pieces of a call. The second name can repeat, extend or continue the first one. */
const nameOf = (so: string, piece: string): string => piece.startsWith(so) ? piece : so.startsWith(piece) ? so : so + piece
