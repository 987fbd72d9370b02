// Runs a command in a box whose network leads to a proxy outside the box. It listens where the command expects an HTTP proxy, and forwards
// each connection to the proxy's Unix socket.
// Arguments: <socket> <port> <inherit|ignore: standard input of the program> <program> [<argument>…]
// This file also runs on its own, so it imports nothing of the project.
import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { constants } from 'node:os'

const [socket, port, stdin, program, ...args] = process.argv.slice(2)

const server = createServer((client) => {
  const proxy = connect(socket)
  for (const [one, other] of [[client, proxy], [proxy, client]]) one.on('error', () => {}).on('close', () => other.destroy())
  client.pipe(proxy).pipe(client)
})

// Signals are left to the command, and this process ends after the command.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

server.listen(Number(port), '127.0.0.1', () => {
  const { ELECTRON_RUN_AS_NODE, ...env } = process.env
  const child = spawn(program, args, { env, stdio: [stdin === 'inherit' ? stdin : 'ignore', 'inherit', 'inherit'] })
  child.on('error', () => process.exit(127))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal!]))
})
