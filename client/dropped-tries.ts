/**
 * Returns the parts of a chat's message without the tries of steps that broke off and were made again: what stands from the last
 * `step-start` before a part `data-retry` up to that. Chats cannot take back what they have received, so they filter what they show.
 */
export function withoutDroppedTries<P extends { type: string }> (parts: readonly P[]): P[] {
  const kept: P[] = []
  for (const part of parts) {
    if (part.type !== 'data-retry') kept.push(part)
    else kept.length = Math.max(kept.findLastIndex(({ type }) => type === 'step-start'), 0)
  }
  return kept
}
