import { canonicalJson } from '../../../lib/canonical-json.ts'
import { readJson } from '../../../lib/json.ts'
import { notAnAnswer, unreadable } from '../bounded-fetch.ts'
import { errorIn } from '../error-words.ts'
import { countOf, listOf, numberOf, objectOf, objectsOf, textOf, wordsOf } from './fields.ts'
import type { AnswerForm, Fields, StreamReader } from './lenient-fetch.ts'

const COUNTS = [
  'cachedContentTokenCount',
  'thoughtsTokenCount',
  'promptTokenCount',
  'candidatesTokenCount',
  'toolUsePromptTokenCount',
  'totalTokenCount'
]
const TEXTS = ['trafficType', 'serviceTier']
/** Means that no reason was given. */
const UNSPECIFIED = 'FINISH_REASON_UNSPECIFIED'

function readPart (given: unknown): Fields[] {
  const part = objectOf(given) ?? { text: given }
  const thoughtSignature = wordsOf(part.thoughtSignature)
  const call = objectOf(part.functionCall)
  if (call !== undefined) {
    const { id, name, args } = call
    // Undefined, not null: the SDK takes a call with neither name nor input for the end of a call.
    const read = { ...call, id: wordsOf(id), name: textOf(name), args: (typeof args === 'string' ? readJson(args) : args) ?? undefined }
    return [{ functionCall: read, thoughtSignature }]
  }
  if (objectOf(part.inlineData) || objectOf(part.toolCall) || objectOf(part.toolResponse)) return [part]
  const { executableCode: code, codeExecutionResult: result } = part
  const text = textOf(part.text)
  if (text === undefined && thoughtSignature === undefined && !objectOf(code) && !objectOf(result)) return []
  const thought = part.thought === true || part.thought === 'true'
  return [{ text: text ?? '', thought, thoughtSignature, executableCode: code, codeExecutionResult: result }]
}

/** Returns the parts of a candidate's content, which is a list, a single part or a text. */
function partsOf ({ content }: Fields): Fields[] {
  const parts = objectOf(content)?.parts ?? (objectOf(content) ? undefined : content)
  if (parts === undefined || parts === null) return []
  return (Array.isArray(parts) ? parts : [parts]).flatMap(readPart)
}

const isCall = (part: Fields) => part.functionCall !== undefined
const isText = (part: Fields) => typeof part.text === 'string' && part.text !== '' && part.thought !== true

/** Merges the parts of all candidates into one answer: the texts of the first candidate that has some, and the calls of all. */
function mergedParts (candidates: Fields[]): Fields[] {
  const all = candidates.map(partsOf)
  const speaking = Math.max(0, all.findIndex((parts) => parts.some(isText)))
  return all.flatMap((parts, at) => at === speaking ? parts : parts.filter(isCall))
}

const readRatings = (value: unknown) =>
  objectsOf(value).map(({ category, probability, severity, probabilityScore, severityScore, blocked }) => ({
    category: wordsOf(category),
    probability: wordsOf(probability),
    severity: wordsOf(severity),
    probabilityScore: numberOf(probabilityScore),
    severityScore: numberOf(severityScore),
    blocked: blocked === true
  }))

function readUsage (value: unknown): Fields | undefined {
  const usage = objectOf(value)
  if (usage === undefined) return undefined
  return {
    ...Object.fromEntries(COUNTS.map((name) => [name, countOf(usage[name])])),
    ...Object.fromEntries(TEXTS.map((name) => [name, wordsOf(usage[name])])),
    ...Object.fromEntries(Object.entries(usage).filter(([name]) => name.endsWith('TokensDetails')).map(([name, list]) => [
      name,
      listOf(list).flatMap((each) => {
        const { modality, tokenCount } = objectOf(each) ?? {}
        const count = countOf(tokenCount)
        return typeof modality === 'string' && count !== undefined ? [{ modality, tokenCount: count }] : []
      })
    ]))
  }
}

