/** What the service itself says in an answer: lines that the model did not write. */
const OPENING = '[Note: '

/** Returns a line that the service adds to an answer. */
export const note = (text: string): string => `${OPENING}${text.replaceAll(']', ')')}]`

const NOTES = /\n*\[Note: [^\]\n]*\](?=\n|$)/g

/** Returns the text of an answer as its model wrote it, so that the stored conversation is found by it. */
export const withoutNotes = (text: string): string => text.includes(OPENING) ? text.replace(NOTES, '').trimStart() : text
