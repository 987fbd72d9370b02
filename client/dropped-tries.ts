/**
 * Returns the parts of a chat message without the attempts of steps that failed and were repeated. Such an attempt reaches from the last
 * `step-start` before a part `data-retry` to that part. A chat cannot take back received parts, so it filters them for display.
 */
export function withoutDroppedTries<P extends { type: string }> (parts: readonly P[]): P[] {
  const kept: P[] = []
  for (const part of parts) {
    if (part.type !== 'data-retry') kept.push(part)
    else kept.length = Math.max(kept.findLastIndex(({ type }) => type === 'step-start'), 0)
  }
  return kept
}
