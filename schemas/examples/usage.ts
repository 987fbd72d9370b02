export const usage = {
  inputTokens: 18_240,
  cachedInputTokens: 15_872,
  cacheWriteTokens: 1_024,
  outputTokens: 512,
  reasoningTokens: 128,
  costUsd: 0.0184
}

export const usageReport = {
  from: '2026-01-01',
  to: '2026-01-31',
  groups: [{ key: 'anthropic/claude-sonnet-5.5', calls: 42, ...usage, unpricedCalls: 0 }]
}
