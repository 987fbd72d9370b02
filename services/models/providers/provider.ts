import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { FileApi } from '../attached/file-forms.ts'
import type { LearnedNeeds } from './learned-limits.ts'
import type { Reach } from './reach.ts'

/** How long a model may be silent before and within its answer, milliseconds. */
export interface Timeouts {
  firstTokenMs: number
  idleMs: number
  /** True for a server of the user's own, which might be slow: a slow answer is not requested again. */
  isOwn: boolean
}

export interface ModelInfo {
  /** `<provider>/<model>` */
  id: string
  name: string
  provider: string
  /** Tokens. */
  contextWindow?: number
  /** US dollars a token, as the provider states them. */
  pricing?: { input?: string, output?: string, cachedInput?: string, cacheWrite?: string }
  /** For a model file: its size, whether it is loaded, and its last speed. */
  sizeBytes?: number
  state?: 'stopped' | 'loading' | 'loaded'
  tokensPerSecond?: number
  /** A sentence that says why the model cannot be used. */
  unavailable?: string
}

/** A source of models. One test suite (test/suites/provider.ts) runs over every implementation. */
export interface Provider {
  /** The part of a model id before the slash; `gateway` stands for every name that no other provider has. */
  name: string
  kind: 'offline' | 'direct' | 'gateway'
  /** True if everything that calls need, such as a key or an address, is configured. */
  configured(): boolean
  /** Returns a sentence with the reason why calls cannot work and what to do about it; undefined when there is none. */
  problem?(): string | undefined
  /** Phrases for error messages: what to do about a refused key, and which setting holds the address. */
  advice?: { readonly key: string, readonly address: string }
  /** The model named by the part after the slash (the whole id for the gateway), ready for doStream and doGenerate. */
  languageModel(id: string): Promise<LanguageModelV4>
  /** Lists the models on offer; rejects when the list cannot be read. */
  listModels(signal: AbortSignal): Promise<ModelInfo[]>
  /** `<provider>/<model>` */
  readonly defaultModel: string
  /** The model for small questions, `<provider>/<model>`; undefined when none is known. */
  readonly smallModel?: string
  /** Returns the API whose rules for files apply to the model; `compatible` by default. */
  fileApi?(model: string): FileApi
  /** Where the provider's server is. Texts for a server of the user's own never go to another provider by default. */
  readonly reach: Reach
  /** Returns the context window, in tokens, that a server uses for a loaded model; undefined if the server does not report it. */
  windowInUse?(model: string, signal: AbortSignal): Promise<number | undefined>
  /**
   * Returns a name of the local server that answers the provider's calls; undefined if the server is elsewhere, or not known to be local. A
   * local server answers one call after the other, so small questions wait behind the user's requests.
   */
  localServer?(): Promise<string | undefined>
  /** Returns what is known of a model's needs: its requirements for the form of a request (see `Need`). */
  needsOf?(model: string): LearnedNeeds
  /** The context window in tokens of a model about which nothing else is known. */
  readonly contextWindow?: number
  /**
   * True for the API of a maker of models. Calls to such an API need a key. Data that the API attaches to answers is valid only there, not
   * for the same model elsewhere.
   */
  readonly native?: boolean
  /** Returns the configured limits on how long the provider's models may be silent. */
  timeouts?(): Partial<Pick<Timeouts, 'firstTokenMs' | 'idleMs'>>
  /** The names of all models, when the provider has a fixed set; other names are refused. */
  models?: readonly string[]
  /** Every key that the provider has used; the keys are redacted from all messages. */
  secrets?(): string[]
  /** Loads the modules that the first call would otherwise wait for. */
  warm?(): Promise<void>
  /** Opens a connection for a call that is about to be made. */
  connect?(): Promise<void>
  /** Closes the connections that no call uses. */
  close?(): Promise<void>
}
