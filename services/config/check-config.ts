import { Check } from '@sinclair/typebox/value'
import { Ajv, type ValidateFunction } from 'ajv'
import { ConfigKeys, type Config } from '../../schemas/config.ts'
import { describeInvalid, type FailedRule } from '../http/index.ts'

let validators: Map<string, ValidateFunction> | undefined

/** Splits a parsed `config.json` into its valid part and one problem for each invalid key. Ignores unknown keys. */
export function checkConfig (raw: Record<string, unknown>): { config: Config, problems: string[] } {
  const config: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [key, value] of Object.entries(raw)) {
    if (!Object.hasOwn(ConfigKeys, key)) continue
    // TypeBox checks validity fast. An Ajv validator is compiled only to explain a problem, because compiling delays the start.
    const validate = Check(ConfigKeys[key as keyof typeof ConfigKeys], value) ? undefined : validator(key)
    const unreachable = key === 'providers' && !validate ? withoutAddress(value as NonNullable<Config['providers']>) : undefined
    if (unreachable !== undefined) {
      problems.push(`"providers.${unreachable}" needs the field "baseURL", or a "kind" of openai, anthropic or google`)
    } else if (!validate || validate(value)) config[key] = value
    else {
      const { path, message } = describeInvalid(validate.errors as FailedRule[])
      problems.push(`"${key}${path === '/' ? '' : path.replaceAll('/', '.')}" ${message}`)
    }
  }
  return { config: config as Config, problems }
}

/** Returns the name of a provider that needs an address and has none. A union in the schema would not say which field is missing. */
const withoutAddress = (providers: NonNullable<Config['providers']>): string | undefined =>
  Object.entries(providers).find(([, { kind, baseURL }]) =>
    (kind === undefined || kind === 'openai-compatible') && baseURL === undefined
  )?.[0]

function validator (key: string): ValidateFunction {
  validators ??= new Map()
  let validate = validators.get(key)
  if (validate === undefined) {
    // The schemas are part of the service and valid; checking them against the meta-schema would take most of the start-up time.
    validate = new Ajv({ strict: false, verbose: true, meta: false, validateSchema: false }).compile(
      ConfigKeys[key as keyof typeof ConfigKeys]
    )
    validators.set(key, validate)
  }
  return validate
}
