import type { LanguageModelV4 } from '@ai-sdk/provider'

/** What models are used for: analysis and evaluation, execution, screenshots. */
export type Role = 'fast' | 'capable' | 'vision'

export interface ModelInfo {
  /** `<provider>/<model>` */
  id: string
  name: string
  provider: string
  /** Tokens. */
  contextWindow?: number
  /** US dollars a token, as the provider states them. */
  pricing?: { input?: string, output?: string }
}

/** Where models come from. One suite (test/suites/provider.ts) runs over every implementation. */
export interface Provider {
  /** The part of a model id before the slash; `gateway` stands for every name that no other provider has. */
  name: string
  kind: 'offline' | 'direct' | 'gateway'
  /** Whether calls can work at all: a key or address is there. */
  configured(): boolean
  /** What keeps calls from working at all, and what to do, where the provider knows; undefined when nothing does. */
  problem?(): string | undefined
  /** What is wrong with a key that is refused, with what to do; and what holds the address. */
  advice?: { readonly key: string, readonly address: string }
  /** The model named by the part after the slash (the whole id for the gateway), ready for doStream and doGenerate. */
  languageModel(id: string): Promise<LanguageModelV4>
  /** The models it offers; rejects when the provider cannot be asked. */
  listModels(signal: AbortSignal): Promise<ModelInfo[]>
  /** `<provider>/<model>` */
  readonly defaultModel: string
  /** The names of all its models, where they are known without asking; any other is refused. */
  models?: readonly string[]
  /** Keys it was ever given: they are struck out of every message. */
  secrets?(): string[]
  /** Loads what the first call would otherwise wait for. */
  warm?(): Promise<void>
}
