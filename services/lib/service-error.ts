import { format } from 'node:util'
import type { ErrorCode } from '../../schemas/error-codes.ts'
import type { ErrorBody } from '../../schemas/errors.ts'

/** An error that this service defines: a stable code, and a message that can be shown because it holds no private data. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  /** The fields of the request that are wrong. */
  details?: ErrorBody['details']
  /** Additional fields of the response, if the route's schema allows them. */
  fields?: Pick<ErrorBody, 'changes' | 'stderr'>
  /** How long the client should wait before the next request, milliseconds. */
  retryAfterMs?: number

  constructor (code: ErrorCode, message: string) {
    super(message)
    this.name = 'ServiceError'
    this.code = code
  }
}

/** The types of the values for the placeholders of a sentence. */
type ValuesOf<Sentence extends string> = string extends Sentence
  ? Array<string | number>
  : Sentence extends `${string}%${infer Kind}${infer Rest}` ? [value: Kind extends 'd' ? number : string, ...ValuesOf<Rest>] : []

/** Creates the class of one failure: `%s` and `%d` in the sentence stand for the values that the constructor takes. */
export function defineError<Sentence extends string> (code: ErrorCode, sentence: Sentence) {
  return class extends ServiceError {
    constructor (...values: ValuesOf<Sentence>) {
      super(code, format(sentence, ...values))
    }
  }
}
