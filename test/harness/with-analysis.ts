import { access } from 'node:fs/promises'
import type { Test } from 'tap'
import type { Settings } from '../../settings.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { patientClock } from './clock.ts'
import { withGateway } from './with-gateway.ts'

export const analysis = (complexity: string, fields: object = {}) =>
  ({ complexity, timeWords: '', thinking: 'It looks plain.', ...fields })

type Reply = Parameters<typeof withGateway>[1]

/** The service with an analysis that answers when the test lets it: `analysed`. Other structured calls are answered at once. */
export async function withAnalysis (t: Test, reply: Reply, { config, ...settings }: Partial<Settings> & { config?: object } = {}) {
  const answer = Promise.withResolvers<Plan>()
  const { app, gateway } = await withGateway(t, reply, {
    config: { analysis: true, ...config },
    structured: (name) => name === 'analysis' ? answer.promise : {},
    // An analysis is waited for two seconds.
    clock: patientClock(),
    ...settings
  })
  const steps = () => gateway.requests.filter(({ structured }) => structured === undefined)
  /** Resolves once the first call of the answering model has arrived, and the analysis too. */
  async function begun (): Promise<GatewayRequest> {
    while (steps().length === 0 || gateway.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
    return steps()[0]
  }

  return {
    app,
    gateway,
    /** The calls of the answering model. */
    steps,
    begun,
    /** Resolves once the service has surely read what that call was answered, and done with it what it does. */
    async answered () {
      await (await begun()).ended
      await turns()
    },
    analysed: (complexity: string, fields?: object) => answer.resolve({ object: analysis(complexity, fields) }),
    failed: () => answer.resolve({ error: { status: 400, message: 'no' } })
  }
}

/** Lets the service work off what has arrived. */
export async function turns (count = 100) {
  // Files are read by other threads, which a turn of the event loop alone does not wait for.
  for (let n = 0; n < count; n++) await access('/').then(() => new Promise(setImmediate))
}
