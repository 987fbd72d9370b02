// Loaded before a server whose port is fixed: it listens on a free port instead, and writes which one.
import { Server } from 'node:net'

const { listen } = Server.prototype
Server.prototype.listen = function (port, ...rest) {
  this.once('listening', () => console.log(`\nlistens on ${this.address().port}`))
  return listen.call(this, Number(port) > 0 && process.env.KEEP_PORT === undefined ? 0 : port, ...rest)
}
