import type { McpEntry } from '../../schemas/config.ts'

export type Values = Record<string, string>

/** A reference in config.json to a value in the encrypted store, such as `secret:mcp/<server>/<variable>`. */
const REFERENCE = /^secret:(mcp\/[A-Za-z0-9._-]{1,64}\/[^/]+)$/
const storedKey = (server: string, variable: string) => `mcp/${server}/${variable}`
export const referenceTo = (server: string, variable: string): string => `secret:${storedKey(server, variable)}`
/** The key of the value to which a text refers; undefined when it is no reference. */
export const storedAt = (text: string): string | undefined => REFERENCE.exec(text)?.[1]

/** Patterns of variable names and values that mark a value as secret, as opposed to a setting or a path. */
const SECRET_NAME = /key|token|secret|passw|passphrase|credential|auth|cookie|session|webhook|dsn$|pat$/i
const SECRET_VALUE = [/:\/\/[^/\s]*:[^/\s]*@/, /^(?![./~])(?=.*\d)(?=.*[a-z])(?!https?:\/\/)[\w.~+/=:-]{16,}$/i]

/** Splits an environment into references, for config.json, and the values that they refer to, for the encrypted store. */
export function toReferences (server: string, env: Values): { references: Values, values: Values } {
  const names = Object.keys(env)
  return {
    references: Object.fromEntries(names.map((name) => [name, referenceTo(server, name)])),
    values: Object.fromEntries(names.map((name) => [storedKey(server, name), env[name]]))
  }
}

/** Returns the stored values of one server. */
export const valuesOfServer = (stored: Values, server: string): Values => pick(stored, (name) => name.startsWith(storedKey(server, '')))
/** Returns the stored values of all other servers. */
export const valuesWithoutServer = (stored: Values, server: string): Values =>
  pick(stored, (name) => !name.startsWith(storedKey(server, '')))

const pick = (stored: Values, isSelected: (name: string) => boolean): Values =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => isSelected(name)))

/**
 * Returns the environment, or the headers, of an entry: references are replaced by stored values, `${VAR}` by variables of the
 * service's own environment. Throws an Error for the first missing value; its message is a clause that completes "… is not connected: ".
 */
export function resolveValues (entry: McpEntry, stored: Values, variables: Record<string, string | undefined>): Values {
  const [kind, values] = entry.url === undefined ? ['variable', entry.env] : ['header', entry.headers]
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => {
      const reference = storedAt(value)
      if (reference !== undefined) {
        if (!Object.hasOwn(stored, reference)) {
          throw new Error(`nothing is stored for its ${kind} ${name}; connect it again with POST /mcp/connect`)
        }
        return [name, stored[reference]]
      }
      return [
        name,
        value.replace(/\$\{(\w+)\}/g, (_whole, variable) => {
          const found = variables[variable]
          if (found === undefined) {
            throw new Error(
              `its ${kind} ${name} is to come from the environment variable ${variable}, which is not set; set it and restart`
            )
          }
          return found
        })
      ]
    })
  )
}

/** As secretsIn, with what follows the scheme of an authorization. */
export const secretsInHeaders = (values: Values): string[] => secretsIn(values).flatMap((value) => [value, value.replace(/^\w+ +/, '')])

export const isSecret = (name: string, value: string): boolean =>
  SECRET_NAME.test(name) || SECRET_VALUE.some((pattern) => pattern.test(value))

/** Returns the values that are secret: they are removed from the environment of other children and redacted in results. */
export const secretsIn = (values: Values): string[] =>
  Object.entries(values).flatMap(([name, value]) => isSecret(name, value) ? [value] : [])
