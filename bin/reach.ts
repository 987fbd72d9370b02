import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { renderUnicodeCompact } from 'uqr'
import { createClient } from '../client/create-client.ts'
import { AgentError } from '../client/errors.ts'
import { type Device, listDevices, reloadConfig, removeDevice } from '../client/generated/index.ts'
import { findService } from '../client/node.ts'
import { readConfigFile, writeConfigFile } from '../services/config/config-file.ts'
import { systemClock } from '../services/lib/clock.ts'
import { homeFolder } from '../services/lib/home-folder.ts'
import { isObject } from '../services/lib/json.ts'
import { explainStart } from '../services/lib/start-error.ts'
import { Usage } from '../services/lib/usage-error.ts'
import { createStandardOutput } from '../services/log/sink.ts'
import { offerPairing, PAIRING_MS } from '../services/reach/pairing-file.ts'

// The command `local-agent reach`. It opens the port for devices of the service that uses this data folder, and shows a code with which a
// device pairs. `list` shows the devices, `revoke` removes one, and `off` closes the port.

const HELP = `  local-agent reach [--address <https://…>] [--port <n>] [--host <addr>]
                              opens the port for devices and shows a code that pairs one, within ten minutes
  local-agent reach list      lists the paired devices
  local-agent reach revoke <device>
                              ends the key of a device, by its name or id
  local-agent reach off       closes the port; the devices stay paired`

/** How long the exit waits for the last lines of output, in milliseconds. */
const FLUSH_MS = 2_000

const output = createStandardOutput({ clock: systemClock })
output.takeOver()
const print = (text: string) => output.stdout.write(`${text}\n`)

const env = process.env
const home = homeFolder(env.LOCAL_AGENT_HOME || undefined)

/**
 * Returns a client of the service that uses this data folder. LOCAL_AGENT_URL is ignored, because the pairing code lies in the data folder.
 */
function serviceHere () {
  const { url, token } = findService({ LOCAL_AGENT_HOME: home, LOCAL_AGENT_TOKEN: env.LOCAL_AGENT_TOKEN })
  return createClient({ baseUrl: url, auth: token })
}

interface Settings {
  address?: string
  host?: string
  port?: number
}

/**
 * Changes the key `reach` of config.json and has the service read it; `undefined` removes the key. Restores the file if the service refuses
 * the change.
 */
async function changeConfig (change: (reach: Settings | undefined) => Settings | undefined): Promise<void> {
  const client = serviceHere()
  // Fails here, before anything is written, if the service does not answer.
  await listDevices({ client, throwOnError: true })
  const file = join(home, 'config.json')
  const before = await readConfigFile(file)
  const { reach, ...others } = before
  const next = change(isObject(reach) ? reach : undefined)
  await writeConfigFile(file, next === undefined ? others : { ...before, reach: next })
  try {
    await reloadConfig({ client, throwOnError: true })
  } catch (error) {
    await writeConfigFile(file, before)
    throw error
  }
}

async function turnOn (wanted: Settings): Promise<void> {
  await changeConfig((reach) => ({ ...reach, ...wanted }))
  const { data: { url, address, problem } } = await listDevices({ client: serviceHere(), throwOnError: true })
  if (url === undefined) throw new Error(problem ?? 'The service did not open the port for devices: see its log.')
  const secret = randomBytes(16).toString('base64url')
  await offerPairing(home, secret, Date.now())
  const link = `${address ?? url}/#pair=${secret}`
  print(code(link))
  print(link)
  print(`\nScan it with the device that is to decide approvals. It pairs one device, within ${PAIRING_MS / 60_000} minutes.`)
  if (address === undefined) {
    print(`Only this computer reaches ${url}. For a phone, put HTTPS in front of it and run this command with --address https://…;\n` +
      'docs/reach.md says how.')
  }
}

/** Returns a QR code as text, with two rows of modules per line. With colours the code is dark on light, which scanners read best. */
function code (text: string): string {
  const lines = renderUnicodeCompact(text, { border: 2 }).split('\n')
  const isColoured = process.stdout.isTTY && !env.NO_COLOR
  return lines.map((line) => isColoured ? `\x1b[40;97m${line}\x1b[0m` : line).join('\n')
}

const day = (time: number) => new Date(time).toISOString().slice(0, 10)

async function list (): Promise<void> {
  const { data: { devices, url, address, problem } } = await listDevices({ client: serviceHere(), throwOnError: true })
  print(url === undefined ? problem ?? 'The port for devices is closed: local-agent reach opens it.' : `Devices reach ${address ?? url}.`)
  for (const { deviceId, name, createdAt, lastUsedAt, lapsesAt } of devices) {
    print(`${deviceId}  ${name}  paired ${day(createdAt)}, last used ${day(lastUsedAt)}, lapses ${day(lapsesAt)}`)
  }
  if (devices.length === 0) print('No device is paired.')
}

async function revoke (wanted: string): Promise<void> {
  const client = serviceHere()
  const { data: { devices } } = await listDevices({ client, throwOnError: true })
  const { deviceId, name } = findDevice(devices, wanted)
  await removeDevice({ client, path: { id: deviceId }, throwOnError: true })
  print(`${name} is no longer paired.`)
}

function findDevice (devices: Device[], wanted: string): Device {
  const found = devices.filter(({ deviceId, name }) => deviceId === wanted || name === wanted)
  if (found.length === 1) return found[0]
  throw new Usage(found.length > 1
    ? `${found.length} devices are called "${wanted}"; give the id that local-agent reach list shows.`
    : `No device is called "${wanted}". local-agent reach list shows them.`)
}

function readArguments () {
  try {
    return parseArgs({
      args: process.argv.slice(3),
      allowPositionals: true,
      options: { address: { type: 'string' }, host: { type: 'string' }, port: { type: 'string' } }
    })
  } catch (error) {
    throw new Usage(`${(error as Error).message}\n\n${HELP}`)
  }
}

async function run (): Promise<void> {
  const { values: { port, ...values }, positionals: [command, ...rest] } = readArguments()
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) {
    throw new Usage(`--port must be a port number from 0 to 65535, not "${port}".`)
  }
  const settings = { ...values, ...port !== undefined && { port: Number(port) } }
  const isPlain = Object.keys(settings).length === 0
  if (command === undefined) return turnOn(settings)
  if (command === 'list' && rest.length === 0 && isPlain) return list()
  if (command === 'revoke' && rest.length === 1 && isPlain) return revoke(rest[0])
  if (command === 'off' && rest.length === 0 && isPlain) {
    await changeConfig(() => undefined)
    return void print('The port for devices is closed. The devices stay paired.')
  }
  throw new Usage(HELP)
}

try {
  await run()
} catch (error) {
  const { message, exitCode } = error instanceof AgentError
    ? { message: withToken(error), exitCode: 69 }
    : error instanceof Error && !('exitCode' in error) && !('code' in error) ? { message: error.message, exitCode: 1 } : explainStart(error)
  output.stderr.write(`${message}\n`)
  process.exitCode = exitCode
}
await output.flush(FLUSH_MS)
process.exit()

function withToken ({ message, code }: AgentError): string {
  return code === 'ERR_UNAUTHORIZED' ? 'The service has a token: set LOCAL_AGENT_TOKEN for this command, too.' : message
}
