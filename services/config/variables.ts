/** The values of the environment, by name. */
export type Variables = Record<string, string | undefined>

/** A text of config.json with its `${VAR}` taken from the environment, and the names of those that are not set. */
export function fillIn (text: string | undefined, variables: Variables): { value?: string, missing: string[] } {
  const missing: string[] = []
  const value = text?.replace(/\$\{(\w+)\}/g, (_whole, name) => {
    if (!variables[name]) missing.push(name)
    return variables[name] ?? ''
  }).trim() || undefined
  return { value, missing }
}
