import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'postject'
import { RUN_INPUT } from '../services/process/own-programs.ts'
import { bundleFirst, ROOT } from './bundle.ts'

/** Names that Node itself looks for; https://nodejs.org/api/single-executable-applications.html. */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const RESOURCE = 'NODE_SEA_BLOB'
const SEGMENT = 'NODE_SEA'

const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
const { execPath } = process
/** The Node for which an archive is made. It can differ from the Node that runs this script. */
export interface ForNode {
  platform: NodeJS.Platform
  arch: string
  /** The path of the Node executable. */
  node: string
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })

/**
 * Makes the executable of the archive in the folder `top`: Node with the launcher embedded, or, if that fails, a script with Node beside
 * it. Returns a description of the result. `scratch` is a folder for intermediate files. An executable for another system is not tested.
 */
export async function makeExecutable (top: string, scratch: string, target: ForNode): Promise<string> {
  const executable = join(top, target.platform === 'win32' ? 'local-agent.exe' : 'local-agent')
  try {
    await injectLauncher(executable, scratch, target)
    if (target.node !== execPath) return 'one executable, which was not started here'
    const answer = run(executable, '--version').trim()
    if (answer.split('+')[0] !== version) throw new Error(`it answers ${answer} to --version`)
    return 'one executable'
  } catch (error) {
    console.log(`The launcher could not be put into Node, so a script starts it: ${(error as Error).message.split('\n')[0]}`)
    rmSync(executable, { force: true })
    writeScript(top, target)
    return 'a script and Node'
  }
}

async function injectLauncher (executable: string, scratch: string, { platform, node }: ForNode) {
  const [main, config, output] = ['launcher.cjs', 'launcher.json', 'launcher.blob'].map((name) => join(scratch, name))
  await bundleFirst('bin/launcher.ts', main, {}, {
    format: 'cjs',
    target: 'node22',
    define: { RUN_INPUT: JSON.stringify(RUN_INPUT) }
  })
  writeFileSync(config, JSON.stringify({ main, output, disableExperimentalSEAWarning: true }))
  run(execPath, '--experimental-sea-config', config)
  copyFileSync(node, executable)
  chmodSync(executable, 0o755)
  strip(executable, platform)
  if (platform === 'darwin') run('codesign', '--remove-signature', executable)
  await inject(executable, RESOURCE, readFileSync(output), {
    sentinelFuse: FUSE,
    ...platform === 'darwin' ? { machoSegmentName: SEGMENT } : {}
  })
  if (platform === 'darwin') run('codesign', '--sign', '-', executable)
  for (const path of [main, config, output]) rmSync(path)
}

/** Removes debug symbols, a tenth of the file, if the tool for it is installed. The symbols that native modules need are kept. */
function strip (executable: string, platform: NodeJS.Platform) {
  if (platform === 'win32') return
  try {
    run('strip', ...platform === 'darwin' ? ['-x'] : [], executable)
  } catch (error) {
    console.log(`The symbols stay in the executable: ${(error as Error).message.split('\n')[0]}`)
  }
}

function writeScript (top: string, { platform, node: given }: ForNode) {
  const node = join(top, 'lib', platform === 'win32' ? 'node.exe' : 'node')
  copyFileSync(given, node)
  chmodSync(node, 0o755)
  strip(node, platform)
  if (platform === 'win32') return writeFileSync(join(top, 'local-agent.cmd'), '@"%~dp0lib\\node.exe" "%~dp0lib\\dist\\server.js" %*\r\n')
  const script = join(top, 'local-agent')
  writeFileSync(
    script,
    '#!/bin/sh\n' +
      'here=$(CDPATH= cd -- "$(dirname -- "$(readlink -f -- "$0" || echo "$0")")" && pwd) || exit\n' +
      'exec "$here/lib/node" "$here/lib/dist/server.js" "$@"\n',
    { mode: 0o755 }
  )
}
