import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const PAGE = new URL('../../docs/your-app.md', import.meta.url)
/** How long a file of the page may run, in milliseconds. */
const LONGEST = 60_000

interface Block {
  language: string
  text: string
}

/** Returns the code blocks of the page, in their order. */
function blocks (): Block[] {
  const page = readFileSync(PAGE, 'utf8')
  return [...page.matchAll(/^(`{3,})(\w+)\n([\s\S]*?)^\1$/gm)].map(([, , language, text]) => ({ language, text }))
}

/** Returns true if an output matches the text on the page, in which an ellipsis stands for any text. */
export function isShown (output: string, shown: string): boolean {
  const pattern = shown.trim().split('…').map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[\\s\\S]*?')
  return new RegExp(`^${pattern}$`).test(output.trim())
}

interface Step {
  command: string
  output: string
  /** The output on the page; undefined if the page shows none. */
  shown?: string
}

/**
 * Follows docs/your-app.md in `folder`: saves the files, runs the commands with `node`, and returns their outputs. `install` runs the
 * commands that install the package.
 */
export async function followPage (
  { folder, node, install }: { folder: string, node: string, install: (command: string) => void }
): Promise<{ steps: Step[], unused: string[] }> {
  const steps: Step[] = []
  const files = new Set<string>()
  const used = new Set<string>()
  let app: ChildProcess | undefined
  let appOutput = ''

  /** Resolves when the app has written the output that the page shows, after its output up to position `from`. */
  async function appShows (shown: string, from: number): Promise<string> {
    const signal = AbortSignal.timeout(LONGEST)
    // On a busy machine, the app may miss a health check of the service.
    const output = () => appOutput.slice(from).replaceAll(/^unhealthy\n/gm, '')
    while (!isShown(output(), shown)) {
      if (app?.exitCode !== null) throw new Error(`the app has ended: ${appOutput}`)
      await once(app!.stdout!, 'data', { signal }).catch(() => {
        throw new Error(`the app puts out: ${output()}; and not: ${shown}`)
      })
    }
    return output()
  }

  async function run (line: string, shown: string | undefined): Promise<string> {
    const [, file] = /^node (\w+\.mjs)$/.exec(line) ?? []
    const [, script] = /^node -e "(.*)"$/.exec(line) ?? []
    const env = { ...process.env, LOCAL_AGENT_HOME: undefined, LOCAL_AGENT_TOKEN: undefined, ANTHROPIC_API_KEY: undefined }
    if (line.startsWith('npm ')) install(line)
    else if (line === 'node --version') return (await execute(node, ['--version'])).stdout
    else if (line === 'mkdir work') mkdirSync(join(folder, 'work'))
    else if (file === 'service.mjs' && app === undefined) {
      app = spawn(node, [file], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
      app.stdout!.setEncoding('utf8').on('data', (text) => {
        appOutput += text
      })
      return appShows(shown!, 0)
    } else if (script !== undefined) {
      const from = appOutput.length
      await execute(node, ['-e', script], { cwd: folder, env })
      return appShows(shown!, from)
    } else if (file !== undefined) return (await execute(node, [file], { cwd: folder, env, timeout: LONGEST })).stdout
    else throw new Error(`the page has a command that nobody runs: ${line}`)
    return ''
  }

  try {
    const all = blocks()
    for (const [at, { language, text }] of all.entries()) {
      if (language === 'js') {
        const [, name] = /^\/\/ (\w+\.mjs)/.exec(text) ?? []
        if (name === undefined) throw new Error(`a block has no name: ${text}`)
        writeFileSync(join(folder, name), text)
        files.add(name)
        for (const [, imported] of text.matchAll(/ from '\.\/(\w+\.mjs)'/g)) used.add(imported)
      } else if (language === 'sh') {
        const next = all[at + 1]
        const shown = next?.language === 'text' ? next.text : undefined
        for (const command of text.trim().split('\n')) {
          used.add(command.slice('node '.length))
          steps.push({ command, output: await run(command, shown), shown })
        }
      }
    }
    return { steps, unused: [...files].filter((name) => !used.has(name)) }
  } finally {
    app?.kill('SIGTERM')
    if (app?.exitCode === null) await once(app, 'exit')
  }
}
