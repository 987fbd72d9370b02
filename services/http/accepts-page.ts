/** Returns the quality of each media range of an Accept header, from 0 to 1 (RFC 9110, 12.5.1). A malformed quality counts as 1. */
function qualities (accept: string): Map<string, number> {
  return new Map(accept.split(',').map((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return [type, Number.isFinite(q) ? q : 1]
  }))
}

/** Whether the client is a browser that opens a page: it names HTML, and likes it better than JSON. */
export function acceptsPage (accept: string | undefined): boolean {
  const ranges = qualities(accept ?? '')
  const html = ranges.get('text/html') ?? 0
  const json = ranges.get('application/json') ?? ranges.get('application/*') ?? ranges.get('*/*') ?? 0
  return html > json
}
