import { homedir } from 'node:os'
import { join } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { buildApp, type App } from './app.ts'
import { readOptions, Usage } from './services/options.ts'
import { VERSION } from './services/version.ts'

const PORT = 3001
/** The shell expects an end within 5 s. */
const CLOSE_MS = 4_500

/** Exit codes after which a restart cannot help: see the README. */
function exitCodeOf (error: unknown): number {
  const { exitCode, code } = error as { exitCode?: number, code?: string }
  return exitCode ?? (code === 'EADDRINUSE' ? 98 : 1)
}

async function main () {
  const options = readOptions(process.argv.slice(2), process.env)
  if (typeof options === 'string') return console.log(options)
  const app = await buildApp({ ...options, home: options.home ?? join(homedir(), '.local-agent'), cwd: process.cwd() })
  const grace = closeWithGrace({ delay: CLOSE_MS, logger: false, skip: ['SIGHUP'] }, async ({ err }) => {
    if (err) app.log.fatal({ err }, 'ending after an error that nobody caught')
    app.draining.value = true
    await app.close()
  })
  process.on('SIGHUP', () => { app.config.reload().catch((error) => app.log.error(error.message)) })
  try {
    await app.listen({ host: options.host, port: options.port ?? app.config.current.port ?? PORT })
  } catch (error) {
    grace.uninstall()
    await app.close()
    throw error
  }
  announce(app)
}

/** One line on stdout that the shell waits for. */
function announce (app: App) {
  const { address, port, family } = app.server.address() as { address: string, port: number, family: string }
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  process.stdout.write(JSON.stringify({ event: 'ready', url, port, pid: process.pid, version: VERSION }) + '\n')
}

main().catch((error) => {
  process.stderr.write(`${error instanceof Usage || error.exitCode || error.code === 'EADDRINUSE' ? error.message : error.stack}\n`)
  process.exitCode = exitCodeOf(error)
  // Whatever a failed start left open must not keep the process.
  setTimeout(() => process.exit(), 1_000).unref()
})
