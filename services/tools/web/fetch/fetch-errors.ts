import { defineError } from '../../../lib/service-error.ts'

/** An address that may not be fetched; the message is for the model and its user. */
export const AddressRefused = defineError('ERR_ADDRESS_REFUSED', '%s')

/** An address that gave no usable answer; the message is for the model. */
export const FetchFailed = defineError('ERR_FETCH_FAILED', '%s')

const REASONS: Record<string, string> = {
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'its name cannot be looked up at the moment',
  ENODATA: 'there is no host of that name',
  ECONNREFUSED: 'nothing answers there',
  ECONNRESET: 'the connection was cut off',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it does not answer',
  EPIPE: 'the connection was cut off',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was cut off'
}

/** Returns why a request failed, as a clause that completes a sentence. */
export function reasonOf (error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  // Node tried several addresses: the first error stands for all.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (REASONS[code]) return REASONS[code]
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code)) return `its certificate cannot be trusted (${code})`
  if (/^(?:ERR_SSL|EPROTO)/.test(code)) return 'it does not speak TLS as it should'
  if (code.startsWith('HPE_')) return 'it does not speak HTTP as it should'
  if (/^(?:Z_|ERR__ERROR_FORMAT|ERR_BROTLI|ERR_ZSTD|ZSTD_)|_error_/.test(code)) return 'its content is not compressed as it says'
  return code ? `${message} (${code})` : String(message)
}
