/** Environment variables by name. */
export type Variables = Record<string, string | undefined>

/** Replaces `${VAR}` in a text from config.json by environment variables. `missing`: the names of unset or empty variables. */
export function expandVariables (text: string | undefined, variables: Variables): { value?: string, missing: string[] } {
  const missing: string[] = []
  const value = text?.replace(/\$\{(\w+)\}/g, (_whole, name) => {
    if (!variables[name]) missing.push(name)
    return variables[name] ?? ''
  }).trim() || undefined
  return { value, missing }
}
