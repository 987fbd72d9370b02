// Instead of a process of its own, the service can run in a utilityProcess of Electron: no second executable is packed then.
// Such a process has no standard input. The secrets are in its environment, and it watches the main process by its id.
import { utilityProcess } from 'electron'
import type { Secrets, StartService } from 'local-agent-service/supervisor'

/**
 * Returns the `start` of `createSupervisor`, which keeps the port of the first start. `server` is the path of dist/server.js, outside of
 * an asar archive.
 */
export const inUtilityProcess = (
  server: string,
  home: string,
  { token, passphrase, gatewayKey }: Omit<Secrets, 'keys'>
): StartService => ({ port = 0 }) =>
  utilityProcess.fork(server, ['--port', String(port), '--parent-pid', String(process.pid)], {
    serviceName: 'Local agent',
    stdio: 'pipe',
    env: {
      ...process.env,
      LOCAL_AGENT_HOME: home,
      ...(token !== undefined && { LOCAL_AGENT_TOKEN: token }),
      ...(passphrase !== undefined && { LOCAL_AGENT_PASSPHRASE: passphrase }),
      ...(gatewayKey !== undefined && { AI_GATEWAY_API_KEY: gatewayKey })
    }
  })
