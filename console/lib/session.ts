const KEY = 'local-agent-token'

/** The token of the service, as the user entered it in this tab; undefined when none was entered. */
export function readToken (): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined
}

/** Keeps the token until the tab is closed. */
export const saveToken = (token: string) => sessionStorage.setItem(KEY, token)
export const clearToken = () => sessionStorage.removeItem(KEY)
