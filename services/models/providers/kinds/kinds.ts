import { createAnthropicKind } from './anthropic-kind.ts'
import { createCompatibleKind } from './compatible-kind.ts'
import { createGoogleKind } from './google-kind.ts'
import { createOpenAIKind } from './openai-kind.ts'
import type { ProviderKind } from './provider-kind.ts'

/** The kinds of direct providers, by their name in config.json. */
export const KINDS = {
  'openai-compatible': createCompatibleKind,
  openai: createOpenAIKind,
  anthropic: createAnthropicKind,
  google: createGoogleKind
} satisfies Record<string, () => ProviderKind>

export type KindName = keyof typeof KINDS

/** Providers that a key alone makes direct, without an entry in config.json. Each is of the kind with its name. */
export const NATIVE_PROVIDERS = ['anthropic', 'openai', 'google'] as const satisfies KindName[]

export const isNative = (name: string): name is typeof NATIVE_PROVIDERS[number] => NATIVE_PROVIDERS.some((native) => native === name)
