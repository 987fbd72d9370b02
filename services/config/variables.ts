/** Environment variables by name. */
export type Variables = Record<string, string | undefined>

/** Replaces `${VAR}` in a text of config.json by environment variables. Returns the names of unset variables in `missing`. */
export function expandVariables (text: string | undefined, variables: Variables): { value?: string, missing: string[] } {
  const missing: string[] = []
  const value = text?.replace(/\$\{(\w+)\}/g, (_whole, name) => {
    if (!variables[name]) missing.push(name)
    return variables[name] ?? ''
  }).trim() || undefined
  return { value, missing }
}
