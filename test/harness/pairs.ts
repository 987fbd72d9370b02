/**
 * Returns the errors in a prompt as it was sent: calls that are not directly followed by their result, results without a call, and a system
 * prompt that is not at the beginning.
 */
export function unpaired (prompt: any[]): string[] {
  const wrong: string[] = []
  for (const [at, { role, content }] of prompt.entries()) {
    if ((role === 'system') !== (at === 0)) wrong.push(`${role} at ${at}`)
    if (role === 'assistant') {
      const calls = content.flatMap((part: any) => part.type === 'tool-call' ? [part.toolCallId] : [])
      const results: string[] = []
      for (let next = at + 1; prompt[next]?.role === 'tool'; next++) {
        results.push(...prompt[next].content.map((part: any) => part.toolCallId))
      }
      if (String(calls.toSorted()) !== String(results.toSorted())) wrong.push(`calls ${calls} at ${at} have results ${results}`)
    }
    if (role === 'tool' && !['assistant', 'tool'].includes(prompt[at - 1]?.role)) {
      wrong.push(`a result after ${prompt[at - 1]?.role} at ${at}`)
    }
  }
  return wrong
}
