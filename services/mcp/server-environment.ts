import type { McpEntry } from '../../schemas/config.ts'

type Values = Record<string, string>

/** What stands in config.json for a value in the encrypted store, and the other way around. */
const REFERENCE = /^secret:(mcp\/[A-Za-z0-9._-]{1,64}\/[^/]+)$/
const key = (server: string, variable: string) => `mcp/${server}/${variable}`

/** Variables whose name or value gives away that they are secret, not settings or places. */
const SECRET_NAME = /key|token|secret|passw|passphrase|credential|auth|cookie|session|webhook|dsn$|pat$/i
const SECRET_VALUE = [/:\/\/[^/\s]*:[^/\s]*@/, /^(?![./~])(?=.*\d)(?=.*[a-z])(?!https?:\/\/)[\w.~+/=:-]{16,}$/i]

/** The stored form of an environment: references for config.json, and what they stand for. */
export function toReferences (server: string, env: Values): { references: Values, values: Values } {
  const names = Object.keys(env)
  return {
    references: Object.fromEntries(names.map((name) => [name, `secret:${key(server, name)}`])),
    values: Object.fromEntries(names.map((name) => [key(server, name), env[name]]))
  }
}

/** The stored values of a server, and all but those. */
export const ofServer = (stored: Values, server: string): Values => pick(stored, (name) => name.startsWith(key(server, '')))
export const withoutServer = (stored: Values, server: string): Values => pick(stored, (name) => !name.startsWith(key(server, '')))

const pick = (stored: Values, wanted: (name: string) => boolean): Values =>
  Object.fromEntries(Object.entries(stored).filter(([name]) => wanted(name)))

/**
 * The variables of an entry: references are looked up in the store, `${VAR}` in the service's own environment. Throws
 * an error that is a clause about what is missing.
 */
export function resolveEnvironment ({ env = {} }: McpEntry, stored: Values, variables: Record<string, string | undefined>): Values {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      const reference = REFERENCE.exec(value)?.[1]
      if (reference !== undefined) {
        if (!Object.hasOwn(stored, reference)) {
          throw new Error(`nothing is stored for its variable ${name}; connect it again with POST /mcp/connect`)
        }
        return [name, stored[reference]]
      }
      return [
        name,
        value.replace(/\$\{(\w+)\}/g, (_whole, variable) => {
          const found = variables[variable]
          if (found === undefined) {
            throw new Error(
              `its variable ${name} is to come from the environment variable ${variable}, which is not set; set it and restart`
            )
          }
          return found
        })
      ]
    })
  )
}

/** Those values that no other child may see and no result may show. */
export function secretsIn (values: Values): string[] {
  return Object.entries(values).flatMap(([name, value]) =>
    SECRET_NAME.test(name) || SECRET_VALUE.some((pattern) => pattern.test(value)) ? [value] : []
  )
}
