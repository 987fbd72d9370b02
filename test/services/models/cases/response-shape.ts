/** An answer of a server of chat completions as it was sent, and what comes of it. */
export interface ResponseShape {
  name: string
  /** Where it was reported, or `own`. */
  source: string
  status: number
  contentType: string
  body: string
  expect: {
    /** `cut`: the answer broke off and is asked for again. */
    end: 'stop' | 'tool-calls' | 'length' | 'cut' | 'error'
    text?: string
    calls?: Array<{ name: string, input: unknown }>
    /** What the provider said. */
    words?: string
  }
}
