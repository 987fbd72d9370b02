/** Maximum bytes of JSON of one page of a list besides its first entry; a response is built in memory as a whole. */
export const PAGE_BYTES = 32 * 1024 * 1024

export const jsonBytes = (value: unknown): number => JSON.stringify(value)?.length ?? 0
