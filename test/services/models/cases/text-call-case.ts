/**
 * An answer in which a model wrote calls as text. A run offers `offered` tools and reads the answer as it streams, in pieces of any
 * size; what comes of it must be the same however it is cut into pieces.
 */
export interface TextCallCase {
  name: string
  /** The dialect, such as `hermes`. */
  dialect: string
  /** The page or file that documents the dialect, or `own` for what no page says. */
  source: string
  /** What surrounds the call. `quoted`: the text shows a call, and nothing may run. */
  form: 'alone' | 'prose' | 'tokens' | 'cut' | 'twice' | 'quoted' | 'two' | 'thoughts' | 'other'
  /** All that the model wrote. */
  text: string
  /** The calls that come of it, in order, with the names of offered tools. */
  calls: Array<{ name: string, input: Record<string, unknown> }>
  /** What the user sees of it as text, without blanks at both ends; not compared when absent. */
  shown?: string
  /** What of it is reasoning, without blanks at both ends; not compared when absent. */
  reasoning?: string
  /** The text looks like a call that cannot be read: it is not shown as the answer, and the model is asked once more. */
  isUnread?: true
}

/** The tools that the run of every case offers; all their parameters but those in `required` may be absent. */
export const offered = [
  { name: 'listDirectory', parameters: { path: 'string' }, required: [] },
  { name: 'readFile', parameters: { path: 'string', offset: 'number', limit: 'number' }, required: ['path'] },
  { name: 'writeFile', parameters: { path: 'string', content: 'string' }, required: ['path', 'content'] },
  { name: 'runCommand', parameters: { command: 'string' }, required: ['command'] },
  { name: 'fetchUrl', parameters: { url: 'string' }, required: ['url'] },
  { name: 'webSearch', parameters: { query: 'string', count: 'number' }, required: ['query'] }
] as const
