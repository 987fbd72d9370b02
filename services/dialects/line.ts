/** One event of a stream. */
export const line = (data: object) => `data: ${JSON.stringify(data)}\n\n`
