import { createHash } from 'node:crypto'
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart
} from '@ai-sdk/provider'
import { ANSWER_TOOL } from '../../contracts/model-texts.ts'
import type { ErrorCode } from '../../../schemas/error-codes.ts'
import { batchesOf, type BatchedResult, streamOf, withWarnings } from '../providers/part-batches.ts'
import type { Wire } from './keywords.ts'
import { projectSchema, type Projected } from './project-schema.ts'
import { blamesTool, findRefused, placesNamed } from './refused-tool.ts'
import { withGivenNames } from './rename-input.ts'

/** A tool that the provider of a model refused, with the provider's message. */
export interface RefusedTool {
  /** Id of the model. */
  model: string
  name: string
  /** Digest of the tool's definition. A tool whose definition has changed is sent again. */
  digest: string
  words: string
}

/** The tools that providers are known to refuse. */
export interface RefusedTools {
  refusedTools(): readonly RefusedTool[]
  noteToolRefused(tool: RefusedTool): void
  forgetRefused(tool: Pick<RefusedTool, 'model' | 'name'>): void
}

/** Remembers refused tools until the service ends. */
export function createRefusedTools (): RefusedTools {
  let refused: RefusedTool[] = []
  const others = ({ model, name }: Pick<RefusedTool, 'model' | 'name'>) =>
    refused.filter((each) => each.model !== model || each.name !== name)
  return {
    refusedTools: () => refused,
    noteToolRefused: (tool) => void (refused = [...others(tool), tool]),
    forgetRefused: (tool) => void (refused = others(tool))
  }
}

interface TakingModel {
  id: string
  wire: Wire
  refused: RefusedTools
  describe(error: unknown): { code: ErrorCode }
  /** Returns the provider's message, without keys. */
  wordsOf(error: unknown): string | undefined
}

type Options = LanguageModelV4CallOptions
type FunctionTool = LanguageModelV4FunctionTool

/** A tool in the form that a provider gets. */
interface Sent {
  tool: FunctionTool
  original: FunctionTool
  projected: Projected
}

/** Codes of failures that a tool might cause. Servers of open models answer some of these with status 500. */
const OF_REQUEST: readonly ErrorCode[] = ['ERR_PROVIDER_REQUEST', 'ERR_PROVIDER_UNAVAILABLE', 'ERR_PROVIDER_FAILED']
/** The most repetitions of a call without a refused tool, and the most searches for the tool that was refused. */
const MOST_TRIES = 32
const MOST_SEARCHES = 3
/** The longest answer, in tokens, of a call that only tests whether tools are accepted. OpenAI accepts no smaller limit. */
const SHORTEST_ANSWER = 16
const LONGEST_WORDS = 200
const PROBE: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hello.' }] }]

/**
 * Returns the model with calls that describe tools in the form that its provider accepts. If the provider refuses a call because of a tool,
 * the call is repeated without that tool. The tool is not sent to this model again until its definition changes. So no run fails because of
 * one tool.
 */
