import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** More bytes than a full sink keeps, with what a pipe or socket and its reader hold. */
export const BURST = 20_000

/**
 * A module to load before the service: SIGWINCH has the service's logger write a burst of numbered lines, then make the file
 * `mark`, and go on with 10,000 lines a second. `lasting` false: only the burst. `mark`.exit gets the code of process.exit.
 */
export function flood (mark: string, { lasting = true } = {}): string {
  const source = `
    import { subscribe } from 'node:diagnostics_channel'
    import { writeFileSync } from 'node:fs'
    process.on('exit', (code) => writeFileSync(${JSON.stringify(`${mark}.exit`)}, String(code)))
    let n = 0
    subscribe('fastify.initialization', ({ fastify }) => process.on('SIGWINCH', () => {
      const log = (lines) => { for (let i = 0; i < lines; i++) fastify.log.info({ n: ++n }, 'one line of many') }
      log(${BURST})
      writeFileSync(${JSON.stringify(mark)}, '')
      if (${lasting}) setInterval(log, 10, 100)
    }))`
  return `data:text/javascript,${encodeURIComponent(source).replaceAll("'", '%27')}`
}

/** Resolves once there is a file. */
export async function made (path: string) {
  while (!existsSync(path)) await wait(10)
}
