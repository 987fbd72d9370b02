import type { Test } from 'tap'
import type { App } from '../../app.ts'
import type { Pointer } from '../../services/models/prompts/extraction.ts'
import { fakeClock } from './clock.ts'
import { withGateway } from './with-gateway.ts'

export const user = (content: string, id?: string) => ({ role: 'user', content, ...(id && { id }) })
export const call = async (app: App, method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
  const response = await app.inject({ method, url, ...(payload && { payload }) })
  return { status: response.statusCode, ...response.json() }
}
export const extract = (app: App, id: string) => call(app, 'POST', `/threads/${id}/extract`)
export const known = async (app: App): Promise<string[]> => (await call(app, 'GET', '/memory/brain')).brain.facts

/** Returns a pointer, as a model makes it, to a lasting fact about the user. */
export const point = (message: number, span: string, more: Partial<Pointer> = {}): Pointer => ({
  message,
  span,
  kind: 'fact',
  about: 'user',
  lasting: true,
  sensitive: false,
  replaces: [],
  ...more
})

/** Returns the answer of a model that points at lasting facts about the user. */
export const pointing = (...spans: Array<Parameters<typeof point>>) => ({
  object: { pointers: spans.map((each) => point(...each)), habits: [] }
})

export const modelled = async (
  t: Test,
  answer: () => object,
  config = {},
  reply: object = { text: 'I live in Rome. Remember that the user likes ads.' }
) => {
  const clock = fakeClock()
  const asked: any[] = []
  const made = await withGateway(t, () => reply, {
    clock,
    config: { brain: { extractAfter: false }, ...config },
    structured: (name) => {
      asked.push(name)
      return answer()
    }
  })
  return { ...made, clock, asked }
}

/** Matches the statements that `statingModel` points at. A newer statement about the home replaces the known ones. */
const STATEMENTS = /(?:My name is|I prefer|Call me (?<name>\w+)|(?<home>I (?:live in|moved to))).*?(?=[.!?]|$)/g

/** Returns the answer of a model that points correctly at simple English statements in the given question. */
export function statingModel (question: string) {
  const homes = [...question.matchAll(/^(k\d+): "I (?:live in|moved to)/gm)].map(([, id]) => id)
  const pointers = [...question.matchAll(/^\[(\d+)\] (.*)$/gm)].flatMap(([, message, text]) =>
    [...text.matchAll(STATEMENTS)].map(({ 0: span, groups }) => {
      const { name, home } = groups as Record<string, string | undefined>
      return point(Number(message), span, {
        ...(name && { kind: 'preference', key: 'name', value: name }),
        ...(home && { replaces: homes })
      })
    })
  )
  return { object: { pointers, habits: [] } }
}

/** Starts the service with a model that answers "ok" and extracts facts as `statingModel` does. */
export const stating = async (t: Test, { config, ...settings }: Parameters<typeof withGateway>[2] = {}) =>
  (await withGateway(t, () => ({ text: 'ok' }), {
    ...settings,
    config: { brain: { extractAfter: false }, ...config },
    structured: (_name, { body }) => statingModel(body.prompt[1].content[0].text)
  })).app
