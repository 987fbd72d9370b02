import type { DirectSettings } from '../../services/models/providers/direct.ts'
import { anthropicWire } from '../fakes/anthropic-wire.ts'
import { googleWire } from '../fakes/google-wire.ts'
import type { ServerRequest, Wire } from '../fakes/model-server.ts'
import { responsesWire } from '../fakes/responses-wire.ts'

export interface NativeWire {
  kind: NonNullable<DirectSettings['kind']>
  wire: Wire
  /** The provider's name for its model. */
  model: string
  /** Returns the last user text in a request. */
  said(request: ServerRequest): string
}

/** The native APIs of model providers: the fake of each wire format, and the differences between them. */
export const NATIVE_WIRES: NativeWire[] = [
  { kind: 'openai', wire: responsesWire, model: 'gpt-6-sol', said: ({ body }) => body.input.at(-1).content[0].text },
  { kind: 'anthropic', wire: anthropicWire, model: 'claude-sonnet-5-5', said: ({ body }) => body.messages.at(-1).content[0].text },
  { kind: 'google', wire: googleWire, model: 'gemini-3.8-flash', said: ({ body }) => body.contents.at(-1).parts[0].text }
]