export function withTools (model: LanguageModelV4, taking: TakingModel): LanguageModelV4 {
  async function call<T> (options: Options, ask: (options: Options) => PromiseLike<T>, finish: Finish<T>, probe: Ask): Promise<T> {
    const functions = options.tools?.filter((tool): tool is FunctionTool => tool.type === 'function') ?? []
    if (functions.length === 0) return ask(withAnswerSchema(options, taking.wire))
    let sent = sentTools(functions, taking)
    const left: RefusedTool[] = []
    const areTaken = (some: readonly Sent[]) =>
      isTaken(probe({ ...asSent(options, some, taking.wire), prompt: PROBE, maxOutputTokens: SHORTEST_ANSWER }), taking)
    for (let tries = 0, searches = 0; ; tries++) {
      try {
        return finish(await ask(asSent(options, sent, taking.wire)), sent, left)
      } catch (error) {
        const isOver = tries === MOST_TRIES || searches === MOST_SEARCHES || options.abortSignal?.aborted
        const blamed = isOver ? [] : placesBlamed(error, sent, taking)
        const places = blamed === 'some' ? await searched(sent, areTaken) : blamed
        if (blamed === 'some') searches++
        const without = new Set(places.map((at) => sent[at]).filter(({ tool }) => tool.name !== ANSWER_TOOL))
        if (without.size === 0) {
          // The call fails without these tools, too: they are not the cause.
          for (const tool of left) taking.refused.forgetRefused(tool)
          throw error
        }
        for (const { tool } of without) {
          const words = (taking.wordsOf(error) ?? 'no reason').slice(0, LONGEST_WORDS)
          const refusal = { model: taking.id, name: tool.name, digest: digestOf(tool), words }
          taking.refused.noteToolRefused(refusal)
          left.push(refusal)
        }
        sent = sent.filter((each) => !without.has(each))
      }
    }
  }
  const { specificationVersion, provider, modelId, supportedUrls } = model
  return {
    ...{ specificationVersion, provider, modelId, supportedUrls },
    doGenerate: (options) =>
      call(options, (prepared) => model.doGenerate(prepared), withOwnNamesInAnswer, (probe) => model.doGenerate(probe)),
    doStream: (options) =>
      call(options, (prepared) => model.doStream(prepared), (result, sent, left) => {
        const features = left.map(({ name, words }) => ({ feature: TOOL_LEFT_OUT, details: `${name}: ${words}` }))
        return withWarnings(withOwnNames(result, ownNames(sent)), features)
      }, async (probe) => batchesOf(await model.doStream(probe)).cancel(undefined))
  }
}

/** The `feature` in the warning that a tool was left out. */
export const TOOL_LEFT_OUT = 'a tool'

type Finish<T> = (result: T, sent: readonly Sent[], left: readonly RefusedTool[]) => T
type Ask = (options: Options) => PromiseLike<unknown>

/** Returns true if a call was answered, and false if it failed in a way that a tool might cause. Rejects with every other failure. */
async function isTaken (answer: PromiseLike<unknown>, { describe }: TakingModel): Promise<boolean> {
  try {
    await answer
    return true
  } catch (error) {
    if (!OF_REQUEST.includes(describe(error).code)) throw error
    return false
  }
}

/** Returns the positions of the tools that the message of a failure names; `some` if a tool might be the cause and none is named. */
function placesBlamed (error: unknown, sent: readonly Sent[], { describe }: TakingModel): number[] | 'some' {
  const { code } = describe(error)
  if (!OF_REQUEST.includes(code)) return []
  const { message, responseBody } = error as { message?: string, responseBody?: string }
  const words = `${message} ${responseBody ?? ''}`
  if (!blamesTool(words)) return []
  const places = placesNamed(words, sent.map(({ tool }) => tool.name))
  return places.length > 0 || code !== 'ERR_PROVIDER_REQUEST' ? places : 'some'
}

async function searched (sent: readonly Sent[], areTaken: (some: readonly Sent[]) => Promise<boolean>): Promise<number[]> {
  // If the search fails, the caller gets the failure of the call itself.
  const place = await findRefused(sent, areTaken).catch(() => undefined)
  return place === undefined ? [] : [place]
}

const digests = new WeakMap<FunctionTool, string>()
function digestOf (tool: FunctionTool): string {
  const digest = digests.get(tool) ?? createHash('sha256').update(JSON.stringify(tool)).digest('base64url')
  digests.set(tool, digest)
  return digest
}

const known = new WeakMap<FunctionTool, Map<string, Sent>>()

/** Returns a tool in the form that the provider gets. The same tool and name always give the same object. */
function sentTool (original: FunctionTool, name: string, wire: Wire): Sent {
  const of = known.get(original) ?? new Map<string, Sent>()
  known.set(original, of)
  const key = `${wire} ${name}`
  const found = of.get(key)
  if (found !== undefined) return found
  const projected = projectSchema(original.inputSchema, wire)
  const isSame = name === original.name && projected.schema === original.inputSchema
  const made = { original, projected, tool: isSame ? original : { ...original, name, inputSchema: projected.schema } }
  of.set(key, made)
  return made
}

