/** What one page of a list may hold beside its first entry, bytes of JSON: an answer is made in memory, at once. */
export const PAGE_BYTES = 32 * 1024 * 1024

export const jsonBytes = (value: unknown): number => JSON.stringify(value)?.length ?? 0
