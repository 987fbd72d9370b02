import type { Test } from 'tap'
import type { App } from '../../../app.ts'
import * as sdk from '../../../client/index.ts'
import { listen } from '../../harness/raw.ts'
import { record } from '../../harness/record-examples.ts'

/** What was called, as `METHOD path`. */
export const called = new Set<string>()

/** The generated client of a service, over a socket. */
export async function clientOf (app: App) {
  const client = sdk.createClient({ baseUrl: `http://127.0.0.1:${await listen(app)}` })
  client.interceptors.request.use((request) => {
    called.add(`${request.method} ${new URL(request.url).pathname}`)
    return request
  })
  // The route that answers without a serializer.
  client.interceptors.response.use(async (response) => {
    if (response.url.endsWith('/health')) record({ method: 'GET', url: '/health', status: '200', body: await response.clone().json() })
    return response
  })
  return { client, throwOnError: true as const }
}

/**
 * What an answer must be: every field that is documented for it, as a value, a pattern or a type, and `undefined` for
 * one that is optional and not there. So a field that a schema has lost, or gained, fails here or does not compile.
 */
type Wanted<T> = unknown extends T ? unknown :
  T extends string ? T | RegExp :
    T extends number ? T | NumberConstructor :
      T extends boolean ? T :
        T extends Array<infer E> ? Array<Wanted<E>> | ArrayConstructor :
          T extends object ? (string extends keyof T ? object : Fields<T>) :
            T
type Fields<T> = { [K in keyof Required<T>]: Wanted<Required<T>[K]> | (undefined extends T[K] ? undefined : never) }

export const is = <T>(t: Test, answer: T, wanted: Wanted<T>, what: string) => t.match(answer, wanted, what)
export const said = (content: string) => ({ messages: [{ role: 'user', content }] })

/** The options of a run or task that sets none. */
export const NO_OPTIONS = {
  agent: undefined,
  model: undefined,
  instructions: undefined,
  allowTools: undefined,
  denyTools: undefined,
  effort: undefined,
  maxOutputTokens: undefined,
  maxSteps: undefined,
  budget: undefined,
  object: undefined,
  appTools: undefined,
  app: undefined,
  sandbox: undefined,
  workspace: undefined,
  interactive: undefined
}

export const USAGE = {
  inputTokens: Number,
  cachedInputTokens: Number,
  cacheWriteTokens: Number,
  outputTokens: Number,
  reasoningTokens: Number,
  costUsd: Number,
  costEstimateOf: undefined
}
export const ID = /^[0-9a-f-]{36}$/
