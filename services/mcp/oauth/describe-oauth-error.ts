const LONGEST = 300

/** Describes why an authorization failed, as a clause: the SDK's errors hold whole documents, and words of the authorization server. */
export function describeOAuthError (error: unknown): string {
  const { name, message } = error as Error
  if (name === 'ZodError') return 'its authorization server answered something that OAuth does not know'
  if (error instanceof SyntaxError) return 'its authorization server answered something that is not JSON'
  return message.replace(/: Invalid OAuth error response:.*/s, '').replace(/\p{Cc}+/gu, ' ').slice(0, LONGEST).replace(/\.?\s*$/, '')
}
