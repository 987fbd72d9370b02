import type { Setup } from './trial.ts'

/** The environment variables with the keys of model providers, by provider name. */
const MAKERS = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY', google: 'GOOGLE_GENERATIVE_AI_API_KEY' }
/** Environment variables that the service must not inherit: those of other services, and modules that test runners make Node load. */
const FOREIGN = /^(?:LOCAL_AGENT_|NODE_OPTIONS$|NODE_TEST_CONTEXT$|NODE_V8_COVERAGE$|TAP)/

type Environment = Record<string, string | undefined>

/** Returns the settings that give the service a model, or a sentence with the missing settings. */
export function setupFor (
  model: string,
  { env, config = {} }: { env: Environment, config?: Record<string, unknown> }
): Pick<Setup, 'model' | 'config' | 'env' | 'keys'> | { missing: string } {
  const [provider, name = ''] = model.split(/\/(.*)/s)
  if (provider === '' || name === '') {
    return { missing: `"${model}" names no model: it has the form <provider>/<model>, as anthropic/claude-sonnet-5.5.` }
  }
  const keys = Object.fromEntries(Object.entries(MAKERS).flatMap(([maker, variable]) => {
    const key = env[variable]
    return key ? [[maker, key]] : []
  }))
  const providers = config.providers as Record<string, unknown> | undefined ?? {}
  if (provider !== 'offline' && !Object.hasOwn(providers, provider) && !Object.hasOwn(keys, provider) && !env.AI_GATEWAY_API_KEY) {
    const own = Object.entries(MAKERS).find(([maker]) => maker === provider)?.[1]
    return {
      missing: `${model} is not configured. Set AI_GATEWAY_API_KEY, the key of the model gateway` +
        (own === undefined
          ? `, or name a file with --config whose "providers" has "${provider}", as in docs/configuration.md.`
          : `, or ${own}, the key of its maker.`)
    }
  }
  const own = Object.entries(env).filter(([variable, value]) => value !== undefined && !FOREIGN.test(variable))
  return { model, config, env: Object.fromEntries(own), ...Object.keys(keys).length > 0 && { keys } }
}
