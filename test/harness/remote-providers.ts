import { systemClock } from '../../services/lib/clock.ts'
import { createDirectProvider, type DirectSettings } from '../../services/models/providers/direct.ts'
import { createGatewayProvider } from '../../services/models/providers/gateway.ts'
import { failureOf, isFailure } from '../../services/models/providers/check-part.ts'
import type { Provider } from '../../services/models/providers/provider.ts'
import { createRegistry } from '../../services/models/providers/registry.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import type { ModelRequest, Plan } from '../fakes/gateway-plan.ts'
import { startModelServer } from '../fakes/model-server.ts'
import { chatWire } from '../fakes/openai-wire.ts'
import { NATIVE_WIRES } from './native-wires.ts'

interface Test {
  teardown(handler: () => unknown): unknown
}
interface Behaviour {
  reply?(request: ModelRequest): Plan | undefined | Promise<Plan | undefined>
  listing?(): Plan | undefined
  /** The accepted key. Other keys are refused. */
  apiKey?: string
}

/** The key with which every provider under test is configured. */
export const KEY = 'secret-key-1'

/** A kind of provider whose model is reached over HTTP. */
export interface RemoteKind {
  kind: string
  model: string
  /** The API's error message for a conversation that is too long. */
  tooLong: string
  /** Starts the fake of the API and opens a provider for it; `at` is another address to use. */
  start(t: Test, behaviour: Behaviour, at?: string): Promise<{ provider: Provider, calls(): ModelRequest[] }>
}

const direct = (kind: NonNullable<DirectSettings['kind']>, tooLong: string, wire = chatWire, model = 'llama3'): RemoteKind => ({
  kind,
  model: `mine/${model}`,
  tooLong,
  async start (t, behaviour, at) {
    const server = await startModelServer(wire, behaviour)
    t.teardown(() => server.close())
    const entry: DirectSettings = { kind, baseURL: at ?? server.url, apiKey: KEY }
    return { provider: createDirectProvider({ name: 'mine', settings: () => entry, variables: {} }), calls: () => server.calls }
  }
})
const native = (kind: typeof NATIVE_WIRES[number]['kind'], tooLong: string) => {
  const { wire, model } = NATIVE_WIRES.find((each) => each.kind === kind)!
  return direct(kind, tooLong, wire, model)
}

export const REMOTE_KINDS: RemoteKind[] = [
  {
    kind: 'gateway',
    model: 'anthropic/claude-sonnet-5.5',
    tooLong: 'prompt is too long: 210000 tokens > 200000 maximum',
    async start (t, behaviour, at) {
      const gateway = await startFakeGateway(behaviour)
      t.teardown(() => gateway.close())
      const settings = () => ({ baseURL: at ?? gateway.url, apiKey: KEY })
      return { provider: createGatewayProvider({ settings }), calls: () => gateway.requests }
    }
  },
  direct('openai-compatible', "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."),
  native('openai', 'Your input exceeds the context window of this model. Please adjust your input and try again.'),
  native('anthropic', 'prompt is too long: 210000 tokens > 200000 maximum'),
  native('google', 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048575).')
]

/** Opens a provider of this kind, with a registry that contains only this provider. */
export async function openRemote (t: Test, { start, model: id }: RemoteKind, behaviour: Behaviour = {}, at?: string) {
  const { provider, calls } = await start(t, behaviour, at)
  const registry = createRegistry({ providers: () => [provider], settings: () => ({}), clock: systemClock })
  return { provider, registry, id, calls }
}

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }]

/** Returns the error message that a user is told for a failing call. The call may fail before its stream or within it. */
export async function failureTold (
  { registry, id }: Pick<Awaited<ReturnType<typeof openRemote>>, 'registry' | 'id'>,
  abortSignal?: AbortSignal
) {
  try {
    const { model } = await registry.model(id)
    const { stream } = await model.doStream({ prompt, abortSignal })
    let isFinished = false
    for await (const part of stream) {
      if (isFailure(part)) throw failureOf(part)
      isFinished ||= part.type === 'finish'
    }
    if (!isFinished) throw new Error("The model's answer broke off before it was finished.")
  } catch (error) {
    return registry.describeFailure(error, id)
  }
  throw new Error('The call did not fail')
}