/** Returns the tools in the form that the provider gets, without the tools that it has refused for this model. */
function sentTools (tools: readonly FunctionTool[], { id, wire, refused }: TakingModel): Sent[] {
  const before = new Map(refused.refusedTools().filter(({ model }) => model === id).map((each) => [each.name, each]))
  const taken = new Set(tools.map(({ name }) => name))
  return tools.flatMap((original) => {
    const sent = sentTool(original, givenName(original.name, wire, taken), wire)
    const refusal = before.get(sent.tool.name)
    if (refusal === undefined || original.name === ANSWER_TOOL) return [sent]
    if (refusal.digest === digestOf(sent.tool)) return []
    refused.forgetRefused(refusal)
    return [sent]
  })
}

/**
 * Returns the name of a tool for a provider. Google: "must start with a letter or an underscore"
 * (https://ai.google.dev/api/caching#FunctionDeclaration).
 */
function givenName (name: string, wire: Wire, taken: ReadonlySet<string>): string {
  if (wire === 'openai' || wire === 'anthropic' || /^[A-Za-z_]/.test(name)) return name
  let given = `_${name}`
  while (taken.has(given)) given = `_${given}`
  return given
}

/**
 * Returns the options with the schema of a structured answer in the form that the provider accepts. The code that reads the answer knows
 * both names of a renamed property.
 */
function withAnswerSchema (options: Options, wire: Wire): Options {
  const { responseFormat } = options
  if (responseFormat?.type !== 'json' || responseFormat.schema === undefined) return options
  const { schema } = projectSchema(responseFormat.schema, wire)
  return schema === responseFormat.schema ? options : { ...options, responseFormat: { ...responseFormat, schema } }
}

/** Returns the options with the tools, and with earlier calls under the names that the provider gets. */
function asSent ({ tools, toolChoice, ...rest }: Options, sent: readonly Sent[], wire: Wire): Options {
  const options = withAnswerSchema(rest, wire)
  const others = tools?.filter(({ type }) => type !== 'function') ?? []
  const all = [...sent.map(({ tool }) => tool), ...others]
  const changed = new Map(
    sent.filter(({ tool, original, projected }) => projected.renamed !== undefined || tool.name !== original.name)
      .map((each) => [each.original.name, each])
  )
  return {
    ...options,
    prompt: changed.size === 0 ? options.prompt : options.prompt.map((message) => asGiven(message, changed)),
    ...all.length > 0 && { tools: all, toolChoice }
  }
}

function asGiven (message: LanguageModelV4Prompt[number], changed: ReadonlyMap<string, Sent>): LanguageModelV4Prompt[number] {
  if (message.role === 'system' || message.role === 'user') return message
  const content = message.content.map((part) => {
    if (part.type !== 'tool-call' && part.type !== 'tool-result') return part
    const sent = changed.get(part.toolName)
    if (sent === undefined) return part
    const toolName = sent.tool.name
    return part.type === 'tool-call' ? { ...part, toolName, input: withGivenNames(sent.projected, part.input) } : { ...part, toolName }
  })
  return { ...message, content } as typeof message
}

/** Returns the original names of the renamed tools, by the names that the provider gets. */
const ownNames = (sent: readonly Sent[]): ReadonlyMap<string, string> =>
  new Map(sent.filter(({ tool, original }) => tool.name !== original.name).map(({ tool, original }) => [tool.name, original.name]))

type Named = { type: string, toolName?: string }
const withOwnName = <P extends Named>(part: P, names: ReadonlyMap<string, string>): P =>
  part.toolName !== undefined && names.has(part.toolName) ? { ...part, toolName: names.get(part.toolName) } : part

function withOwnNamesInAnswer<R extends { content: readonly Named[] }> (result: R, sent: readonly Sent[]): R {
  const names = ownNames(sent)
  return names.size === 0 ? result : { ...result, content: result.content.map((part) => withOwnName(part, names)) }
}

function withOwnNames (result: Awaited<ReturnType<LanguageModelV4['doStream']>>, names: ReadonlyMap<string, string>): typeof result {
  if (names.size === 0) return result
  const { read, cancel } = batchesOf(result)
  const batches = {
    read: async () => (await read())?.map((part): LanguageModelV4StreamPart => withOwnName(part, names)),
    cancel
  }
  const batched: BatchedResult = { ...result, batches, stream: streamOf(batches) }
  return batched
}
