import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import type { DeviceList } from '../../schemas/devices.ts'
import { createDeviceRequests, type DeviceRequests } from '../../services/reach/device-requests.ts'
import { createDevices, type Devices, type StoredDevices } from '../../services/reach/devices.ts'
import { takePairing } from '../../services/reach/pairing-file.ts'
import { RECORDS } from '../../services/store/keys.ts'
import type { Settings } from '../../settings.ts'
import { buildReachApp } from './reach-app.ts'
import { createReachPort } from './reach-port.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The paired devices, and the approvals as devices see them; for the routes of both ports. */
    reach: { devices: Devices, requests: DeviceRequests }
    reachPort: {
      /** Sets the routes of the port. Called before the port is opened. */
      useRoutes(routes: FastifyPluginAsync): void
      describe(): Promise<DeviceList>
      ports(): number[]
    }
  }
}

/** The port on which paired devices of the user decide approvals. It is open while config.json has the key `reach`. */
export default fp<Pick<Settings, 'home'>>(async (app, { home }) => {
  const { store, clock, config, inbox, copies, log } = app
  const devices = createDevices({
    record: store.record<StoredDevices>(RECORDS.devices, () => ({})),
    takePairing: (secret, now) => takePairing(home, secret, now),
    clock,
    log
  })
  const requests = createDeviceRequests({
    inbox: {
      list: async (query) => copies.shown(await inbox.list(query)),
      open: async (id) => copies.shown(await inbox.open(id)),
      preview: async (id, signal) => copies.shown(await inbox.preview(id, signal)),
      decide: inbox.decide
    },
    devices,
    say: app.tools.say
  })
  app.decorate('reach', { devices, requests })

  let routes: FastifyPluginAsync | undefined
  const port = createReachPort({ build: (settings) => buildReachApp(app, { ...settings, routes: routes! }), log })
  app.decorate('reachPort', {
    useRoutes: (own) => {
      routes = own
    },
    describe: async () => ({ devices: await devices.list(), ...await port.describe() }),
    ports: port.ports
  })
  app.addHook('onListen', () => {
    void port.follow(config.current.reach)
    config.watch(({ reach }) => {
      if (!app.draining.value) void port.follow(reach)
    })
  })
  app.addHook('preClose', () => port.follow(undefined))
}, { name: 'reach', dependencies: ['store', 'clock', 'config', 'approvals', 'copies', 'tools'] })