/** Returns a chunk or a whole answer in the form that the SDK accepts. Throws a ProviderError if the value is an error. */
function readChunk (given: Fields, event?: string): Fields {
  // Google's servers for editors put the answer into a further object.
  const value = given.candidates === undefined && objectOf(given.response)?.candidates !== undefined ? given.response : given
  const candidates = objectsOf(value.candidates)
  const feedback = objectOf(value.promptFeedback)
  const isAnswer = candidates.length > 0 || feedback !== undefined || objectOf(value.usageMetadata) !== undefined
  const error = errorIn(value, { event, isAnswer })
  if (error !== undefined) throw error
  const first = candidates[0] ?? {}
  const finishReason = candidates.map((each) => wordsOf(each.finishReason)).find((reason) => reason !== undefined && reason !== UNSPECIFIED)
  return {
    responseId: wordsOf(value.responseId),
    candidates: candidates.length === 0
      ? undefined
      : [{
          content: { parts: mergedParts(candidates) },
          finishReason,
          finishMessage: wordsOf(first.finishMessage),
          continuationToken: wordsOf(first.continuationToken),
          safetyRatings: readRatings(first.safetyRatings ?? []),
          groundingMetadata: objectOf(first.groundingMetadata),
          urlContextMetadata: objectOf(first.urlContextMetadata)
        }],
    usageMetadata: readUsage(value.usageMetadata),
    promptFeedback: feedback && { blockReason: wordsOf(feedback.blockReason), safetyRatings: readRatings(feedback.safetyRatings ?? []) }
  }
}

/** Creates the reader of a stream of Google's Gemini API, https://ai.google.dev/api/generate-content. */
function createStream (): StreamReader {
  let hasContent = false
  let isEnded = false
  /** The calls so far that have no id, as JSON, each with its signatures: some servers send a call again in a later chunk. */
  const calls = new Map<string, Set<string | undefined>>()

  /** True if a call without an id is a repetition. Only two different signatures show that two equal calls are meant. */
  function isAgain (part: Fields): boolean {
    const written = writtenCall(part)
    if (written === undefined) return false
    const signature = wordsOf(part.thoughtSignature)
    const before = calls.get(written)
    if (before === undefined) {
      calls.set(written, new Set([signature]))
      return false
    }
    if (signature === undefined || before.has(undefined) || before.has(signature)) return true
    before.add(signature)
    return false
  }

  function take (value: Fields, event?: string): Fields[] {
    const chunk = readChunk(value, event)
    const [candidate] = chunk.candidates ?? []
    isEnded ||= candidate?.finishReason !== undefined || chunk.promptFeedback?.blockReason !== undefined
    if (candidate === undefined) return [chunk]
    const { parts } = candidate.content
    candidate.content.parts = parts.filter((part: Fields) => !isAgain(part))
    hasContent ||= parts.some((part: Fields) => isCall(part) || isText(part))
    return [chunk]
  }

  return {
    take,
    takeDocument (value) {
      const chunks = take(value)
      if (chunks.every(({ candidates, promptFeedback }) => candidates === undefined && promptFeedback === undefined)) throw notAnAnswer()
      return chunks
    },
    end: (isDone) => isDone && hasContent && !isEnded ? [{ candidates: [{ content: { parts: [] }, finishReason: 'STOP' }] }] : []
  }
}

/** Returns the canonical JSON of a complete call without an id; undefined for other parts. */
function writtenCall ({ functionCall: call }: Fields): string | undefined {
  if (call === undefined || call.id !== undefined || call.name === undefined) return undefined
  return call.partialArgs == null && call.willContinue !== true ? canonicalJson([call.name, call.args ?? {}]) : undefined
}

export const GOOGLE_ANSWERS: AnswerForm = {
  createStream,
  readWhole (value) {
    const chunk = readChunk(value)
    if (chunk.candidates === undefined && chunk.promptFeedback === undefined) throw unreadable()
    return chunk
  },
  join (values) {
    const chunks = values.map((value) => readChunk(value))
    const parts = chunks.flatMap(({ candidates }) => candidates?.[0].content.parts ?? [])
    const finishReason = chunks.map(({ candidates }) => candidates?.[0].finishReason).findLast((reason) => reason !== undefined)
    return { ...chunks.at(-1), candidates: [{ content: { parts }, finishReason }] }
  }
}
