import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../lib/json.ts'
import { defineError, type ServiceError } from '../lib/service-error.ts'
import { createRedactor } from '../lib/secrets.ts'

/** Matches names of keys whose values are secrets, including everything nested in them. */
const SECRET = /key|token|secret|passw|passphrase|credential|auth|cookie|header|bearer|signature/i
/** Matches a command-line option, whose value can be the next argument. */
const OPTION = /^--?[\w-]+$/
/** Matches a name before a value, as in `--api-key=x`, `TOKEN=x` or `Authorization: x`. */
const NAMED_VALUE = /^(-{0,2}[\w-]+)(=|:\s)/
/** Matches the user information in a URL. */
const USER_INFO = /^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i
/** Matches query parameters. Names exclude "?", because otherwise a text of many question marks would take quadratic time. */
const PARAMETER = /([?&])([^=&#?]*)=[^&#]*/g
const SIGNATURE = /sig/i
/** The text that is shown instead of a secret. */
const MASK = '••••'

/**
 * Returns a copy of a configuration for display. Masks likely secrets, all values in `env`, and the secrets in `known` wherever they occur.
 */
export function mask (value: unknown, known: string[] = []): unknown {
  return maskNamed(value, false, createRedactor(known, MASK).redact)
}

function maskNamed (value: unknown, isSecret: boolean, redact: (text: string) => string): unknown {
  const maskChild = (each: unknown, hidden: boolean) => maskNamed(each, isSecret || hidden, redact)
  if (Array.isArray(value)) return value.map((each, at) => maskChild(each, followsSecretOption(value[at - 1], each)))
  if (typeof value === 'object' && value !== null) {
    const masked = Object.entries(value).map(([name, each]) => [redact(name), maskChild(each, name === 'env' || SECRET.test(name))])
    return Object.fromEntries(masked)
  }
  if (typeof value !== 'string') return value
  return isSecret ? MASK : redact(withoutCredentials(value))
}

function followsSecretOption (previous: unknown, value: unknown) {
  return typeof previous === 'string' && typeof value === 'string' && OPTION.test(previous) && SECRET.test(previous) &&
    !value.startsWith('-')
}

function withoutCredentials (text: string) {
  const [head, name, separator] = NAMED_VALUE.exec(text) ?? []
  if (name !== undefined && SECRET.test(name)) return separator === '=' ? `${head}${MASK}` : `${name}: ${MASK}`
  return text.replace(USER_INFO, `$1${MASK}@`)
    .replace(PARAMETER, (match, separator, name) => SECRET.test(name) || SIGNATURE.test(name) ? `${separator}${name}=${MASK}` : match)
}

const NeedsToken = defineError(
  'ERR_FORBIDDEN',
  'A request may change %s in config.json only where the service has a token, because without one every program of this machine can ' +
    'send it. Start the service with LOCAL_AGENT_TOKEN, or change the file and send POST /config/reload.'
)
const Masked = defineError(
  'ERR_INVALID_REQUEST',
  '%s holds "•••" in the place of a secret, as GET /config shows it. Send the secret itself, or leave the key out, which keeps it.'
)

/** Names of keys, nested as in config.json. `*` stands for any name. `true` includes all nested keys. */
interface Keys { [name: string]: Keys | true }

/**
 * The keys that every caller is allowed to change. All other keys need a token, including keys that are added later and not
 * listed here: they decide what the agent is allowed to do, whom the service trusts, and which addresses and paths it uses.
 */
const OPEN: Keys = {
  model: true,
  models: true,
  contextWindows: true,
  prices: true,
  budget: true,
  providers: { '*': { models: true, timeouts: true } },
  gateway: { timeouts: true },
  search: { provider: true },
  limits: true,
  tasks: true,
  brain: true,
  threads: true,
  agent: true,
  analysis: true,
  offline: true,
  log: { level: true, maxBytes: true, keep: true }
}

type Path = readonly string[]
const inWords = (path: Path) => JSON.stringify(path.join('.'))
const pointer = (path: Path) => '/' + path.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')

/** Returns the paths of values that a patch sets but that `keys` does not include. */
function beyond (patch: unknown, keys: Keys | true | undefined, path: Path = []): Path[] {
  if (keys === true) return []
  if (keys === undefined || !isObject(patch)) return [path]
  return Object.entries(patch).flatMap(([name, value]) => {
    const below = Object.hasOwn(keys, name) ? keys[name] : keys['*']
    return beyond(value, below, [...path, name])
  })
}

const valueAt = (config: unknown, path: Path): unknown =>
  path.reduce((value, name) => isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined, config)

/** Returns the top-level keys of those differences between two configurations that only callers with a token are allowed to make. */
export function guardedDifferences (one: object, other: object): string[] {
  const paths = [...beyond(one, OPEN), ...beyond(other, OPEN)]
  const different = paths.filter((path) => !isDeepStrictEqual(valueAt(one, path), valueAt(other, path)))
  return [...new Set(different.map(([name]) => name))]
}

/** Throws NeedsToken (403) if the patch changes a key that only callers with a token are allowed to change. */
export function requireOpen (patch: object): void {
  const paths = beyond(patch, OPEN)
  if (paths.length > 0) throw withDetails(new NeedsToken(paths.map(inWords).join(', ')), paths, 'needs a service with a token')
}

/**
 * Throws Masked (400) if the patch contains MASK, which `GET /config` shows instead of a secret, because it would overwrite that secret.
 */
export function refuseMasks (patch: object): void {
  const masked = pathsOf(patch, (text) => text.includes(MASK))
  if (masked.length > 0) throw withDetails(new Masked(inWords(masked[0])), masked, 'is masked')
}

function pathsOf (value: unknown, holds: (text: string) => boolean, path: Path = []): Path[] {
  if (typeof value === 'string') return holds(value) ? [path] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [
    ...holds(name) ? [[...path, name]] : [],
    ...pathsOf(each, holds, [...path, name])
  ])
}

function withDetails (error: ServiceError, paths: readonly Path[], message: string): ServiceError {
  error.details = paths.map((path) => ({ path: pointer(path), message }))
  return error
}

/** Applies a JSON merge patch (RFC 7396). Keys that the patch does not name keep their values and their order. */
export function merge (target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, merge(merged.get(name), value))
  }
  return Object.fromEntries(merged)
}
