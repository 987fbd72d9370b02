import { Agent, get } from 'node:http'

/** Bytes of an answer. */
const LONGEST_ANSWER = 1024 * 1024

/**
 * Reads a JSON document from a server on this machine: never through a proxy, and without following redirections. Rejects for
 * an answer that is no JSON, is longer than 1 MiB or has another status than 200, and when the signal aborts.
 */
export function getLocalJson (url: string, signal: AbortSignal): Promise<any> {
  return new Promise((resolve, reject) => {
    // The global agent may be set up for a proxy by NODE_USE_ENV_PROXY; an agent of its own never is.
    const agent = new Agent({ keepAlive: false })
    const request = get(url, { agent, signal, headers: { accept: 'application/json' } }, (response) => {
      if (response.statusCode !== 200) {
        request.destroy(new Error(`status ${response.statusCode}`))
        return
      }
      const pieces: Buffer[] = []
      let bytes = 0
      response.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (bytes > LONGEST_ANSWER) request.destroy(new Error('the answer is too long'))
        else pieces.push(piece)
      })
      response.on('error', reject)
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(pieces).toString()))
        } catch (error) {
          reject(error)
        }
      })
    })
    request.on('error', reject)
  })
}
