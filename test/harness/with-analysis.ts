import { access } from 'node:fs/promises'
import type { Test } from 'tap'
import type { Settings } from '../../settings.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { patientClock } from './clock.ts'
import { withGateway } from './with-gateway.ts'

export const analysis = (complexity: string, fields: object = {}) =>
  ({ complexity, timeWords: '', thinking: 'It looks plain.', ...fields })

type Reply = Parameters<typeof withGateway>[1]

/** Starts the service with an analysis that answers only when the test calls `analysed`. Other structured calls are answered at once. */
export async function withAnalysis (t: Test, reply: Reply, { config, ...settings }: Partial<Settings> & { config?: object } = {}) {
  const answer = Promise.withResolvers<Plan>()
  const { app, gateway } = await withGateway(t, reply, {
    config: { analysis: true, ...config },
    structured: (name) => name === 'analysis' ? answer.promise : {},
    // The service waits two seconds for an analysis, which is too short on a slow machine.
    clock: patientClock(),
    ...settings
  })
  const steps = () => gateway.requests.filter(({ structured }) => structured === undefined)
  /** Resolves when both the first call of the answering model and the analysis have arrived. */
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
    /** Resolves when the service has certainly read and processed the answer to that call. */
    async answered () {
      await (await begun()).ended
      await turns()
    },
    analysed: (complexity: string, fields?: object) => answer.resolve({ object: analysis(complexity, fields) }),
    failed: () => answer.resolve({ error: { status: 400, message: 'no' } })
  }
}

/** Gives the service time to process everything that has arrived. */
export async function turns (count = 100) {
  // Other threads read files, so turns of the event loop alone are not enough.
  for (let n = 0; n < count; n++) await access('/').then(() => new Promise(setImmediate))
}
