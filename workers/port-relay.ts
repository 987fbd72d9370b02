// Forwards connections from outside into the network of the box in which this program runs. It listens on a Unix socket that is reachable
// outside, and forwards each connection to the port that the connection's first line names.
// Arguments: <socket>. Writes a line when it listens.
// This file also runs on its own, so it imports nothing of the project.
import { connect, createServer, type Socket } from 'node:net'

/** The time in which a connection must name its port, in milliseconds. */
const NAMING_MS = 10_000
/** The length of the first line: five digits of a port, and the line feed. */
const LONGEST_LINE = 6

const server = createServer({ pauseOnConnect: false }, (client) => {
  client.on('error', () => client.destroy()).setTimeout(NAMING_MS, () => client.destroy())
  let line = Buffer.alloc(0)
  client.on('data', function read (chunk: Buffer) {
    line = Buffer.concat([line, chunk])
    const end = line.indexOf(10)
    if (end < 0 && line.length < LONGEST_LINE) return
    client.off('data', read).pause().setTimeout(0)
    if (end < 0) client.destroy()
    else lead(client, Number(line.subarray(0, end).toString()), line.subarray(end + 1))
  })
})

/** Connects the client to a port. Tries both addresses, because a server on "localhost" might listen on only one of them. */
function lead (client: Socket, port: number, first: Buffer, hosts = ['127.0.0.1', '::1']): void {
  const [host, ...others] = hosts
  const target = connect({ host, port, allowHalfOpen: true })
  target.once('error', () => others.length > 0 ? lead(client, port, first, others) : client.destroy())
  target.once('connect', () => {
    target.removeAllListeners('error').on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => target.destroy())
    if (first.length > 0) target.write(first)
    client.pipe(target).pipe(client)
  })
}

server.listen(process.argv[2], () => process.stdout.write('ready\n'))
