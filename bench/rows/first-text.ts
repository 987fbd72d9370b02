import { byTurns, ratioRow } from '../compare.ts'
import { median } from '../stats.ts'
import { REQUEST, withBoth, type Context } from './context.ts'

const TOKENS = 20
const WARM_UP = 200
/** The number of sequential requests per repetition and subject. */
const REQUESTS = 20

const ASK = {
  path: '/v4/ai/language-model',
  body: JSON.stringify({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'Tell me something about the sea.' }] }] })
}
const modelHeaders = (streaming: boolean) =>
  `authorization: Bearer bench\r\nai-language-model-id: test/model\r\nai-language-model-streaming: ${streaming}\r\n`
const ANALYSIS = JSON.stringify({ prompt: [], responseFormat: { type: 'json', name: 'analysis' } })

/** Measures the time from a request to its first text, without the model server's share. */
async function firstText ({ client, times }: Context, { analysis, bar }: { analysis: boolean, bar: number }) {
  return withBoth({ models: { tokens: TOKENS }, config: { analysis } }, async (subjects, models) => {
    const first = async (port: number) => (await client.streams({ port, ...REQUEST, count: 1 })).first[0]
    const model = async () => (await client.streams({ port: models.port, ...ASK, headers: modelHeaders(true), count: 1 })).first[0]
    const analyst = async () =>
      (await client.streams({ port: models.port, path: ASK.path, body: ANALYSIS, headers: modelHeaders(false), count: 1 })).ms
    const several = async (measure: () => Promise<number>, count: number) => {
      const all: number[] = []
      for (let nth = 0; nth < count; nth++) all.push(await measure())
      return median(all)
    }
    for (const measure of [() => first(subjects.floor.port), () => first(subjects.service.port), model, analyst]) {
      await several(measure, WARM_UP)
    }

    const figures = await byTurns(times(15), async (name) => {
      const own = await several(model, REQUESTS) + (analysis && name === 'service' ? await several(analyst, REQUESTS) : 0)
      return await several(() => first(subjects[name].port), REQUESTS) - own
    })
    return [ratioRow({ what: `request to first text, ${analysis ? 'with' : 'no'} analysis`, unit: 'ms', bar }, figures)]
  })
}

export const firstTextPlain = (context: Context) => firstText(context, { analysis: false, bar: 1 })
export const firstTextAnalysed = (context: Context) => firstText(context, { analysis: true, bar: 2 })
