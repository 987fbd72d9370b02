import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { FileApi } from '../../attached/file-forms.ts'
import type { KeptCalls } from '../answer-stream/kept-calls.ts'
import type { AnswerMode } from '../bounded-fetch.ts'
import type { LearnedNeeds } from '../learned-limits.ts'
import type { AnswerForm } from '../lenient-answers/lenient-fetch.ts'
import type { ModelInfo } from '../provider.ts'

/** The address and the key with which a provider is called. */
export interface Access {
  /** Without a slash at its end. */
  baseURL: string
  apiKey?: string
}

interface OpenModel extends Access {
  /** What the model requires of the form of a request (see `Need`), stated by its server or learned. */
  needs: LearnedNeeds
  /** True if the server states the needs, so that nothing has to be guessed. */
  saysNeeds: () => boolean
  /** Returns the context window, in tokens, that the server uses for the model; undefined if the server does not report it. */
  windowInUse: (signal: AbortSignal) => Promise<number | undefined>
  /** The provider's name in config.json. */
  provider: string
  /** The model's name, the part of the id after the slash. */
  model: string
  /**
   * Returns a `fetch` for answers in a mode. It limits the size of answers, and corrects the answers of the API `form` before the SDK
   * parses them.
   */
  fetchFor(mode: AnswerMode, form: AnswerForm): typeof globalThis.fetch
  /** Loads the functions that make calls over kept-alive connections. */
  calls(): Promise<KeptCalls>
}

/** The functions of the SDK's model that are used. */
export type ModelCalls = Pick<LanguageModelV4, 'doGenerate' | 'doStream'>

/** An API of model providers, such as Anthropic's. The AI SDK's package for the API is loaded on first use. */
export interface ProviderKind {
  /** The address of the API's maker; undefined when there is none. */
  readonly baseURL?: string
  /** The model to offer when config.json names none. */
  readonly defaultModel?: string
  /** The model of the API's maker for small questions. */
  readonly smallModel?: string
  /** The context window, in tokens, of a model for which the model list states none. */
  readonly contextWindow: number
  /** The API whose rules for files apply to its models. */
  readonly fileApi: FileApi
  open(model: OpenModel): Promise<ModelCalls>
  /** The request for the list of models. */
  listRequest(access: Access): { url: string, headers: Record<string, string> }
  /** Parses the answer to the request for the list. Throws a SyntaxError if the text holds no list. */
  readList(text: string, provider: string): ModelInfo[]
  load(): Promise<unknown>
}
