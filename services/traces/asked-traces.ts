/** The traces that the environment variables ask for. */
export interface AskedTraces {
  protocol: 'http/json' | 'http/protobuf'
  /** True if the traces include texts of users, models and tools. */
  withContents: boolean
}

const isTrue = (value: string | undefined): boolean => value?.trim().toLowerCase() === 'true'

/**
 * Reads the environment variables of OpenTelemetry (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 * Returns undefined if they ask for no traces, and a sentence with the reason if the service cannot write the traces that they ask for.
 */
export function askedTraces (env: NodeJS.ProcessEnv): AskedTraces | string | undefined {
  const exporter = env.OTEL_TRACES_EXPORTER?.trim()
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT
  if (isTrue(env.OTEL_SDK_DISABLED) || exporter === 'none' || (!exporter && !endpoint)) return undefined
  if (exporter && exporter !== 'otlp') return `OTEL_TRACES_EXPORTER is ${JSON.stringify(exporter)}; traces are written by otlp alone.`
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf'
  if (protocol !== 'http/json' && protocol !== 'http/protobuf') {
    return `The OTLP protocol is ${JSON.stringify(protocol)}; traces are sent by http/protobuf and http/json.`
  }
  if (endpoint && !URL.canParse(endpoint)) return 'The endpoint for traces is not an address.'
  return { protocol, withContents: isTrue(env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT) }
}
