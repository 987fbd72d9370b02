import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

interface Rule {
  /** The rule applies to requests whose request line matches, such as `GET /events HTTP/1.1`. */
  on: RegExp
  /** The connection is destroyed after the chunk that begins with this text was forwarded. */
  after: string
}

/** Forwards connections to a local port. Each rule cuts one connection, at the first text that matches the rule. */
export async function cuttingProxy (t: { teardown(handler: () => unknown): unknown }, port: number, rules: Rule[] = []) {
  const sockets = new Set<Socket>()
  const requests: string[] = []
  const lastIds: Array<string | undefined> = []
  const server = createServer((client) => {
    const service = connect(port, '127.0.0.1')
    let rule: Rule | undefined
    let seen = ''
    for (const socket of [client, service]) {
      sockets.add(socket)
      socket.on('error', () => {}).on('close', () => {
        sockets.delete(socket)
        client.destroy()
        service.destroy()
      })
    }
    client.on('data', (data) => {
      const [line] = String(data).split('\r\n', 1)
      if (/ HTTP\/1\.1$/.test(line)) {
        requests.push(line)
        lastIds.push(/^last-event-id: (.*)$/im.exec(String(data))?.[1])
        seen = ''
        rule = rules.find(({ on }) => on.test(line))
      }
      service.write(data)
    })
    service.on('data', (data) => {
      seen += data
      if (rule === undefined || !seen.includes(rule.after)) return void client.write(data)
      rules.splice(rules.indexOf(rule), 1)
      client.write(data, () => client.destroy())
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The request lines that were forwarded, without query and HTTP version. */
    requests: () => requests.map((line) => line.replace(/(?:\?\S*)? HTTP\/1\.1$/, '')),
    /** The header Last-Event-ID of each request. */
    lastIds: () => lastIds,
    /** Cuts all connections. */
    cut () {
      for (const socket of sockets) socket.destroy()
    }
  }
}
